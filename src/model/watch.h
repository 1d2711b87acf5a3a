// watch.h (private): expressions that min(x), max(x), mean(x), rms(x) and integral(x) run over (watched), and observed
// expressions that use them.
#pragma once
#include "model/answers.h"
#include <carom/model.h>

enum { WATCH_LOW, WATCH_HIGH, WATCH_MEAN, WATCH_RMS, WATCH_INTEGRAL, WATCH_COUNT }; // of a watched expression

/// WATCH_COUNT values.
void carom_average_values(const carom_average *a, double *value);
/// Which of them enter an observed expression, of watched expression k: bit WATCH_... is set.
unsigned carom_model_watch_uses(const carom_model *m, int k, int observed);
/// Is watched expression k a number?
bool carom_model_watch_number(const carom_model *m, int k, double *value);
/// A figure of the ledger in an observed expression; NULL: none.
const char *carom_model_ledger_use(const carom_model *m, int observed);
