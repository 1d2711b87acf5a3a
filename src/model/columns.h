// columns.h (private): columns of contacts and joints, one table for results and FMUs: name, role, and where the value
// is.
#pragma once
#include "base/column.h"
#include "model/groups.h"

/// What stands in a column.
typedef enum column_quantity {
    CAROM_OF_TIME,
    CAROM_OF_POSITION,
    CAROM_OF_VELOCITY,
    CAROM_OF_ENERGY,
    CAROM_OF_GAP,      // of a contact, by id
    CAROM_OF_GAP_RATE, // by recorded direction: of gaps and slips
    CAROM_OF_FORCE,
    CAROM_OF_IMPULSE,
    CAROM_OF_JOINT_GAP,
    CAROM_OF_JOINT_FORCE,
    CAROM_OF_JOINT_IMPULSE,
    CAROM_OF_NU,
    CAROM_OF_JOINT_NU,
    CAROM_OF_GROUP_GAP, // of groups: groups.h
    CAROM_OF_GROUP_CLOSED,
    CAROM_OF_GROUP_RATE,
    CAROM_OF_GROUP_FORCE,
    CAROM_OF_GROUP_IMPULSE,
    CAROM_OF_GROUP_NU,
    CAROM_OF_EXTRA,
    CAROM_OF_OUTPUT,
    CAROM_QUANTITIES
} column_quantity;

/// Entry `at` of a quantity, in the units of the model, times scale; of CAROM_OF_GAP_RATE over it.  parts: of contacts
/// from id `first` on, which are one to readers of the column; `at` counts from the first direction of each then.
typedef struct table_column {
    char *name;
    carom_role role;
    column_quantity of;
    int at, first, parts;
    double scale;
    bool numbered; // of a contact that is not shown by default
    int pair;      // of two shapes: 1 + their group; 0: of something else
} table_column;

typedef struct column_table {
    table_column *list;
    int n;
    const carom_model *model;      // NULL: none
    const carom_system *sys;
    const char *(*name)(const void *user, int id); // of a constraint
    const void *user;
    const contact_groups *groups;    // NULL: none
    bool extended;                 // the system has more than the model's, or there is none: all contacts have columns
    bool numbered;                 // contacts that are not shown by default, too
} column_table;

/// One more column, NAME or NAME.PART, PART with a number where there are several (0: none).  False: no memory.
bool carom_columns_add(column_table *c, column_quantity of, int at, const char *name, carom_role role, int number);
/// Columns of contacts and groups, then of joints; positions: of multipliers on position level, too.
bool carom_columns_reactions(column_table *c, bool positions);
void carom_columns_free(column_table *c);

/// Its value; of[]: the quantities, gap: of all contacts, dir: their first directions.
double carom_column_value(const table_column *c, const double *const *of, const double *gap, const int *dir);
