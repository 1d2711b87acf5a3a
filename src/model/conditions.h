// conditions.h (private): contacts and bodies that are there only while an expression is positive.
#pragma once
#include "model/model.h"

enum { CAROM_NEEDS = 3 }; // conditions of a contact at most: its own, and those of two bodies

/// One that the model file states.
typedef struct condition {
    const carom_datum *text;
    const char *name;   // whose it is
    int body;           // which; -1: none
    int gate;           // the contact that may close only while it holds; -1: none
} condition;

/// What the system of a model with conditions is made of.
typedef struct carom_conditional {
    carom_system plain;       // as if all were there
    carom_extensions plain_extensions;
    int (*needs)[CAROM_NEEDS]; // nc of contacts that are always in the system: conditions, from 1; 0: none
    int *gate_of;
    double gap;               // of contacts that are not there
} carom_conditional;

/// Is condition i (from 0) not met, as this work block knows it?
static inline const bool *carom_conditions_off(const carom_model *m, const void *work) {
    return (const bool *)((const unsigned char *)work + m->at.off);
}
/// The system as it is with conditions; nothing where there are none.
carom_status carom_conditions_system(carom_model *m, carom_error *err);
/// The work block of a model, with the conditions of its start.
void carom_conditions_start(const carom_model *m, void *work);
/// Gaps of contacts that are not there become positive.
void carom_conditions_hide(const carom_model *m, const void *work, double *g);
