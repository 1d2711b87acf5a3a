// mech.h: a mechanism as plain data.
#pragma once
#include <carom/status.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum carom_datum_kind { CAROM_ABSENT, CAROM_NUMBER, CAROM_TEXT, CAROM_LIST, CAROM_MAP } carom_datum_kind;

/// What is given for one key: a number, a text (an expression, a name, a word), a list, or named data.  It knows its place, for messages.
typedef struct carom_datum {
    carom_datum_kind kind;
    int count;                // items of a list or map
    double number;
    const char *text;         // ends in NUL and holds none; "" where there is none
    size_t length;            // of the text
    struct carom_datum *item; // count of them, one after the other
    const struct carom_datum *key; // its name in a map, a text; NULL: in a list
    int line, column;         // where it starts in the file, from 1 (after an opening quote); 0: not from a file
    const char *of;           // not from a file: who gave it, "joints.main" or "--set a=3"
    bool flow;                // stands inside { } or [ ], or is such a map or list
    bool bare;                // a text without quotes
    bool aligned;             // byte k of the text stands k characters after its start in the file
} carom_datum;
