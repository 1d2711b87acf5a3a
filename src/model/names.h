// names.h: the names of a model and what stands behind them.
#pragma once
#include "expr/expr.h"

typedef enum name_kind { // bits, so that a scope is a set of kinds
    NAME_PARAMETER = 1,
    NAME_COORDINATE = 2,
    NAME_LET = 4,
    NAME_HELPER = 8,    // own names of `exact`
    NAME_QUANTITY = 16, // CONTACT.gap, CONTACT.slip, CONSTRAINT.gap
    NAME_OUTPUT = 32,
    NAME_VELOCITY = 2048, // vx ... wz of bodies
    NAME_STATE = 1048576, // a first-order state
    NAME_POINT = 4096,  // MEMBER.POINT.u, ... of a flexible member
    NAME_TABLE = 262144, // a function of one argument
    NAME_INPUT = 524288, // a signal that is held: an input, a state or output of a controller
    NAME_MEMBER = 16384 // a flexible member itself: no value, but the name is taken
} name_kind;

typedef struct name {
    const char *text;
    name_kind kind;
    int index;       // within its kind
    int line;        // where it is defined
    carom_node node; // CAROM_NONE until defined
    carom_node rate; // NAME', CAROM_NONE until asked for
    bool used;
    bool angle;      // of a spatial joint (index), made when first asked for
} name;

typedef struct names {
    name *at; // in order of definition
    int count, capacity;
    int *slot; // hash table: index + 1, 0 free
    int slots;
} names;

name *carom_names_find(const names *t, const char *text, size_t length); // NULL: none
/// A new name (text is kept, not copied); NULL: no memory.  It must not be there yet.
name *carom_names_add(names *t, const char *text, name_kind kind, int index, int line);
void carom_names_free(names *t);

/// Letters, digits, _ and dots inside; starts with a letter or _.
bool carom_name_valid(const char *text);
/// Functions of the expression language, and t and pi: nothing else may be called so.  i-th, NULL after the last.
const char *carom_name_reserved(int i);
/// "a parameter", "a coordinate", ...
const char *carom_name_kind(name_kind kind);
