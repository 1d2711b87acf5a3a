// unit.h: physical units as text: "mm", "kN/m", "kg m^2", "rpm".
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { CAROM_KG, CAROM_M, CAROM_S, CAROM_RAD, CAROM_A, CAROM_DIMENSIONS };

/// A number in this unit times up/down is one in SI; both are mostly whole, so that 5 mm is the double nearest to
/// 0.005.
typedef struct carom_unit {
    double up, down;
    double power[CAROM_DIMENSIONS]; // of kg, m, s, rad, A; of a contact law any: N/m^1.5
} carom_unit;

/// False: this is no unit, or one that carom does not know.
bool carom_unit_read(const char *text, size_t length, carom_unit *u);

/// Does the text begin with the symbol of one, "mm + y"?
bool carom_unit_starts(const char *text, size_t length);

/// A text that is a number and a unit, "2 kg": the number in SI.  CAROM_QUANTITY_WRONG: a number and something else,
/// which starts at *at.
typedef enum carom_quantity { CAROM_QUANTITY_NONE, CAROM_QUANTITY_READ, CAROM_QUANTITY_WRONG } carom_quantity;
carom_quantity carom_quantity_read(const char *text, size_t length, double *x, carom_unit *u, size_t *at);

/// The same powers, rounding forgiven?
bool carom_unit_same(const carom_unit *a, const carom_unit *b);
/// May a quantity of unit a stand where b is wanted?  Torques may be given with or without rad; angles and their rates
/// not.
bool carom_unit_fits(const carom_unit *a, const carom_unit *b);
/// Its dimension in SI: "kg m^2/s^2"; for FMI "kg.m2/s2".  Dimensionless: "1".
void carom_unit_write(const carom_unit *u, bool fmi, char *text, size_t size);
/// The same for labels, by its usual name where there is one: "N", "J", "N s"; for FMI "N.s".
void carom_unit_label(const carom_unit *u, bool fmi, char *text, size_t size);
/// What it is the unit of, for messages: "a mass", "a length"; NULL: no word.
const char *carom_unit_kind(const carom_unit *u);
/// What a text that is no unit may mean: "Nm": "N m"; "sec": "s".  false: nothing is near.
bool carom_unit_nearest(const char *text, size_t length, char *near, size_t size);
/// Units that messages name.
extern const char carom_unit_examples[];
