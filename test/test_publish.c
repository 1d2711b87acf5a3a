// test_publish.c: how a result gets its name: what was there before, who else writes it, links and memory that there
// are not.
#define _GNU_SOURCE // mkdtemp, F_OFD_SETLK
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
// cmocka wants the three above first
#include "base/text.h"
#include "io/publish.h"
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int links, refused; // errno of link(); which of the next requests for memory fails: 1 is the first

int __real_link(const char *from, const char *to);
int __wrap_link(const char *from, const char *to);
int __wrap_link(const char *from, const char *to) {
    if (links == 0) return __real_link(from, to);
    errno = links;
    return -1;
}

void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_malloc(size_t n) { return refused > 0 && --refused == 0 ? NULL : __real_malloc(n); }

static void put(const char *name, const char *text) {
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void put_part(const char *text) {
    char *part = part_name("x");
    put(part, text);
    free(part);
}

static bool there(const char *name) { return access(name, F_OK) == 0; }

static bool part_there(void) {
    char *part = part_name("x");
    const bool is = there(part);
    free(part);
    return is;
}

// text NULL: there is no such file
static void assert_file(const char *name, const char *text) {
    assert_int_equal(there(name), text != NULL);
    if (!text) return;
    char now[40] = "";
    FILE *f = fopen(name, "r");
    assert_non_null(fgets(now, sizeof now, f));
    fclose(f);
    assert_string_equal(now, text);
}

static void clear(void) {
    links = refused = 0;
    publish_not("x");
    unlink("x"), unlink("x.before");
}

// Files before and after: x and x.before, the part is "new".  NULL: none.
static void assert_published(const char *x, const char *before, bool keep, const char *before_after) {
    static const int no_links[] = {0, EPERM, EOPNOTSUPP};
    for (int k = 0; k < 3; ++k) {
        clear();
        if (x) put("x", x);
        if (before) put("x.before", before);
        put_part("new");
        links = x || k == 0 ? no_links[k] : ENOENT;
        carom_error err = {0};
        assert_int_equal(publish("x", keep, &err), CAROM_OK);
        assert_file("x", "new");
        assert_file("x.before", before_after);
        assert_false(part_there());
    }
}

static void an_older_file_is_kept_and_the_best_of_them(void **state) {
    (void)state;
    assert_published(NULL, NULL, true, NULL);
    assert_published("old", NULL, true, "old");
    assert_published("old", "good", true, "good"); // that of a run that was done
    assert_published(NULL, "good", true, "good");
    assert_published("old", NULL, false, NULL);
    assert_published("old", "good", false, "good");
    publish_for_good("x");
    assert_file("x", "new");
    assert_file("x.before", NULL);
    publish_for_good("x"); // nothing more to do
    assert_file("x", "new");
}

static void assert_refused(carom_status status, const char *why, bool keep) {
    carom_error err = {0};
    assert_int_equal(publish("x", keep, &err), status);
    if (!strstr(err.text, why)) fail_msg("'%s' does not say '%s'", err.text, why);
    refused = 0;
}

static void what_cannot_be_kept_or_named_stays(void **state) {
    (void)state;
    clear();
    put("x", "old");
    assert_refused(CAROM_IO, "cannot create x: No such file", true); // there is no part
    assert_file("x", "old");
    for (int n = 1; n <= 2; ++n) // the names of the part and of the older file
        for (int keep = 0; keep < 2; ++keep) {
            clear();
            put("x", "old");
            put_part("new");
            refused = n;
            assert_refused(CAROM_NO_MEMORY, "no memory", keep);
            assert_file("x", "old");
            assert_file("x.before", NULL);
            assert_int_equal(part_there(), n == 1); // without its name it cannot be removed
        }
    clear();
    put_part("new");
    publish_not("x");
    assert_false(part_there());
    refused = 1, publish_not("x"), refused = 1, publish_for_good("x"); // no memory: nothing happens
}

static void another_writer_keeps_its_file(void **state) {
    (void)state;
    clear();
    put("x", "old");
    put_part("new");
    const int fd = open("x", O_RDWR);
    assert_true(file_lock(fd, FILE_WRITER, F_WRLCK, 0));
    assert_refused(CAROM_IO, "another run is writing it", true);
    assert_file("x", "old");
    assert_file("x.before", NULL);
    assert_false(part_there());
    assert_true(file_lock(fd, FILE_WRITER, F_UNLCK, 0));
    put_part("new");
    assert_true(file_lock(fd, FILE_COMMIT, F_WRLCK, 0)); // another lock
    carom_error err = {0};
    assert_int_equal(publish("x", true, &err), CAROM_OK);
    assert_file("x.before", "old");
    close(fd);
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void readers_share_a_lock_and_a_writer_waits_as_long_as_it_may(void **state) {
    (void)state;
    clear();
    put("x", "old");
    const int a = open("x", O_RDWR), b = open("x", O_RDWR), c = open("x", O_RDWR);
    assert_true(file_lock(a, FILE_COMMIT, F_RDLCK, 0));
    assert_true(file_lock(b, FILE_COMMIT, F_RDLCK, 0));
    assert_false(file_lock(c, FILE_COMMIT, F_WRLCK, 0));
    const double begun = seconds();
    assert_false(file_lock(c, FILE_COMMIT, F_WRLCK, 0.02)); // 20 times a millisecond, or more of a busy machine
    assert_true(seconds() - begun > 0.019);
    close(a), close(b); // locks go with their files
    assert_true(file_lock(c, FILE_COMMIT, F_WRLCK, 0));
    close(c);
    assert_true(file_lock(-1, FILE_COMMIT, F_WRLCK, 0)); // where there are no locks everybody has them
}

static void names_end(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool csv;
    } names[] = {{"a.csv", true},     {".csv", true}, {"a.csv.csv", true}, {"csv", false},
                 {"a.csv.h5", false}, {"", false},    {"a.CSV", false},    {"a.csvx", false}};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        assert_int_equal(carom_ends(names[i].name, ".csv"), names[i].csv);
}

int main(void) {
    char folder[] = "/tmp/carom-publish-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_end),
        cmocka_unit_test(an_older_file_is_kept_and_the_best_of_them),
        cmocka_unit_test(what_cannot_be_kept_or_named_stays),
        cmocka_unit_test(another_writer_keeps_its_file),
        cmocka_unit_test(readers_share_a_lock_and_a_writer_waits_as_long_as_it_may),
    };
    const int status = cmocka_run_group_tests_name("publish", tests, NULL, NULL);
    clear();
    return status || chdir("/") != 0 || rmdir(folder) != 0;
}
