// value.h: what an operation gives for numbers.  Folding and the tape both compute with this.
//
// NaN goes through min, max and sign; fmin and fmax would drop it.
#pragma once
#include <carom/expr.h>
#include <math.h>

static inline double carom_value_sign(double a) { return a > 0 ? 1.0 : a < 0 ? -1.0 : a; }

static inline double carom_value_min(double a, double b) { return a < b || a != a ? a : b; }

static inline double carom_value_max(double a, double b) { return a > b || a != a ? a : b; }

static inline double carom_value(carom_op op, double a, double b, double c) {
    switch (op) {
    case CAROM_OP_ADD: return a + b;
    case CAROM_OP_SUB: return a - b;
    case CAROM_OP_MUL: return a * b;
    case CAROM_OP_DIV: return a / b;
    case CAROM_OP_POW: return pow(a, b);
    case CAROM_OP_NEG: return -a;
    case CAROM_OP_LT: return a < b;
    case CAROM_OP_LE: return a <= b;
    case CAROM_OP_GT: return a > b;
    case CAROM_OP_GE: return a >= b;
    case CAROM_OP_EQ: return a == b;
    case CAROM_OP_NE: return a != b;
    case CAROM_OP_IF: return a != 0 ? b : c;
    case CAROM_OP_SIN: return sin(a);
    case CAROM_OP_COS: return cos(a);
    case CAROM_OP_TAN: return tan(a);
    case CAROM_OP_ASIN: return asin(a);
    case CAROM_OP_ACOS: return acos(a);
    case CAROM_OP_ATAN: return atan(a);
    case CAROM_OP_ATAN2: return atan2(a, b);
    case CAROM_OP_SINH: return sinh(a);
    case CAROM_OP_COSH: return cosh(a);
    case CAROM_OP_TANH: return tanh(a);
    case CAROM_OP_EXP: return exp(a);
    case CAROM_OP_LOG: return log(a);
    case CAROM_OP_SQRT: return sqrt(a);
    case CAROM_OP_ABS: return fabs(a);
    case CAROM_OP_SIGN: return carom_value_sign(a);
    case CAROM_OP_MIN: return carom_value_min(a, b);
    case CAROM_OP_MAX: return carom_value_max(a, b);
    case CAROM_OP_HYPOT: return hypot(a, b);
    case CAROM_OP_FLOOR: return floor(a);
    case CAROM_OP_NUMBER: case CAROM_OP_INPUT: case CAROM_OP_SYMBOL: case CAROM_OP_COUNT: break;
    case CAROM_OP_PAIR: case CAROM_OP_LINE_1: case CAROM_OP_LINE_2: case CAROM_OP_RING_1: case CAROM_OP_RING_2: case CAROM_OP_CURVE: break; // not of numbers
    }
    return NAN;
}
