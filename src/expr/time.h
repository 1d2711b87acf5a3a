// time.h: how time enters expressions, decided by the graph.
#pragma once
#include "expr/expr.h"

/// Time in expressions.  Where every occurrence is the sine or cosine of a t + (what time does not enter), the n
/// different |a| are its rates.
enum { CAROM_RATES = 16 };
typedef struct carom_time_use {
    int first;     // of the expressions, that time enters; -1: none
    bool harmonic; // the rates are all there is
    int n;
    double rate[CAROM_RATES];
} carom_time_use;

/// Of n nodes x, after folding with np parameters as they are; changes: np, those that may change.  Products with a
/// factor that stays 0, and branches of if() that are never taken, are left out.  CAROM_NO_MEMORY: not decided.
carom_status carom_graph_time(const carom_graph *g, int n, const carom_node *x, const double *parameter,
                              const bool *changes, int np, carom_time_use *use);
/// The shortest period that all rates share: multiples of it up to 64 of each.  0: there is none.
double carom_time_period(const carom_time_use *use);
