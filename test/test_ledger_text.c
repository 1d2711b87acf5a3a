// test_ledger_text.c: ledgers, warnings and texts as people and programs read them, letter by letter.
//
//     build/test/test_ledger_text print >test/ledger.txt        where a change is meant
#define _POSIX_C_SOURCE 200809L // open_memstream
#include "io/json.h"
#include "letters.h"
#include "model_text.h"
#include <carom/result.h>

// Every number is another one.
static carom_ledger full(void) {
    carom_ledger l = {.steps = 1000,
                      .rejected = 3,
                      .switches = 4,
                      .undecided = 5,
                      .seconds = 0.25,
                      .wall = 0.5,
                      .impacts = 6,
                      .accumulations = 7,
                      .penetration = 1.5e-5,
                      .penetration_t = 0.125,
                      .drift = 2.5e-7,
                      .drift_t = 0.75,
                      .residual_t = 0.625};
    l.energy.start = 100.5, l.energy.end = 90.25, l.energy.impact = 4.5, l.energy.friction = 3.25,
    l.energy.damping = 2.125, l.energy.lost = 5.5, l.energy.created = 1.0625, l.energy.external = 0.5;
    l.energy.balance = 1e-9, l.energy.identity = 3e-16;
    l.sleep.falls = 9, l.sleep.wakes = 2, l.sleep.energy = 1e-6;
    l.counts = (carom_counts){.problems = 11,
                              .iterations = 12,
                              .fallbacks = 13,
                              .residual = 1.25e-13,
                              .accepted = 1,
                              .accepted_residual = 4e-9,
                              .newton = 14,
                              .newton_max = 15,
                              .newton_max_t = 0.375,
                              .newton_many = 16,
                              .newton_median = 2,
                              .substeps = 17,
                              .substeps_rejected = 18};
    l.compliant.overlap = 3.5e-4, l.compliant.t = 0.875, l.compliant.start = 1.5e-4;
    return l;
}

// Kinds without a name or a time, too.
static const carom_warning warnings[] = {{.kind = "penetration", .text = "deep \"at\" t\n", .name = "floor", .t = 0.5},
                                         {.kind = "scheme", .text = "not for results", .name = NULL, .t = NAN}};

// Letters of one to four bytes, what is none, and what ends too early.
static const char *const words[] = {"plain",
                                    "",
                                    "tab\t quote\" back\\",
                                    "\xc3\xa9t\xc3\xa9",
                                    "\xe2\x86\x92 arrow",
                                    "\xf0\x9d\x84\x9e clef",
                                    "\xff\xfe",
                                    "\xc3",
                                    "\xe2\x86",
                                    "\xf0\x9d\x84",
                                    "\xc0\x80",
                                    "\xe0\x80\x80",
                                    "\xed\xa0\x80",
                                    "\xf0\x80\x80\x80",
                                    "\xf4\x90\x80\x80",
                                    "\xf5\x80\x80\x80",
                                    "\xf4\x8f\xbf\xbf",
                                    "\xed\x9f\xbf",
                                    "\xe0\xa0\x80",
                                    "\x80",
                                    "\xdf\xbf",
                                    "\xef\xbf\xbf"};

// 22 springs, of which twenty are printed.
static void elements(FILE *f) {
    carom_model *m = good("carom: 1\nbodies: {b: {mass: 1, inertia: 1, at: [1, 0], velocity: [0, 1]}}\n"
                          "springs: {s: {repeat: 22, spring: {between: [ground, b], points: [[i + 2, 0], [0, 0]], "
                          "stiffness: 1 + i, length: 1}}}\n");
    carom_sim *sim = model_sim(m, "moreau-midpoint", NULL, 0.125, 0.25);
    carom_elements_print(f, m, sim);
    fputs("{\"x\": 1", f);
    carom_elements_json(f, m, sim);
    fputs("}\n", f);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

static void write_all(FILE *f) {
    static char list[CAROM_WARNINGS_ROOM];
    const carom_ledger l = full();
    carom_ledger few = {.steps = 0, .counts.accepted = 2, .energy.identity = NAN},
                 one = {.energy.identity = NAN,
                        .counts = {.problems = 1, .iterations = 1, .fallbacks = 1, .newton = 1, .substeps = 1}};
    carom_warnings_json(list, warnings, 2);
    const carom_ledger_names all = {.penetration = "floor",
                                    .drift = "joint",
                                    .residual = "wall",
                                    .redundant = "joint 'u': 3 of its constraints are redundant",
                                    .compliant = "pad",
                                    .estimate = "{}",
                                    .warnings = list},
                             none = {0};
    carom_ledger_print(f, &l, all), carom_ledger_print(f, &few, none);
    carom_ledger_print(f, &one, none); // one of each
    few.compliant.overlap = 1e-3, few.energy.impact = 2, few.energy.friction = -0.5;
    carom_ledger_print(f, &few, (carom_ledger_names){.compliant = "pad"}); // none at the start; friction that gives
    few.compliant.overlap = few.energy.impact = few.energy.friction = 0;
    const carom_ledger drifts = {.drift = 1e-9, .energy.identity = NAN};
    // drift without a name, a joint without drift
    carom_ledger_print(f, &drifts, none), carom_ledger_print(f, &few, (carom_ledger_names){.drift = "joint"});
    fputs("{", f), carom_ledger_json(f, &l, all), fputs("}\n{", f), carom_ledger_json(f, &few, none), fputs("}\n", f);
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) carom_json_string(f, words[i]), fputc('\n', f);
    carom_json_string(f, NULL), fputc('\n', f);
    for (int i = -1; i < 52; ++i) {
        const carom_ledger_line line = carom_ledger_line_at(&l, &all, i), empty = carom_ledger_line_at(&few, &none, i);
        fprintf(f, "%d %s %d %d %s %g; %s %g\n", i, line.name ? line.name : "-", line.is_text, line.whole,
                line.text ? "text" : "-", line.value, empty.text ? "text" : "-", fabs(empty.value));
    }
    for (int i = -1; i < 7; ++i)
        fprintf(f, "%s ", carom_event_word((carom_event_kind)i) ? carom_event_word((carom_event_kind)i) : "-");
    fputc('\n', f);
    elements(f);
}

static void letter_by_letter(void **state) {
    (void)state;
    same_letters_of(write_all, CAROM_SOURCE_DIR "/test/ledger.txt");
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(letter_by_letter)};
    if (argc > 1 && strcmp(argv[1], "print") == 0) {
        write_all(stdout);
        return 0;
    }
    return cmocka_run_group_tests_name("texts of ledgers", tests, NULL, NULL);
}
