// test_storage.c: whatever fails while a result is written, the file opens, ends with a sound row and can be continued.
//
// pwrite(), write(), ftruncate() and pread() of the library are the functions below: every call of the life of a file
// fails once, or it and all that follow, or after half of the bytes, or writes nothing, or kills the process; or all
// calls are interrupted and do half of their work.
#define _DEFAULT_SOURCE // mkdtemp
#include "io/h5_driver.h"
#include "io/table.h"
#include "quick.h"
#include "result_rig.h"
#include <carom/problem_file.h>
#include <carom/table.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

ssize_t __real_pwrite(int fd, const void *bytes, size_t size, off_t at);
ssize_t __real_write(int fd, const void *bytes, size_t size);
int __real_ftruncate(int fd, off_t size);
ssize_t __real_pread(int fd, void *bytes, size_t size, off_t at);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t at);
ssize_t __wrap_write(int fd, const void *bytes, size_t size);
int __wrap_ftruncate(int fd, off_t size);
ssize_t __wrap_pread(int fd, void *bytes, size_t size, off_t at);

// NOTHING: from now on calls return 0
typedef enum mode { NEVER, ONCE, FROM_NOW_ON, HALF, KILL, MODES, NOTHING = MODES } mode;
static struct { mode mode; long at, calls; } fault;
static struct { bool on; long calls; } signals; // every other call is interrupted before it begins, the others in the
                                                // midst
static long written; // bytes

static bool interrupt(void) { return signals.on && (errno = EINTR, ++signals.calls % 2); }
static size_t some_of(size_t size) { return signals.on && size > 1 ? size / 2 : size; }

// -1: this call shall succeed; else the bytes that it still writes.
static long verdict(size_t size) {
    const long n = ++fault.calls;
    if (fault.mode == NEVER || n < fault.at || (n > fault.at && (fault.mode == ONCE || fault.mode == KILL))) return -1;
    if (n > fault.at) return 0;
    return fault.mode == HALF ? (long)(size / 2) : fault.mode == KILL ? (long)(size / 3) : 0;
}

ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t at) {
    if (interrupt()) return -1;
    const long some = verdict(size);
    written += (long)size;
    if (some < 0) return __real_pwrite(fd, bytes, some_of(size), at);
    if (some > 0 && __real_pwrite(fd, bytes, (size_t)some, at) < 0) abort();
    if (fault.mode == KILL) kill(getpid(), SIGKILL);
    errno = fault.mode == NOTHING ? 0 : ENOSPC;
    return some > 0 ? some : fault.mode == NOTHING ? 0 : -1;
}

ssize_t __wrap_pread(int fd, void *bytes, size_t size, off_t at) {
    return interrupt() ? -1 : __real_pread(fd, bytes, some_of(size), at);
}

ssize_t __wrap_write(int fd, const void *bytes, size_t size) {
    if (fd <= 2) return __real_write(fd, bytes, size);
    if (interrupt()) return -1;
    const long some = verdict(size);
    if (some < 0) return __real_write(fd, bytes, some_of(size));
    if (some > 0 && __real_write(fd, bytes, (size_t)some) < 0) abort();
    if (fault.mode == KILL) kill(getpid(), SIGKILL);
    errno = fault.mode == NOTHING ? 0 : ENOSPC;
    return some > 0 ? some : fault.mode == NOTHING ? 0 : -1;
}

// Cutting a file off fails on no full disk; a kill may come there.
int __wrap_ftruncate(int fd, off_t size) {
    if (interrupt()) return -1;
    if (fault.mode == KILL && ++fault.calls == fault.at) kill(getpid(), SIGKILL);
    return __real_ftruncate(fd, size);
}

static void arm(mode m, long at) {
    fault.mode = m;
    fault.at = at;
    fault.calls = 0;
}

// -- a run that flushes often -----------------------------------------------------------------------------

enum { STEPS = 620, FLUSH = 151 }; // chunks of 256 rows; flushes meet no chunk's end

typedef struct life { const char *text; double h; int steps, flush; } life;
static const life ball_life = {ball, 1e-3, STEPS, FLUSH};
static const life *lived = &ball_life;

// 64 spheres close ranks along x, then along y, then along z: 48, 96 and 144 pairs are near each other.  The list
// begins with 64 slots, so it grows twice on the way, and with it the saved state.
static const char ranks[] =
    "carom: 1\n"
    "record: {bodies: [a]}\n"
    "bodies:\n"
    "  s:\n"
    "    repeat: [4, 4, 4]\n"
    "    body: {mass: 1, inertia: [0.004, 0.004, 0.004], shape: {sphere: 0.1}, at: [0.23*i, 0.23*j, 0.23*k], velocity: "
    "[-1.2*i, -0.6*j, -0.4*k]}\n"
    // meets the first
    "  a: {mass: 1, inertia: [0.004, 0.004, 0.004], shape: {sphere: 0.1}, at: [-0.23, 0, 0], velocity: [1, 0, 0]}\n"
    "contacts: {all: {among: [s, a], friction: 0.3}}\n";
static const life ranks_life = {ranks, 1e-3, 90, 9};

// rows of the last flush that succeeded; until when the file holds everything
typedef struct outcome { bool created, whole; long flushed; double saved; } outcome;

// Runs to the end, or as far as the file takes it, as `carom run` does.
static outcome run_on(const char *name, bool resume) {
    const carom_model_def md = {.text = lived->text, .length = strlen(lived->text), .file = "model.yaml"};
    carom_error err = {0};
    outcome o = {.flushed = -1};
    carom_model *m = carom_model_create(&md, &err);
    carom_sim_def sd = carom_sim_default();
    sd.system = carom_model_system(m);
    sd.scheme = "moreau-midpoint";
    sd.h = lived->h, sd.t_end = lived->h * lived->steps;
    sd.q0 = carom_model_q0(m), sd.v0 = carom_model_v0(m);
    carom_sim *sim = carom_sim_create(&sd, &err);
    carom_record_def rd = carom_record_default();
    rd.model = m, rd.sim = sim, rd.file = path(name);
    rd.step = sd.h, rd.end = sd.t_end, rd.every = 1;
    rd.text = lived->text, rd.length = strlen(lived->text), rd.model_file = "model.yaml";
    carom_record *r = resume ? carom_record_resume(&rd, &err) : carom_record_create(&rd, &err);
    if (r) {
        o.created = true;
        carom_status status = CAROM_OK;
        while (status == CAROM_OK && !carom_sim_done(sim)) {
            status = carom_record_advance(r, lived->flush, 0, &err);
            if (status == CAROM_OK) status = carom_record_flush(r, &err);
            if (status == CAROM_OK) o.flushed = carom_record_rows(r);
        }
        const bool finished = carom_record_finish(r, status == CAROM_OK ? "done" : "failed",
                                                  status == CAROM_OK ? NULL : err.text, &err) == CAROM_OK;
        o.whole = status == CAROM_OK && finished;
        o.saved = carom_record_saved(r);
        if (!o.whole && !(strstr(err.text, name) && strstr(err.text, strerror(ENOSPC)))) abort(); // which file, and why
        carom_record_destroy(r);
    }
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    return o;
}

static bool exists(const char *name) {
    struct stat st;
    return stat(path(name), &st) == 0;
}

// Rows of `name` are the first rows of "whole.h5", to the bit, and so are its events.
static long assert_beginning(const char *name) {
    carom_result *x = load(name), *y = load("whole.h5");
    carom_error err = {0};
    const long rows = carom_result_rows(x), events = carom_result_event_count(x);
    const size_t n = (size_t)carom_result_columns(x);
    assert_int_equal(n, carom_result_columns(y));
    // a text file may have its first line alone
    assert_in_range(rows, strstr(name, ".h5") ? 1 : 0, carom_result_rows(y));
    assert_in_range(events, 0, carom_result_event_count(y));
    double *a = calloc((size_t)rows * n + 1, sizeof *a), *b = calloc((size_t)rows * n + 1, sizeof *b);
    assert_int_equal(carom_result_read_rows(x, 0, rows, a, &err), CAROM_OK);
    assert_int_equal(carom_result_read_rows(y, 0, rows, b, &err), CAROM_OK);
    assert_memory_equal(a, b, (size_t)rows * n * sizeof *a);
    free(a);
    free(b);
    for (long i = 0; i < events; ++i) {
        carom_result_event e = {0}, f = {0};
        assert_int_equal(carom_result_events(x, i, 1, &e, &err), CAROM_OK);
        assert_int_equal(carom_result_events(y, i, 1, &f, &err), CAROM_OK);
        assert_true(e.t == f.t && e.impulse == f.impulse);
        assert_string_equal(e.contact, f.contact);
    }
    carom_result_close(x);
    carom_result_close(y);
    return rows;
}

static double time_of_row(const char *name, long i) {
    carom_result *x = load(name);
    carom_error err = {0};
    double *row = calloc((size_t)carom_result_columns(x), sizeof *row);
    assert_int_equal(carom_result_read_rows(x, i, 1, row, &err), CAROM_OK);
    const double t = row[0];
    free(row);
    carom_result_close(x);
    return t;
}

// Files *.part in the folder; they are removed.
static int leftovers(void) {
    int n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (const struct dirent *e = readdir(d); e; e = readdir(d)) {
        const size_t length = strlen(e->d_name);
        if (length > 5 && strcmp(e->d_name + length - 5, ".part") == 0) ++n, unlink(path(e->d_name));
    }
    closedir(d);
    return n;
}

static void copy(const char *from, const char *to) {
    static char bytes[1 << 20];
    FILE *f = fopen(path(from), "rb");
    assert_non_null(f);
    const size_t n = fread(bytes, 1, sizeof bytes, f);
    assert_true(n < sizeof bytes);
    fclose(f);
    f = fopen(path(to), "wb");
    assert_true(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
}

// One life of a file with a fault at its n-th call; false: the life has fewer calls.
static bool one_life(const char *name, mode m, long n, bool resume) {
    const bool h5 = strstr(name, ".h5") != NULL;
    outcome o = {.flushed = -1};
    unlink(path(name));
    if (resume) copy("half.h5", name);
    if (m == KILL) {
        const pid_t child = fork();
        if (child == 0) {
            arm(m, n);
            o = run_on(name, resume);
            _exit(o.whole ? 0 : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (WIFEXITED(status)) return assert_int_equal(WEXITSTATUS(status), 0), false;
        o.created = exists(name);
        leftovers();
    } else {
        arm(m, n);
        o = run_on(name, resume);
        const bool met = fault.calls >= n;
        arm(NEVER, 0);
        if (!met) return assert_true(o.whole), false;
        assert_int_equal(leftovers(), 0);
    }
    if (!o.created && !resume) { // nothing, or half a header of a text file
        if (h5) assert_false(exists(name));
        return true;
    }
    const long rows = assert_beginning(name);
    if (o.flushed > 0) assert_true(rows >= o.flushed);
    if (m != KILL && rows > 0 && (!h5 || o.flushed > 0))
        assert_true(o.saved == time_of_row(name, h5 ? o.flushed - 1 : rows - 1));
    if (!h5) return true;
    o = run_on(name, true);
    assert_true(o.whole);
    assert_same("whole.h5", name);
    return true;
}

static bool at_length; // "long": every call, none left out

// Every one of the first calls, then every step-th, other ones in every mode.
static void every_call_fails(const char *name, bool resume, long first, long step) {
    if (BRIEF) first /= 4, step *= 3;
    for (mode m = ONCE; m < MODES; ++m) {
        long n = 1;
        while (one_life(name, m, n, resume)) n += at_length || n < first ? 1 : n == first ? (long)m : step;
        assert_true(n > 3);
    }
}

static void a_failed_write_leaves_a_sound_file(void **state) {
    (void)state;
    assert_true(run_on("whole.h5", false).whole);
    every_call_fails("fault.h5", false, 20, 11);
}

static void a_failed_write_leaves_a_sound_file_when_a_run_goes_on(void **state) {
    (void)state;
    rig g = make(ball, "moreau-midpoint", "half.h5", 1e-3, 1e-3 * STEPS, 1, 0, false);
    g.stop = 305;
    finish(&g);
    every_call_fails("fault.h5", true, 20, 11);
}

static long growths; // of the state from one flush to the next
static void count_growths(void) {
    rig g = make(ranks, "moreau-midpoint", NULL, ranks_life.h, ranks_life.h * ranks_life.steps, 1, 0, false);
    carom_error err = {0};
    size_t had = 0, bytes;
    for (growths = 0; !carom_sim_done(g.sim); growths += had && bytes > had, had = bytes) {
        assert_int_equal(carom_record_advance(g.r, ranks_life.flush, 0, &err), CAROM_OK);
        carom_sim_state(g.sim, &bytes);
    }
    carom_record_destroy(g.r), carom_sim_destroy(g.sim), carom_model_destroy(g.m);
}

// A state that has become larger replaces both saved ones: until that is whole, the file has the earlier state.
static void a_failed_write_leaves_a_sound_file_when_the_state_grows(void **state) {
    (void)state;
    count_growths();
    assert_true(growths >= 2);
    lived = &ranks_life;
    assert_true(run_on("whole.h5", false).whole);
    every_call_fails("fault.h5", false, 4, 307);
    lived = &ball_life;
}

static void a_failed_write_leaves_whole_lines(void **state) {
    (void)state;
    every_call_fails("fault.csv", false, 20, 1);
}

// A run can be read while it is written, and its file is written by one run only.
static void a_running_result_is_read_and_not_written_twice(void **state) {
    (void)state;
    carom_error err = {0};
    rig g = make(ball, "moreau-midpoint", "live.h5", 1e-3, 1e-3 * STEPS, 1, 0, false);
    assert_int_equal(carom_record_advance(g.r, 200, 0, &err), CAROM_OK);
    assert_int_equal(carom_record_flush(g.r, &err), CAROM_OK);
    carom_result *early = load("live.h5");
    assert_int_equal(carom_result_rows(early), 201);
    assert_int_equal(carom_record_advance(g.r, 300, 0, &err), CAROM_OK);
    assert_int_equal(carom_record_flush(g.r, &err), CAROM_OK);
    double *x = column(early, "t"); // chunks have come meanwhile
    for (int i = 0; i <= 200; ++i) assert_true(x[i] == 1e-3 * i);
    free(x);
    carom_result_close(early);
    assert_int_equal(assert_beginning("live.h5"), 501);
    const pid_t child = fork(); // another process
    if (child == 0) _exit(run_on("live.h5", true).created);
    int status = 0;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    finish(&g);
    assert_same("whole.h5", "live.h5");
    g = make(ball, "moreau-midpoint", "live.csv", 1e-3, 0.1, 1, 0, false);
    carom_record_def rd = {.model = g.m,
                           .sim = g.sim,
                           .file = path("live.csv"),
                           .step = 1e-3,
                           .end = 0.1,
                           .text = ball,
                           .length = strlen(ball)};
    assert_null(carom_record_create(&rd, &err));
    assert_non_null(strstr(err.text, "another run is writing it"));
    finish(&g);
}

// -- commits of many pages ---------------------------------------------------------------------------------

enum { PAGE = 4096, PAGES = 90, BYTES = PAGES * PAGE, MORE = 5000 };

// Parts that a commit changes, from `at` on: bytes inside a page, across ends of pages, whole pages, neighbours and
// pages far from each other; more of them than are written at a time.
static void change_parts(unsigned char *byte) {
    static const struct {
        int at, size;
    } part[] = {
        {0, 1},        {PAGE - 1, 2}, {3 * PAGE, PAGE}, {5 * PAGE + 17, 2 * PAGE}, {40 * PAGE - 3, 30 * PAGE + 6},
        {BYTES - 1, 1}};
    for (size_t i = 0; i < sizeof part / sizeof *part; ++i)
        memset(byte + part[i].at, 0xa0 + (int)i, (size_t)part[i].size);
    for (int i = 0; i < PAGES; i += 5) byte[i * PAGE + 100] ^= 0x55;
}

static unsigned char before[BYTES], after[BYTES];

// A set of bytes, committed; then some of them changed and another set behind them.  0: the second commit was reported
// as done, 1: as failed, with the reason.
static int write_twice(const char *name, mode m, long n) {
    const hid_t fapl = h5_driver_access(), dcpl = H5Pcreate(H5P_DATASET_CREATE),
                space = H5Screate_simple(1, (hsize_t[]){BYTES}, NULL),
                small = H5Screate_simple(1, (hsize_t[]){MORE}, NULL);
    H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY);
    const hid_t file = H5Fcreate(path(name), H5F_ACC_TRUNC, H5P_DEFAULT, fapl),
                set = H5Dcreate2(file, "x", H5T_NATIVE_UCHAR, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    if (set < 0 || H5Dwrite(set, H5T_NATIVE_UCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, before) < 0 ||
        H5Fflush(file, H5F_SCOPE_LOCAL) < 0 || !h5_driver_commit(file))
        abort();
    arm(m, n);
    const hid_t more = H5Dcreate2(file, "more", H5T_NATIVE_UCHAR, small, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    if (more < 0 || H5Dwrite(set, H5T_NATIVE_UCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, after) < 0 ||
        H5Dwrite(more, H5T_NATIVE_UCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, after) < 0 ||
        H5Fflush(file, H5F_SCOPE_LOCAL) < 0)
        abort();
    const bool done = h5_driver_commit(file);
    const char *why = h5_driver_failed(file);
    if (done ? why != NULL : !why || strcmp(why, strerror(ENOSPC)) != 0) abort();
    const hid_t ids[] = {more, set, small, space, dcpl};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; ++i) H5Idec_ref(ids[i]);
    H5Fclose(file), H5Pclose(fapl);
    return done ? 0 : 1;
}

// Is the file that of the second commit, with all it has?  Else it is that of the first, with all it had.  With HDF5's
// own driver: as it is.
static bool is_after(const char *name, bool own, unsigned flags) {
    static unsigned char now[BYTES], more[MORE];
    const hid_t fapl = own ? h5_driver_access() : H5P_DEFAULT, file = H5Fopen(path(name), flags, fapl),
                set = H5Dopen2(file, "x", H5P_DEFAULT);
    assert_true(set >= 0 && H5Dread(set, H5T_NATIVE_UCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, now) >= 0);
    const bool later = H5Lexists(file, "more", H5P_DEFAULT) > 0;
    assert_memory_equal(now, later ? after : before, BYTES);
    if (later) {
        const hid_t second = H5Dopen2(file, "more", H5P_DEFAULT);
        assert_true(H5Dread(second, H5T_NATIVE_UCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, more) >= 0);
        assert_memory_equal(more, after, MORE);
        H5Dclose(second);
    }
    H5Dclose(set), H5Fclose(file);
    if (own) H5Pclose(fapl);
    return later;
}

static long size_of(const char *name) {
    struct stat st;
    return stat(path(name), &st) == 0 ? (long)st.st_size : -1;
}

// The most calls that such a commit needs: pages to the log, 16 at a time, their numbers and the footer, then
// neighbours to their places, 16 at a time, and what is new.  HDF5 adds up to 6 pages with headers; a page of the file
// may hold the end of one of ours and the beginning of the next.
static long calls_of_a_commit(void) {
    enum { OTHERS = 6, TOGETHER = 16 };
    long pages = OTHERS, calls = OTHERS;
    for (int i = 0, k; i < PAGES; i = k) {
        for (k = i; k < PAGES && memcmp(before + k * PAGE, after + k * PAGE, PAGE) != 0;) ++k;
        pages += k > i ? k - i + 1 : 0, calls += k > i ? (k - i) / TOGETHER + 1 : 0;
        k += k == i;
    }
    return calls + pages / TOGETHER + 1 + 2 + 1 + 1; // the set behind them, and the cut
}

// A commit of pages everywhere in the file, cut short at every call: readers see all of it or nothing; so does whoever
// opens the file to write, and afterwards the file itself is so, without a log.
static void a_commit_of_many_pages_is_whole_or_nothing(void **state) {
    (void)state;
    for (int i = 0; i < BYTES; ++i) before[i] = after[i] = (unsigned char)(i % 251);
    change_parts(after);
    assert_int_equal(write_twice("pages.h5", NEVER, 0), 0);
    assert_in_range(fault.calls, 20, calls_of_a_commit());
    const long size = size_of("pages.h5");
    assert_true(is_after("pages.h5", true, H5F_ACC_RDONLY) && is_after("pages.h5", false, H5F_ACC_RDONLY));
    for (mode m = BRIEF ? NOTHING : ONCE; m <= NOTHING; ++m) {
        int finished = 0, dropped = 0;
        for (long n = 1;; ++n) {
            int status = 0;
            const pid_t child = fork();
            if (child == 0) _exit(write_twice("pages.h5", m, n));
            waitpid(child, &status, 0);
            // no call was left to fail
            if (m == KILL ? WIFEXITED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
            assert_true(m == KILL ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
                                  : WIFEXITED(status) && WEXITSTATUS(status) == 1);
            const bool later = is_after("pages.h5", true, H5F_ACC_RDONLY);
            later ? ++finished : ++dropped;
            assert_int_equal(is_after("pages.h5", true, H5F_ACC_RDWR), later);
            assert_int_equal(is_after("pages.h5", false, H5F_ACC_RDONLY), later);
            if (later) assert_int_equal(size_of("pages.h5"), size);
            else assert_true(size_of("pages.h5") < size);
        }
        assert_true(finished > 10 && dropped > 4); // calls of the copying; of the log
    }
}

static void flip(const char *name, long from_end) {
    FILE *f = fopen(path(name), "r+b");
    assert_true(f && fseek(f, -from_end, SEEK_END) == 0);
    const int c = fgetc(f);
    assert_true(fseek(f, -from_end, SEEK_END) == 0 && fputc(c ^ 0x10, f) != EOF && fclose(f) == 0);
}

// Does the file end with the log of a commit whose pages are not in their places yet?
static bool has_log(const char *name) {
    char magic[8] = "";
    FILE *f = exists(name) ? fopen(path(name), "rb") : NULL;
    if (!f) return false;
    const bool has = fseek(f, -32, SEEK_END) == 0 && fread(magic, 1, 8, f) == 8 && memcmp(magic, "carmlog2", 8) == 0;
    fclose(f);
    return has;
}

// The disk is full just after a log: it counts when it is whole, for readers and for a run that goes on.  One other bit
// in it, and the file is that of the commit before.
static void a_damaged_log_is_no_log(void **state) {
    (void)state;
    long n = 1, before = 0, rows = 0;
    for (bool found = false; !found; ++n) {
        assert_true(n < 400);
        unlink(path("log.h5"));
        arm(FROM_NOW_ON, n);
        const outcome o = run_on("log.h5", false);
        arm(NEVER, 0);
        if (o.flushed < 2 || !has_log("log.h5")) continue;
        copy("log.h5", "damaged.h5");
        flip("damaged.h5", 1);
        rows = assert_beginning("log.h5"), before = assert_beginning("damaged.h5");
        found = before < rows;
    }
    for (long k = 1; k < 400; k += k < 60 ? 1 : 37) {
        copy("log.h5", "damaged.h5");
        flip("damaged.h5", k);
        if (assert_beginning("damaged.h5") != before)
            fail_msg("a log with another byte, %ld from its end, is taken", k);
    }
    assert_true(run_on("damaged.h5", true).whole && run_on("log.h5", true).whole);
    assert_same("whole.h5", "damaged.h5");
    assert_same("whole.h5", "log.h5");
}

// Signals interrupt every other call, and the others do half of what they were asked for: files are the same, byte by
// byte but for times, and so are readers' rows.
static void interrupted_calls_are_repeated(void **state) {
    (void)state;
    assert_true(run_on("whole.h5", false).whole && run_on("whole.csv", false).whole);
    signals.on = true;
    assert_true(run_on("slow.h5", false).whole && run_on("slow.csv", false).whole);
    assert_same("whole.h5", "slow.h5"); // read under signals
    assert_int_equal(write_twice("pages.h5", NEVER, 0), 0);
    assert_true(is_after("pages.h5", true, H5F_ACC_RDWR));
    signals.on = false;
    assert_true(signals.calls > 1000);
    assert_same("whole.h5", "slow.h5"), assert_same("whole.csv", "slow.csv");
    assert_int_equal(size_of("whole.h5"), size_of("slow.h5"));
    assert_true(is_after("pages.h5", false, H5F_ACC_RDONLY));
}

// Snapshots of contacts at every step, and a field along a bar.
static const char tables[] =
    "carom: 1\ngravity: [0, -10]\nrecord: {contacts: 1e-3}\nbodies: {s: {mass: 1, inertia: 0.1, at: [0, 0.1], shape: "
    "{circle: 0.1}}}\n"
    "shapes: {floor: {plane: [0, 1]}}\ncontacts: {a: {between: [s, floor], restitution: 0.5}}\n"
    "flexible: {r: {type: bar, length: 2, elements: 4, density: 1, modulus: 3, area: 1, fix: start, rate: s, record: "
    "displacement}}\n";

// A flush of one row changes few pages: one or two with the extents of the tables, three where contacts and a field
// have theirs, one of the ledger, one or two of the state.  Each is written twice, with its number, and a footer; rows
// themselves once, past the log.  Where nothing is new the ledger changes and one or two pages of the state, and
// closing the file behind the last flush writes nothing.
static void a_flush_writes_what_has_changed(void **state) {
    (void)state;
    static const char *const cases[] = {ball, tables};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        carom_error err = {0};
        rig g = make(cases[k], "moreau-midpoint", "live.h5", 1e-3, 1e-3 * STEPS, 1, 0, false);
        // of bytes: five nodes, one contact; pages of /t and of the scales of events and snapshots among them
        const long rows = 8L * (carom_record_columns(g.r) + 1) + (k ? 8 * 5 + 8 * 11 + 64 : 0), pages = k ? 9 : 7;
        for (int i = 0; i < 30; ++i) {
            const int fresh = i % 3 != 2;
            if (fresh) assert_int_equal(carom_record_advance(g.r, 1, 0, &err), CAROM_OK);
            written = 0;
            assert_int_equal(carom_record_flush(g.r, &err), CAROM_OK);
            // the first row of a table comes with a whole chunk: the first contact, the first event
            if (i >= 6) assert_in_range(written, 1, 32 + (fresh ? pages : 3) * (2 * PAGE + 8) + fresh * rows);
        }
        written = 0;
        assert_int_equal(carom_record_finish(g.r, "interrupted", NULL, &err), CAROM_OK); // one more page, of /run
        assert_in_range(written, 1, 32 + (pages + 1) * (2 * PAGE + 8));
        carom_record_destroy(g.r), carom_sim_destroy(g.sim), carom_model_destroy(g.m);
    }
}

// -- all that carom writes -----------------------------------------------------------------------------------

static carom_status write_table(const char *name, carom_error *err) {
    enum { ROWS = 300 };
    carom_column column[] = {{.name = (char *)"n", .kind = CAROM_COLUMN_INTEGER},
                             {.name = (char *)"x", .kind = CAROM_COLUMN_REAL}};
    long long integer[ROWS];
    double real[ROWS];
    for (int i = 0; i < ROWS; ++i) integer[i] = i, real[i] = sqrt(i);
    column[0].integer = integer, column[1].real = real;
    const carom_table t = {.name = (char *)"runs", .rows = ROWS, .columns = 2, .column = column};
    const carom_table_note note = {"about", "a table"};
    return carom_tables_write(name, &t, 1, &note, 1, err);
}

static carom_status save(const char *name, carom_error *err) {
    carom_result *r = load("whole.h5");
    const carom_status status = carom_result_save(r, name, err);
    carom_result_close(r);
    return status;
}

static carom_status write_problem(const char *name, carom_error *err) {
    enum { CONTACTS = 20, N = 2 * CONTACTS };
    carom_block block[CONTACTS];
    static double G[N * N], c[N], p[N], u[N];
    for (int i = 0; i < CONTACTS; ++i) block[i] = (carom_block){.law = CAROM_PLANAR, .at = 2 * i, .mu = 0.5};
    for (int i = 0; i < N; ++i) G[i + i * N] = 2 + i, c[i] = u[i] = i, p[i] = 1;
    const carom_problem pb = {.n = N, .nb = CONTACTS, .ld = N, .block = block, .G = G, .c = c, .p = p, .u = u};
    carom_problem_list *list = carom_problems_create();
    assert_int_equal(carom_problems_add(list, &pb, p, "many", err), CAROM_OK);
    const carom_status status = strstr(name, "answer")
                                    ? carom_problem_write_answer(carom_problems_at(list, 0), name, err)
                                    : carom_problems_write(list, name, err);
    carom_problems_destroy(list);
    return status;
}

// An older file of the name, or none.
static void make_older(const char *name, bool there) {
    unlink(path(name));
    if (!there) return;
    FILE *f = fopen(path(name), "w");
    assert_true(f && fputs("older\n", f) >= 0 && fclose(f) == 0);
}

// It failed, and said which file and why; nothing is left of it, and the older file is as it was.
static void assert_told(const char *name, carom_status status, const carom_error *err, int why, bool lines,
                        bool there) {
    if (status != CAROM_IO || !strstr(err->text, name) || !strstr(err->text, strerror(why)))
        fail_msg("%s: %d, %s", name, status, err->text);
    assert_int_equal(leftovers(), 0);
    if (!lines) assert_int_equal(size_of(name), there ? (long)strlen("older\n") : -1);
}

// Files may not become larger than so many bytes: the rest of a disk that is nearly full, for all ways to write.  Every
// writer fails and says which file and why, nothing half done is left, and an older file of that name stays; of text
// that is written line by line the lines stay that had room.
static void a_full_disk_is_told_by_all_who_write(void **state) {
    (void)state;
    static const struct {
        const char *name;
        carom_status (*write)(const char *name, carom_error *err);
        bool lines;
    } files[] = {{"table.h5", write_table, false},
                 {"table.csv", write_table, false},
                 {"saved.h5", save, false},
                 {"saved.csv", save, true},
                 {"problem.txt", write_problem, false},
                 {"problem.hdf5", write_problem, false},
                 {"answer.csv", write_problem, false},
                 {"answer.h5", write_problem, false}};
    carom_error err = {0};
    struct rlimit all;
    H5E_auto2_t report;
    void *data;
    H5Eget_auto2(H5E_DEFAULT, &report, &data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    assert_true(getrlimit(RLIMIT_FSIZE, &all) == 0 && signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    assert_true(run_on("whole.h5", false).whole);
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
        if (files[i].write(path(files[i].name), &err) != CAROM_OK) fail_msg("%s", err.text);
        const long size = size_of(files[i].name), limits[] = {0, 100, size / 2, size - 1};
        for (size_t k = 0; k < sizeof limits / sizeof *limits; ++k) {
            struct rlimit few = all;
            few.rlim_cur = (rlim_t)limits[k];
            make_older(files[i].name, k % 2);
            err = (carom_error){0};
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
            const carom_status status = files[i].write(path(files[i].name), &err);
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
            assert_told(files[i].name, status, &err, EFBIG, files[i].lines, k % 2);
        }
        bool met = true;
        for (long n = 1; met; n += n < 10 ? 1 : 7) { // and every call that the driver makes, to the last
            make_older(files[i].name, n % 2);
            err = (carom_error){0};
            arm(FROM_NOW_ON, n);
            const carom_status status = files[i].write(path(files[i].name), &err);
            met = fault.calls >= n;
            arm(NEVER, 0);
            if (met) assert_told(files[i].name, status, &err, ENOSPC, files[i].lines, n % 2);
        }
    }
    H5Eset_auto2(H5E_DEFAULT, report, data);
}

// What is no regular file is written as it is: a pipe stays one, and who reads from it gets the text.
static void a_pipe_is_written_and_stays(void **state) {
    (void)state;
    static const char *const names[] = {"problem.txt", "answer.csv"}, *const pipes[] = {"pipe.txt", "answer.pipe"};
    for (int i = 0; i < 2; ++i) {
        static char want[60000], have[60000]; // a pipe holds more
        carom_error err = {0};
        struct stat st;
        assert_int_equal(write_problem(path(names[i]), &err), CAROM_OK);
        FILE *f = fopen(path(names[i]), "rb");
        const size_t n = fread(want, 1, sizeof want, f);
        fclose(f);
        assert_int_equal(mkfifo(path(pipes[i]), 0600), 0);
        const int fd = open(path(pipes[i]), O_RDWR | O_NONBLOCK);
        assert_true(fd >= 0 && n > 100 && n < sizeof want);
        assert_int_equal(write_problem(path(pipes[i]), &err), CAROM_OK);
        assert_true(stat(path(pipes[i]), &st) == 0 && S_ISFIFO(st.st_mode));
        size_t got = 0;
        for (ssize_t k; got < sizeof have && (k = read(fd, have + got, sizeof have - got)) > 0;) got += (size_t)k;
        assert_int_equal(got, n);
        assert_memory_equal(have, want, n);
        close(fd);
    }
}

int main(int argc, char **argv) {
    at_length = argc > 1 && strcmp(argv[1], "long") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_write_leaves_a_sound_file),
        cmocka_unit_test(a_failed_write_leaves_a_sound_file_when_a_run_goes_on),
        cmocka_unit_test(a_failed_write_leaves_whole_lines),
        cmocka_unit_test(a_damaged_log_is_no_log),
        cmocka_unit_test(a_commit_of_many_pages_is_whole_or_nothing),
        cmocka_unit_test(interrupted_calls_are_repeated),
        cmocka_unit_test(a_flush_writes_what_has_changed),
        cmocka_unit_test(a_full_disk_is_told_by_all_who_write),
        cmocka_unit_test(a_pipe_is_written_and_stays),
        cmocka_unit_test(a_running_result_is_read_and_not_written_twice),
        cmocka_unit_test(a_failed_write_leaves_a_sound_file_when_the_state_grows),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
