// dormand.h: the coefficients of Dormand and Prince, J. Comput. Appl. Math. 6 (1980), order 5 in seven stages.
#pragma once

// Rows 1 to 6 of the strictly lower triangle.  The last row and the weights are the same: the last stage is at the end
// of the step.
#define CAROM_DORMAND_A                                                                                                \
    1. / 5,                                                                                                            \
    3. / 40, 9. / 40,                                                                                                  \
    44. / 45, -56. / 15, 32. / 9,                                                                                      \
    19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729,                                                         \
    9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656,                                                \
    35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84
#define CAROM_DORMAND_B 35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84, 0
