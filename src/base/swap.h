// swap.h: two objects exchange what they hold.
#pragma once

#define CAROM_SWAP(type, A, B)                                                                                         \
    do {                                                                                                               \
        type *const swap_A = (A), *const swap_B = (B);                                                                 \
        const type swap_C = *swap_A;                                                                                   \
        *swap_A = *swap_B, *swap_B = swap_C;                                                                           \
    } while (0)
