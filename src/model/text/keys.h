// keys.h (private): every key of a model file in words, for `carom help model` and the reference.
//
// The readers keep their own lists of what they accept; test/test_keys.c asks them and holds this table to their answer.
#pragma once

typedef struct key_word { const char *name, *fallback, *about; } key_word; // fallback: default, "needed", or ""; the list ends at a NULL name

typedef struct key_group {
    const char *place; // "contacts.NAME": where in the file; "": at the top
    const char *about;
    const key_word *words;
    const key_word *beside; // keys that are known there as well; NULL: none
} key_group;

extern const key_group carom_key_groups[];     // ends at a NULL place
extern const key_word carom_key_joint_types[]; // values of `type` of a joint
extern const key_word carom_key_functions[];   // of expressions; fallback: the arguments
