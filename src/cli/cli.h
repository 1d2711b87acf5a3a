// cli.h: the program's own vocabulary: verbs, their options, exit statuses.
//
// A verb is a const table: parsing, --help and every complaint about usage come from it.
#pragma once
#include "base/text.h"
#include "io/print.h"
#include "io/whole.h"
#include <carom/carom.h>
#include <carom/result.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/// Numbers are printed with nine digits: what differs by less than this part looks the same.
#define CLI_DIGITS 1e-9

// exit status (docs/reference-cli.md); 130: 128 + SIGINT, as of shells
enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_CHECK = 3, CLI_INTERRUPTED = 130 };

typedef struct cli_option {
    const char *name;  // without the dashes; the list ends at NULL
    char letter;       // short form, 0: none
    const char *value; // what the value is called in help; NULL: a flag; [one|two]: one of these words, or none
    const char *about;
    bool repeat;       // may be given several times
} cli_option;

typedef struct cli_args cli_args;

typedef struct cli_verb {
    const char *name, *arguments, *about;
    const char *text;   // more, for --help; NULL: none
    int least, most;    // number of arguments
    const cli_option *options;
    const char *const *settings;   // NULL-terminated pairs: a setting of the library, the option that gives it; NULL:
                                   // all have the same names
    int (*run)(const cli_args *a); // exit status
} cli_verb;

typedef struct cli_given { int option; const char *value; } cli_given;

struct cli_args {
    const cli_verb *verb;
    const cli_verb *const *verbs; // of the program, NULL after the last
    int n;             // arguments that are not options
    const char **word;
    int ngiven;
    cli_given *given;
};

#define CLI_VERB(name) extern const cli_verb cli_##name;
#include "cli/verbs.def"
#undef CLI_VERB

// options.c
/// Parse argv[0 .. argc) for a verb.  False: complained, or *help is set and it is the help that is wanted.
bool cli_parse(cli_args *a, const cli_verb *verb, int argc, char **argv, bool *help);
void cli_free(cli_args *a);
bool cli_has(const cli_args *a, const char *option);
const char *cli_value(const cli_args *a, const char *option); // NULL: not given
/// All values of a repeatable option, NULL-terminated; to be freed.
const char **cli_list(const cli_args *a, const char *option);
/// The same with commas between names: "a,b" and "c" become a, b, c; both to be freed, the texts are in *own.
const char **cli_names(const cli_args *a, const char *option, char **own);
/// The parts of a text between separators, NULL-terminated, empty ones left out; cuts the text up.  To be freed.
const char **cli_split(char *own, char separator);
/// A finite number above 0; false: complained.  Leaves *x alone when the option is not given.
bool cli_positive(const cli_args *a, const char *option, double *x);
bool cli_number(const cli_args *a, const char *option, double *x);
bool cli_whole(const cli_args *a, const char *option, long most, long *n); // from 1
/// A time in s, "0.002" or "2 ms"; a duration is above 0.
bool cli_time(const cli_args *a, const char *option, double *x);
bool cli_duration(const cli_args *a, const char *option, double *x);
/// The same of --end and --step, whose expressions stay with the model, where they follow what is varied: *x is left
/// alone.  cli_settings(): the list of --set and these expressions, NULL-terminated; to be freed.
bool cli_run_duration(const cli_args *a, const char *option, double *x);
const char **cli_settings(const cli_args *a);
/// Is this a name, or something to compute?  Does the option give its time by such a text?
bool cli_is_expression(const char *text);
bool cli_by_expression(const cli_args *a, const char *option);
bool cli_read_time(const char *option, const char *text, double *x);
void cli_verb_help(FILE *f, const cli_verb *verb);
/// Words between columns `indent`, where the line already is, and 100; an empty line begins a paragraph.
void cli_wrap(FILE *f, const char *text, int indent);

// say.c
/// Settings that messages name in backquotes, as `end`, are named as options of this verb from now on: --end.
void cli_say_as(const cli_verb *verb);
/// `carom: ` and a sentence, on standard error.
void cli_say(const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 1, 2)))
#endif
    ;
/// A sentence that starts with its place, as file:line:column, on standard error.
void cli_say_at(const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 1, 2)))
#endif
    ;
/// printf() for texts that come from files or arguments: escaped for a terminal.
void cli_print(const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 1, 2)))
#endif
    ;

// text.c
/// The whole file, NUL behind it; NULL: complained.
char *cli_read_file(const char *file, size_t *length);
/// The same without a word of its own; NULL: `err` says why.
char *cli_load_file(const char *file, size_t *length, carom_error *err);
/// Are these two names of one file that exists?
bool cli_same_file(const char *a, const char *b);
/// The name of a file without folders, its ending (when it is one of those given) replaced; to be freed.
char *cli_rename(const char *file, const char *const *endings, const char *ending);
/// "; did you mean 'x'?" or "" in a buffer of the caller.
const char *cli_suggest(char *buffer, size_t size, const char *word, const char *(*next)(const void *user, int i),
                        const void *user);
/// What --matrix NAME=FILE gives; false: complained.  To be freed.
typedef struct cli_matrices { carom_matrix_text *list; int n; } cli_matrices;
bool cli_matrices_read(const cli_args *a, cli_matrices *m);
void cli_matrices_free(cli_matrices *m);
#define CLI_INPUT                                                                                                      \
    {                                                                                                                  \
        "input", 0, "NAME=SIGNAL",                                                                                     \
            "signal for a model input: a number, an expression of t, or a CSV file of times and values", true          \
    }
#define CLI_OPTION {"option", 0, "KEY=VALUE", "an option of the scheme or contact solver", true}
#define CLI_SET                                                                                                        \
    {                                                                                                                  \
        "set", 0, "NAME=VALUE",                                                                                        \
            "override a parameter of the model, or an initial value: x, x' of a coordinate, b.x, b.vx, b.angle of a "  \
            "body; the value may be an expression",                                                                    \
            true                                                                                                       \
    }
#define CLI_MATRIX {"matrix", 0, "NAME=FILE", "Matrix Market file for a matrix named in the model", true}
#define CLI_MODEL CLI_SET, CLI_INPUT, CLI_MATRIX // what a model may be given
#define CLI_COMPILE                                                                                                    \
    {                                                                                                                  \
        "compile", 0, "auto|on|off",                                                                                   \
            "compile the model to machine code with $CC or cc; results are bit-identical. "                            \
            "auto (default): when the run is long enough to gain time",                                                \
            false                                                                                                      \
    }
/// What --compile says; false: complained.
bool cli_compile_mode(const cli_args *a, carom_compile_mode *mode);
/// Compile the model so, for a number of evaluations; false: complained.
bool cli_compile(carom_model *m, carom_compile_mode mode, double evaluations);
/// A model from a file, with overrides and matrices; NULL: complained.  *text is to be freed after the model.
carom_model *cli_model(const char *file, const char *const *set, const carom_matrix_text *matrices, int nmatrices,
                       char **text, size_t *length);
/// The model that a verb is about, as its file, --set, --input and --matrix give it, and what a run of it may have:
/// --option, --start.
typedef struct cli_source {
    carom_model_def def;
    carom_model *model;      // NULL before cli_source_model()
    const char **options;    // of --option
    double *start, *signals; // of --start: positions and velocities, and signals behind them; NULL: not given
    const char **set;
    char *text;
    cli_matrices matrices;
} cli_source;
/// False: complained.  To be freed in either case.
bool cli_source_read(cli_source *s, const cli_args *a);
/// The same, and the model is made.
bool cli_source_model(cli_source *s, const cli_args *a);
/// The same for commands that need every contact as a formula (carom_model_def.pairs).
bool cli_source_read_pairs(cli_source *s, const cli_args *a);
bool cli_source_pairs(cli_source *s, const cli_args *a);
/// Files in "NAME=VALUE,INPUT=FILE.csv", besides those of --set and --input; false: complained.
bool cli_signal_files(cli_source *s, const char *settings);
/// The state of --start, if it is given; false: complained.
bool cli_source_start(cli_source *s, const cli_args *a);
void cli_source_free(cli_source *s);
/// What the command line gives a run: the scheme of --scheme, and nothing else yet.
carom_run_given cli_run_given(const cli_args *a);
/// The exit status of a search that ends so.
int cli_exit(carom_status status);
/// A sentence about a file, behind its name unless it begins with that.
void cli_say_of(const char *file, const char *text);
/// The same about the model, and where the best state so far is, if there is one and --save keeps it.
void cli_say_best(const cli_args *a, const char *text, bool best);
/// Signal i of controllers; an output on its way has the name of the output, and is not shown.
const char *cli_signal_name(const carom_model *m, int i);
bool cli_signal_shown(const carom_model *m, int i);
/// The state in a file for the model, positions, velocities, then signals, to be freed; NULL: complained.
double *cli_state(const carom_model *m, const char *file);
/// Where in the model's file stands what a simulation was refused for: its scheme, or one of its options; NULL: not
/// there. named: the scheme and the options come from the file's simulation section.
const char *cli_blame(const carom_model *m, bool named, carom_status failure);
/// Is this file no model (no result)?  Then says so and which verb takes it; true: said.
bool cli_wants_model(const char *file);
bool cli_wants_result(const char *file);
bool cli_wants_sweep(const char *file);
/// whole_open() and whole_close(); false: complained.
bool cli_begin(whole_file *w, const char *file);
bool cli_end(whole_file *w, bool good);
/// Can a file of this name be written?  Tries it and leaves nothing behind; NULL and - can.  False: complained.
bool cli_writable(const char *file);

// signals.c: a flag that the step loop may look at for nothing, raised ten times a second and by SIGINT, SIGTERM.
extern volatile sig_atomic_t cli_attention;
void cli_signals_begin(void);
void cli_signals_end(void);
/// Lower the flag; true: somebody wants the run to stop.
bool cli_signals_take(void);
bool cli_signals_asked(const void *unused); // for carom_sim_stop_when
double cli_clock(void); // s, monotonic

// progress.c: a live line on standard error, when that is a terminal.
typedef struct cli_progress { bool on, shown; double start, from, step_t; long steps; } cli_progress;
typedef struct cli_live {
    const char *name;     // of what goes on; NULL: t
    double t, energy;     // energy not finite: not shown
    long steps, impacts;
    int closed, contacts; // contacts that push, of all
} cli_live;
cli_progress cli_progress_begin(bool wanted, double fraction);
bool cli_progress_due(const cli_progress *p); // is it worth asking how things are?
void cli_progress_show(cli_progress *p, double fraction, const cli_live *l);
void cli_progress_end(cli_progress *p);

// dump.c: the hardest contact problems of a run into a file.
typedef struct cli_dump cli_dump;
cli_dump *cli_dump_begin(carom_sim *sim, const char *file);
bool cli_dump_end(cli_dump *d); // writes the file; false: complained

// examples (generated at build time)
typedef struct cli_example { const char *name; const unsigned char *text; size_t length; } cli_example;
extern const cli_example cli_example_table[]; // ends at name NULL
/// Its first comment line, or its name.
void cli_example_about(const cli_example *e, char *text, size_t size);
