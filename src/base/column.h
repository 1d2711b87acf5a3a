// column.h: columns of results that belong to contacts, joints and constraints: their names, units and roles, in one
// table.
//
// A column is NAME.PART; PART has a number where there are several: of a joint's constraints, or of two tangents.
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef enum carom_role {
    CAROM_ROLE_GAP,              // of the contact; the least of an entry of pairs; what a joint leaves
    CAROM_ROLE_GAP_RATE,
    CAROM_ROLE_FORCE,            // normal; the sum of an entry of pairs
    CAROM_ROLE_IMPULSE,
    CAROM_ROLE_SLIP_RATE,        // tangential
    CAROM_ROLE_FRICTION,
    CAROM_ROLE_FRICTION_IMPULSE,
    CAROM_ROLE_NU,               // multiplier of the position level
    CAROM_ROLE_CLOSED,           // number of closed contacts of an entry of pairs
    CAROM_ROLES,
    CAROM_ROLE_OTHER = CAROM_ROLES // a coordinate, a velocity, an energy, an output
} carom_role;

/// PART is `part`, a number, `end`.  unit: of contacts of shapes, "": none; tangential: one for every tangent.
typedef struct carom_role_part { const char *part, *end, *unit, *name; bool tangential; } carom_role_part;
extern const carom_role_part carom_role_parts[CAROM_ROLES];

/// The role of a column by its name.
carom_role carom_column_role(const char *name);
/// Its name, as it is stored with results.
const char *carom_role_name(carom_role role);
/// Does a pattern match a name?  * stands for any text, ? for any character.
bool carom_column_matches(const char *pattern, const char *name);
/// PART with a number; 0: none.
void carom_role_text(carom_role role, int number, char *text, size_t size);
