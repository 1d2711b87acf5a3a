// test_arena.c: counting and carving describe the same memory.
#include <carom/arena.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void describe(carom_arena *mem, void *place[4]) {
    place[0] = carom_carve(mem, 3);
    place[1] = carom_carve_ints(mem, 17);
    place[2] = carom_carve_bytes(mem, 0);
    place[3] = carom_carve_bytes(mem, 129);
}

static void counting_gives_no_memory_but_its_size(void **state) {
    (void)state;
    carom_arena mem = {0};
    void *place[4];
    describe(&mem, place);
    for (int i = 0; i < 4; ++i) assert_null(place[i]);
    assert_int_equal(mem.used, 64 + 128 + 0 + 192); // rounded up to lines of 64 bytes
}

static void carving_gives_aligned_pieces_that_do_not_overlap(void **state) {
    (void)state;
    carom_arena count = {0};
    void *place[4];
    describe(&count, place);
    unsigned char *block = aligned_alloc(64, count.used);
    assert_non_null(block);
    memset(block, 0, count.used);
    carom_arena mem = {block, 0, count.used};
    describe(&mem, place);
    assert_int_equal(mem.used, mem.size);
    static const size_t bytes[4] = {24, 68, 0, 129};
    for (int i = 0; i < 4; ++i) {
        assert_int_equal((uintptr_t)place[i] % 64, 0);
        if (bytes[i] > 0) memset(place[i], i + 1, bytes[i]);
    }
    for (int i = 0; i < 4; ++i)
        for (size_t k = 0; k < bytes[i]; ++k) assert_int_equal(((unsigned char *)place[i])[k], i + 1);
    free(block);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counting_gives_no_memory_but_its_size),
        cmocka_unit_test(carving_gives_aligned_pieces_that_do_not_overlap),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
