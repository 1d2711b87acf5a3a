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
    place[0] = carom_allocate(mem, 3);
    place[1] = carom_allocate_ints(mem, 17);
    place[2] = carom_allocate_bytes(mem, 0);
    place[3] = carom_allocate_bytes(mem, 129);
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
    carom_arena mem = {.base = block, .size = count.used};
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

static int released[3], count_released;
static void release(void *object) { released[count_released++] = *(int *)object; }

static void hold_three(carom_arena *mem, int numbers[3]) {
    for (int i = 0; i < 3; ++i)
        carom_arena_hold(mem, mem->base && i == 1 && numbers[1] == 0 ? NULL : numbers + i, release);
}

static void what_is_held_is_given_back_newest_first(void **state) {
    (void)state;
    for (int missing = 0; missing < 2; ++missing) {
        int numbers[3] = {1, missing ? 0 : 2, 3};
        carom_arena count = {0};
        hold_three(&count, numbers);
        carom_arena_release(&count); // counting held nothing
        assert_int_equal(count_released, 0);
        carom_arena mem = {.base = aligned_alloc(64, count.used), .size = count.used};
        assert_non_null(mem.base);
        hold_three(&mem, numbers);
        assert_int_equal(mem.failed, missing);
        carom_arena_release(&mem);
        assert_int_equal(count_released, 3 - missing);
        assert_int_equal(released[0], 3);
        assert_int_equal(released[count_released - 1], 1);
        count_released = 0;
        carom_arena_release(&mem);
        assert_int_equal(count_released, 0);
        free(mem.base);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counting_gives_no_memory_but_its_size),
        cmocka_unit_test(carving_gives_aligned_pieces_that_do_not_overlap),
        cmocka_unit_test(what_is_held_is_given_back_newest_first),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
