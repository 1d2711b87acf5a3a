// test_refused.c: every call of HDF5 and every request for memory that reading and writing files makes fails once, in
// turn.
//
// An operation whose call failed must say so, in words; or, if it reports success, have done all of its work: the same
// rows, events and problems as without the failure.  A check that is missing, or that joins its conditions in the wrong
// way, is seen here.  The first call from each place of the program fails, and some others; with "long": every call,
// none left out.
#define _DEFAULT_SOURCE // mkdtemp
#include "problems.h"
#include "io/table.h"
#include "quick.h"
#include "result_rig.h"
#include <carom/problem_file.h>
#include <carom/table.h>
#include <hdf5.h>
#include <sys/stat.h>

static bool counting;
static long calls, refused_at; // 0: never
static const char *refused;    // the function

// What HDF5 would print is collected for carom's own messages (h5_hush): whenever a function of HDF5 is called that may
// fail, another handler than the program's is in place; afterwards the program's is.
static const char *aloud; // a function that was called without; NULL: none

static herr_t loud(hid_t stack, void *user) { return (void)stack, (void)user, aloud = "what HDF5 did itself", 0; }

static bool is_loud(void) {
    H5E_auto2_t function = NULL;
    void *user = NULL;
    H5Eget_auto2(H5E_DEFAULT, &function, &user);
    return function == loud && user == &aloud;
}

// Places in the program from where the calls come, and the first call of each; once more in every stage of a life:
// where a file is made, written, flushed and closed.
enum { MOST_PLACES = 1000 };
static const void *place[MOST_PLACES];
static int stage_of[MOST_PLACES];
static long first_call[MOST_PLACES];
static int places, stage;

static void note_place(const void *from) {
    int i = 0;
    while (i < places && (place[i] != from || stage_of[i] != stage)) ++i;
    if (i < places || places == MOST_PLACES) return;
    place[places] = from, stage_of[places] = stage, first_call[places++] = calls;
}

static bool refuse(const char *name, const void *from) {
    if (counting && strncmp(name, "H5", 2) == 0 && is_loud()) aloud = name;
    if (!counting) return false;
    ++calls;
    if (refused_at == 0) note_place(from);
    if (calls != refused_at) return false;
    refused = name;
    return true;
}

// -- what may fail (test/CMakeLists.txt lists the same names) ---------------------------------------------------------

#define WRAP(type, name, parameters, arguments, failed)                                                                \
    type __real_##name parameters;                                                                                     \
    type __wrap_##name parameters;                                                                                     \
    type __wrap_##name parameters {                                                                                    \
        return refuse(#name, __builtin_return_address(0)) ? (failed) : __real_##name arguments;                        \
    }

static long held; // pieces of memory that were given and not freed yet
static void *give(void *p) { return held += p != NULL, p; }

#define WRAP_HEAP(type, name, parameters, arguments)                                                                   \
    type __real_##name parameters;                                                                                     \
    type __wrap_##name parameters;                                                                                     \
    type __wrap_##name parameters {                                                                                    \
        return refuse(#name, __builtin_return_address(0)) ? NULL : give(__real_##name arguments);                      \
    }

WRAP_HEAP(void *, malloc, (size_t n), (n))
WRAP_HEAP(void *, calloc, (size_t n, size_t size), (n, size))
WRAP_HEAP(void *, aligned_alloc, (size_t at, size_t n), (at, n))
WRAP_HEAP(char *, strdup, (const char *s), (s))
WRAP_HEAP(char *, strndup, (const char *s, size_t n), (s, n))

void *__real_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n) {
    if (refuse("realloc", __builtin_return_address(0))) return NULL;
    return p ? __real_realloc(p, n) : give(__real_realloc(p, n));
}

void __real_free(void *p);
void __wrap_free(void *p);
void __wrap_free(void *p) {
    held -= p != NULL;
    __real_free(p);
}

WRAP(hid_t, H5Fcreate, (const char *name, unsigned flags, hid_t c, hid_t a), (name, flags, c, a), -1)
WRAP(hid_t, H5Fopen, (const char *name, unsigned flags, hid_t a), (name, flags, a), -1)
WRAP(herr_t, H5Fclose, (hid_t id), (id), (__real_H5Fclose(id), -1)) // it is closed all the same
WRAP(herr_t, H5Fflush, (hid_t id, H5F_scope_t scope), (id, scope), -1)
WRAP(hid_t, H5Gcreate2, (hid_t at, const char *name, hid_t l, hid_t c, hid_t a), (at, name, l, c, a), -1)
WRAP(hid_t, H5Gopen2, (hid_t at, const char *name, hid_t a), (at, name, a), -1)
WRAP(hid_t, H5Dcreate2, (hid_t at, const char *name, hid_t type, hid_t space, hid_t l, hid_t c, hid_t a),
     (at, name, type, space, l, c, a), -1)
WRAP(hid_t, H5Dopen2, (hid_t at, const char *name, hid_t a), (at, name, a), -1)
WRAP(hid_t, H5Dget_space, (hid_t id), (id), -1)
WRAP(hid_t, H5Dget_type, (hid_t id), (id), -1)
WRAP(hid_t, H5Dget_create_plist, (hid_t id), (id), -1)
WRAP(herr_t, H5Dset_extent, (hid_t id, const hsize_t *size), (id, size), -1)
WRAP(herr_t, H5Dread, (hid_t id, hid_t type, hid_t in, hid_t from, hid_t x, void *to), (id, type, in, from, x, to), -1)
WRAP(herr_t, H5Dwrite, (hid_t id, hid_t type, hid_t in, hid_t to, hid_t x, const void *from),
     (id, type, in, to, x, from), -1)
WRAP(herr_t, H5Dwrite_chunk, (hid_t id, hid_t x, uint32_t filters, const hsize_t *at, size_t n, const void *from),
     (id, x, filters, at, n, from), -1)
WRAP(hid_t, H5Acreate2, (hid_t at, const char *name, hid_t type, hid_t space, hid_t c, hid_t a),
     (at, name, type, space, c, a), -1)
WRAP(hid_t, H5Aopen, (hid_t at, const char *name, hid_t a), (at, name, a), -1)
WRAP(herr_t, H5Aread, (hid_t id, hid_t type, void *to), (id, type, to), -1)
WRAP(herr_t, H5Awrite, (hid_t id, hid_t type, const void *from), (id, type, from), -1)
WRAP(hid_t, H5Aget_type, (hid_t id), (id), -1)
WRAP(hid_t, H5Aget_space, (hid_t id), (id), -1)
WRAP(hid_t, H5Screate_simple, (int rank, const hsize_t *size, const hsize_t *most), (rank, size, most), -1)
WRAP(hid_t, H5Screate, (H5S_class_t type), (type), -1)
WRAP(herr_t, H5Sselect_hyperslab,
     (hid_t id, H5S_seloper_t op, const hsize_t *at, const hsize_t *step, const hsize_t *n, const hsize_t *block),
     (id, op, at, step, n, block), -1)
WRAP(int, H5Sget_simple_extent_ndims, (hid_t id), (id), -1)
WRAP(int, H5Sget_simple_extent_dims, (hid_t id, hsize_t *size, hsize_t *most), (id, size, most), -1)
WRAP(hid_t, H5Tcreate, (H5T_class_t type, size_t n), (type, n), -1)
WRAP(hid_t, H5Tcopy, (hid_t id), (id), -1)
WRAP(herr_t, H5Tinsert, (hid_t id, const char *name, size_t at, hid_t type), (id, name, at, type), -1)
WRAP(herr_t, H5Tset_size, (hid_t id, size_t n), (id, n), -1)
WRAP(hid_t, H5Pcreate, (hid_t id), (id), -1)
WRAP(herr_t, H5Pset_chunk, (hid_t id, int rank, const hsize_t *size), (id, rank, size), -1)

// -- operations: true: reported as done -------------------------------------------------------------------------------

enum { STEPS = 40 };

static carom_error why;

// Fields of flexible members, matrices and a table of the model's, snapshots of contacts.
static const char rich[] = "carom: 1\nname: Rich\ngravity: [0, 0, -10]\nrecord: {contacts: 0.05}\ntables: {push: "
                           "dir/F.csv}\nforces: {f.u2: push(t)}\n"
                           "flexible:\n  bar: {type: bar, length: 2, elements: 2, density: 1, modulus: 1, area: 1, "
                           "fix: start, record: [displacement, velocity, stress]}\n"
                           "  f: {type: matrices, mass: M, stiffness: K, record: displacement}\n"
                           "bodies: {a: {mass: 1, inertia: [1, 1, 1], at: [0, 0, 0.6], velocity: [0, 0, -2], shape: "
                           "{sphere: 0.5}}}\nshapes: {floor: {plane: [0, 0, 1]}}\n"
                           "contacts: {hit: {between: [a, floor], restitution: 0.5}}\n";
static const char M[] = "%%MatrixMarket matrix array real symmetric\n2 2\n1\n0\n2\n",
                  K[] = "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 100\n2 1 -50\n2 2 50\n",
                  F[] = "0, 0\n1, 2\n";
static const carom_matrix_text parts[] = {
    {"M", M, sizeof M - 1, "masses.mtx"}, {"K", K, sizeof K - 1, "k.mtx"}, {"dir/F.csv", F, sizeof F - 1, "dir/F.csv"}};
static const char *text = ball; // of the model

// A run with joints, contacts, events and outputs into a file, or its second half.
static bool record(const char *name, bool resume, long stop) {
    carom_error err = {0};
    const carom_model_def md = {.text = text,
                                .length = strlen(text),
                                .file = "model.yaml",
                                .matrices = parts,
                                .nmatrices = text == rich ? 3 : 0};
    carom_model *m = carom_model_create(&md, &err);
    if (!m) fail_msg("%s", err.text);
    carom_sim_def sd = carom_sim_default();
    sd.system = carom_model_system(m), sd.scheme = "moreau-midpoint", sd.h = 0.01, sd.t_end = 0.01 * STEPS;
    sd.q0 = carom_model_q0(m), sd.v0 = carom_model_v0(m);
    carom_sim *sim = carom_sim_create(&sd, &err);
    carom_record_def rd = carom_record_default();
    rd.model = m, rd.sim = sim, rd.file = path(name), rd.step = sd.h, rd.end = sd.t_end, rd.every = 1;
    rd.text = text, rd.length = strlen(text), rd.model_file = "model.yaml";
    memset(&why, 0, sizeof why);
    counting = stop == 0;
    stage = 1;
    carom_record *r = resume ? carom_record_resume(&rd, &why) : carom_record_create(&rd, &why);
    carom_status status = r ? CAROM_OK : CAROM_IO;
    for (long n = 0; status == CAROM_OK && !carom_sim_done(sim) && (stop == 0 || n < stop); n += 10) {
        stage = 2;
        status = carom_record_advance(r, 10, 0, &why);
        stage = 3;
        if (status == CAROM_OK) status = carom_record_flush(r, &why);
    }
    stage = 4;
    const bool finished = r && carom_record_finish(r, status == CAROM_OK ? stop ? "interrupted" : "done" : "failed",
                                                   NULL, &why) == CAROM_OK;
    carom_record_destroy(r);
    counting = false;
    stage = 0;
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    return status == CAROM_OK && finished;
}

static void copy(const char *from, const char *to) {
    static char bytes[1 << 20];
    FILE *f = fopen(path(from), "rb");
    assert_non_null(f);
    const size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    f = fopen(path(to), "wb");
    assert_true(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
}

static bool writes(void) {
    unlink(path("again.h5"));
    return record("again.h5", false, 0);
}

static bool goes_on(void) {
    copy("half.h5", "again.h5");
    return record("again.h5", true, 0);
}

static bool writes_text(void) {
    unlink(path("again.csv"));
    return record("again.csv", false, 0);
}

// All numbers of a result, added up with weights.
static double sum;

static bool recorded; // the file that is looked at was written by a run

// What the result says of its run, but for times.  A reader that cannot read it goes on without, so it counts where no
// reading failed.
static double weigh_run(const carom_result *r) {
    static const char *const texts[] = {"status", "message", "scheme",     "options", "options_given",
                                        "set",    "name",    "model_file", "version"},
                             *const numbers[] = {"step", "end", "every", "dt_out", "event_rows"};
    double x = 0, all = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i)
        if (carom_result_text(r, texts[i]))
            all += (double)(i + 1) * (1 + (double)strlen(carom_result_text(r, texts[i])));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i)
        if (carom_result_number(r, numbers[i], &x)) all += 100 * (double)(i + 1) * (1 + x);
    carom_ledger l;
    carom_ledger_names names;
    if (!carom_result_ledger(r, &l, &names)) return all;
    l.seconds = l.wall = 0;
    for (int i = 0; carom_ledger_line_at(&l, &names, i).name; ++i) {
        const carom_ledger_line line = carom_ledger_line_at(&l, &names, i);
        all += 1000 * (double)(i + 1) * (line.text ? (double)strlen(line.text) : isfinite(line.value) ? line.value : 0);
    }
    return all;
}

static bool reads_file(const char *name, bool may_fail) {
    memset(&why, 0, sizeof why);
    counting = may_fail;
    carom_result *r = carom_result_open(path(name), &why);
    bool good = r != NULL;
    sum = 0;
    for (int c = 0; good && c < carom_result_columns(r); ++c) {
        double x[STEPS + 1];
        good = carom_result_read(r, c, 0, STEPS + 1, x, &why) == CAROM_OK;
        for (int i = 0; good && i <= STEPS; ++i) sum += (1 + c + 0.01 * i) * x[i];
    }
    for (long i = 0; good && i < carom_result_event_count(r); ++i) {
        carom_result_event e;
        good = carom_result_events(r, i, 1, &e, &why) == CAROM_OK;
        if (good)
            sum += (double)(i + 1) * (e.t + e.impulse + e.before + e.after) +
                   (double)(strlen(e.contact) + 3 * strlen(e.kind));
    }
    for (long i = 0; good && i < carom_result_contact_count(r); ++i) {
        carom_result_contact c;
        good = carom_result_contacts(r, i, 1, &c, &why) == CAROM_OK;
        if (good)
            sum += (double)(i + 1) * (c.t + c.gap + c.force[2] + c.normal[2] + c.point[0]) + (double)strlen(c.contact);
    }
    static const char *const fields[] = {"bar.displacement", "bar.velocity", "bar.stress", "f.displacement"};
    for (int k = 0; good && text == rich && !carom_result_values(r) && k < 4; ++k) {
        double x[20];
        const long n = carom_result_field_size(r, fields[k]);
        good = n > 0 && n < 20 && carom_result_field_read(r, fields[k], STEPS / 2, x, &why) == CAROM_OK;
        if (n <= 0) snprintf(why.text, sizeof why.text, "no field");
        for (int i = 0; good && i < n; ++i) sum += (1 + k + 0.1 * i) * x[i];
    }
    if (good && recorded) sum += weigh_run(r);
    const carom_matrix_text *list = NULL;
    int n = 0;
    if (good) good = carom_result_matrices(r, &list, &n, &why) == CAROM_OK;
    for (int i = 0; good && i < n; ++i)
        sum += (double)(i + 1) * (double)(list[i].length + strlen(list[i].name) + strlen(list[i].text));
    carom_result_close(r);
    counting = false;
    return good;
}

static double expected; // without a failure
static bool reads(void) { return reads_file("whole.h5", true); }
static bool reads_text(void) { return reads_file("whole.csv", true); }
static bool same_sum(void) { return sum == expected; }
static bool same_result(void) { return reads_file("again.h5", false) && sum == expected; }
static bool same_run(void) {
    recorded = true;
    const bool same = same_result();
    recorded = false;
    return same;
}
static bool same_text(void) { return reads_file("again.csv", false) && sum == expected; }

// A result under another name.
static bool save(const char *from, const char *to) {
    memset(&why, 0, sizeof why);
    unlink(path(to));
    counting = true;
    carom_result *r = carom_result_open(path(from), &why);
    const bool good = r && carom_result_save(r, path(to), &why) == CAROM_OK;
    carom_result_close(r);
    counting = false;
    return good;
}

static bool saves(void) { return save("whole.h5", "again.h5"); }
static bool saves_text(void) { return save("whole.h5", "again.csv"); }

// Tables of a sweep: written, found and read again.
static bool tables_go(void) {
    const char *const name = "tables.h5";
    enum { ROWS = 5 };
    carom_column column[] = {{.name = (char *)"n", .kind = CAROM_COLUMN_INTEGER},
                             {.name = (char *)"x, \"y\"", .kind = CAROM_COLUMN_REAL},
                             {.name = (char *)"word", .kind = CAROM_COLUMN_TEXT}};
    char *word[ROWS] = {(char *)"a", (char *)"", (char *)"a, b", NULL, (char *)"longer"};
    long long integer[ROWS] = {1, -2, 3, 1LL << 60, 0};
    double real[ROWS] = {0.5, -1, NAN, 1e300, 4};
    column[0].integer = integer, column[1].real = real, column[2].text = word;
    const carom_table table = {.name = (char *)"runs", .rows = ROWS, .columns = 3, .column = column};
    const carom_table_note note = {"about", "a sweep"};
    carom_table again = {0};
    memset(&why, 0, sizeof why);
    unlink(path(name));
    sum = 0;
    counting = true;
    bool good = carom_tables_write(path(name), &table, 1, &note, 1, &why) == CAROM_OK;
    if (good) good = carom_table_read(path(name), "runs", &again, &why) == CAROM_OK;
    char *about = good ? carom_table_note_read(path(name), "about") : NULL;
    counting = false;
    free(about);
    for (int i = 0; i < again.columns; ++i)
        for (long k = 0; k < again.rows; ++k) {
            const carom_column *c = &again.column[i];
            sum += (i + 1) * (0.1 * (double)k + (c->integer ? (double)c->integer[k]
                                                 : c->real  ? isnan(c->real[k]) ? 7 : c->real[k] * 1e-290
                                                            : (double)strlen(c->text[k])));
        }
    carom_table_free(&again);
    return good;
}


// Contact problems: written and read again, in both forms.
static contact_problem problem; // a pile with an equation, and an answer

static bool problem_goes(const char *name, bool answer) {
    memset(&why, 0, sizeof why);
    unlink(path(name));
    counting = true;
    carom_problem_list *list = carom_problems_create(), *again = NULL;
    bool good = list && carom_problems_add(list, &problem.pb, problem.p, "a pile", &why) == CAROM_OK;
    if (!list) snprintf(why.text, sizeof why.text, "no memory");
    good = good && (answer ? carom_problem_write_answer(carom_problems_at(list, 0), path(name), &why)
                           : carom_problems_write(list, path(name), &why)) == CAROM_OK;
    if (good && !(answer && strstr(name, ".csv"))) good = (again = carom_problems_read(path(name), &why)) != NULL;
    counting = false;
    sum = 0;
    if (again) {
        const carom_problem *pb = carom_problems_at(again, 0);
        const bool fclib = !strstr(name, ".txt"); // its reader goes on without a title or a start that cannot be read
        sum = pb->n + 10 * pb->nb + (fclib ? 0 : (double)strlen(carom_problems_title(again, 0)));
        double *G = calloc((size_t)pb->n * pb->n, sizeof *G);
        carom_problem_expand(pb, G, pb->n);
        for (int i = 0; i < pb->n * pb->n; ++i) sum += (1 + 0.1 * i) * G[i];
        for (int i = 0; i < pb->n; ++i) sum += (1 + 0.2 * i) * (pb->c[i] + 3 * (fclib ? 0 : pb->p[i]));
        for (int i = 0; i < pb->nb; ++i) sum += pb->block[i].mu * (i + 1);
        free(G);
    }
    carom_problems_destroy(list);
    carom_problems_destroy(again);
    return good;
}

static bool fclib_goes(void) { return problem_goes("problem.hdf5", false); }
static bool answer_goes(void) { return problem_goes("answer.h5", true); }
static bool text_goes(void) { return problem_goes("problem.txt", false); }

// -- every call in turn -----------------------------------------------------------------------------------------------

enum { STRIDE = BRIEF ? 5 : 1 };

static bool at_length; // "long"

// Is this the first call from its place?
static bool is_first(long n) {
    for (int i = 0; i < places; ++i)
        if (first_call[i] == n) return true;
    return false;
}

static void each_call_fails_once(bool (*operation)(void), bool (*check)(void), long most) {
    calls = refused_at = places = 0;
    assert_true(operation());
    check();
    expected = sum;
    const long kept = held, open = H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), all = calls,
               step = at_length    ? 1
                      : all > most ? STRIDE * (1 + all / most)
                                   : STRIDE;
    long told = 0, bad = 0, tried = 0;
    assert_true(all > 10 && places > 5 && places < MOST_PLACES);
    for (long n = 1; n <= all; ++n) {
        if (n % step != 0 && (STRIDE > 1 || !is_first(n))) continue;
        ++tried;
        calls = 0, refused_at = n;
        const bool good = operation(), reason = strlen(why.text) >= 5;
        refused_at = 0;
        if (held != kept)
            fail_msg("call %ld of %ld, %s: %ld pieces of memory are not freed", n, all, refused, held - kept);
        if (H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL) != open)
            fail_msg("call %ld of %ld, %s: something of HDF5 stays open", n, all, refused);
        if (aloud || !is_loud())
            fail_msg("call %ld of %ld, %s: %s", n, all, refused,
                     aloud ? aloud : "the program's own handler of HDF5's errors is lost");
        if (good ? check() : reason) {
            told += !good;
            continue;
        }
        print_error("call %ld of %ld, %s, fails: %s\n", n, all, refused, good ? "not noticed" : "no reason given");
        ++bad;
    }
    print_message("%ld calls from %d places; of %ld that failed %ld were reported, the others did no harm\n", all,
                  places, tried, told);
    assert_int_equal(bad, 0);
    assert_true(operation() && check()); // nothing is left of it
    assert_int_equal(held, kept);
}

static void writing_a_result(void **state) {
    (void)state;
    each_call_fails_once(writes, same_run, 20);
}

static void going_on_with_a_result(void **state) {
    (void)state;
    assert_true(record("half.h5", false, 20));
    each_call_fails_once(goes_on, same_run, 20);
}

static void reading_a_result(void **state) {
    (void)state;
    each_call_fails_once(reads, same_sum, 20);
}

static void results_under_another_name(void **state) {
    (void)state;
    each_call_fails_once(saves, same_result, 20);
    each_call_fails_once(saves_text, same_text, 20);
}

static void tables(void **state) {
    (void)state;
    each_call_fails_once(tables_go, same_sum, 40);
}

// The same of a model with fields, matrices and snapshots.
static void rich_results(void **state) {
    text = rich;
    assert_true(record("whole.h5", false, STEPS) && record("whole.csv", false, STEPS));
    writing_a_result(state), going_on_with_a_result(state), reading_a_result(state), results_under_another_name(state);
    text = ball;
}

static void text_files(void **state) {
    (void)state;
    each_call_fails_once(writes_text, same_text, 40);
    each_call_fails_once(reads_text, same_sum, 40);
}

static void contact_problems(void **state) {
    (void)state;
    each_call_fails_once(fclib_goes, same_sum, 40);
    each_call_fails_once(answer_goes, same_sum, 40);
    each_call_fails_once(text_goes, same_sum, 40);
}

static int prepare(void **state) {
    if (begin(state) != 0) return -1;
    H5Eset_auto2(H5E_DEFAULT, loud, &aloud);
    problem = problem_pile(3, 3, CAROM_SPATIAL, 0.4, 77);
    for (int i = 0; i < problem.pb.n; ++i) problem.p[i] = 0.1 * i, problem.u[i] = 1 - 0.2 * i;
    return record("whole.h5", false, STEPS) && record("whole.csv", false, STEPS) ? 0 : -1;
}

static int clear(void **state) {
    problem_destroy(&problem);
    return end(state);
}

int main(int argc, char **argv) {
    at_length = argc > 1 && strcmp(argv[1], "long") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writing_a_result),           cmocka_unit_test(going_on_with_a_result),
        cmocka_unit_test(reading_a_result),           cmocka_unit_test(text_files),
        cmocka_unit_test(contact_problems),           cmocka_unit_test(tables),
        cmocka_unit_test(results_under_another_name), cmocka_unit_test(rich_results),
    };
    return cmocka_run_group_tests_name("refused calls", tests, prepare, clear);
}
