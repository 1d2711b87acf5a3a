// native.h: instructions of a tape as text, for those who write them: C functions (native.c) and lanes (lanes.c).
#pragma once
#include "expr/expr.h"
#include "expr/tape.h"

bool carom_native_of_pairs(int op); // the nearest place of a ring
/// Slots that an instruction reads (of the arguments that it does not use, none) and writes; how many there are.
int carom_native_reads(const carom_instruction *i, int slot[6]);
int carom_native_writes(const carom_instruction *i, int slot[2]);
/// Its value as C: A to D stand for the arguments.
const char *carom_native_form(int op);
/// Number in this slot; NULL: it holds none.
const double *carom_native_number_in(const carom_tape *tape, int slot);
/// A number, exactly, whatever the locale: sign, 0x1.HHHp+-N.  Negative ones in parentheses.
enum { CAROM_NUMBER_TEXT = 40 };
void carom_native_number(double x, char text[CAROM_NUMBER_TEXT]);

// A line of at most 511 characters, by the put(w, text) of the file that uses this.
#define PUT(w, ...)                                                                                \
    do {                                                                                           \
        char line_[512];                                                                           \
        snprintf(line_, sizeof line_, __VA_ARGS__);                                                \
        put(w, line_);                                                                             \
    } while (0)
