// value.h: what an operation gives for numbers.  Folding, the tape and the texts of compiled models all have it from
// one table.
//
// NaN goes through min, max and sign; fmin and fmax would drop it.
#pragma once
#include "expr/expr.h"
#include <math.h>

// X(operation, its value as C, the same for many systems at once where that is another text), of the arguments A, B and
// C.
#define CAROM_PLAIN(X)                                                                             \
    X(ADD, A + B, NULL) X(SUB, A - B, NULL) X(MUL, A * B, NULL) X(DIV, A / B, NULL) X(NEG, -A, NULL) \
    X(POW, pow(A, B), "T(pow)(A, B)")                                                              \
    X(LT, (double)(A < B), "T(lt)(A, B)") X(LE, (double)(A <= B), "T(le)(A, B)")                   \
    X(GT, (double)(A > B), "T(lt)(B, A)") X(GE, (double)(A >= B), "T(le)(B, A)")                   \
    X(EQ, (double)(A == B), "T(eq)(A, B)") X(NE, (double)(A != B), "T(ne)(A, B)")                  \
    X(IF, A != 0 ? B : C, "T(if)(A, B, C)")                                                        \
    X(SIN, sin(A), "T(sin)(A)") X(COS, cos(A), "T(cos)(A)") X(TAN, tan(A), "T(tan)(A)")            \
    X(ASIN, asin(A), "T(asin)(A)") X(ACOS, acos(A), "T(acos)(A)") X(ATAN, atan(A), "T(atan)(A)")   \
    X(ATAN2, atan2(A, B), "T(atan2)(A, B)") X(HYPOT, hypot(A, B), "T(hypot)(A, B)")                \
    X(SINH, sinh(A), "T(sinh)(A)") X(COSH, cosh(A), "T(cosh)(A)") X(TANH, tanh(A), "T(tanh)(A)")   \
    X(EXP, exp(A), "T(exp)(A)") X(LOG, log(A), "T(log)(A)") X(SQRT, sqrt(A), "T(sqrt)(A)")         \
    X(ABS, fabs(A), "T(abs)(A)") X(FLOOR, floor(A), "T(floor)(A)")                                 \
    X(SIGN, A > 0 ? 1.0 : A < 0 ? -1.0 : A, "T(sign)(A)")                                          \
    X(MIN, A < B || A != A ? A : B, "T(min)(A, B)") X(MAX, A > B || A != A ? A : B, "T(max)(A, B)")

static inline double carom_value(carom_op op, double A, double B, double C) {
    switch (op) {
#define X(name, value, lanes) case CAROM_OP_##name: return value;
    CAROM_PLAIN(X)
#undef X
    case CAROM_OP_NUMBER: case CAROM_OP_INPUT: case CAROM_OP_SYMBOL: case CAROM_OP_COUNT: break;
    case CAROM_OP_PAIR:
    case CAROM_OP_LINE_1:
    case CAROM_OP_LINE_2:
    case CAROM_OP_RING_1:
    case CAROM_OP_RING_2:
    case CAROM_OP_CURVE: break; // not of numbers
    }
    return NAN;
}
