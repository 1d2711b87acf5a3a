// cmd_lyapunov.c: carom lyapunov: the spectrum of exponents along a motion.
#define _POSIX_C_SOURCE 200809L
#include "base/number.h"
#include "cli/cli.h"
#include "io/json.h"
#include <math.h>

static const cli_option options[] = {
    {"end", 0, "T", "averaging time after the transient (default: the model's end)", false},
    {"transient", 0, "T", "simulate for time T before averaging", false},
    {"step", 0, "H", "time between two orthonormalisations (default: a two-thousandth of the end)", false},
    {"start", 0, "FILE",
     "initial state from `carom equilibrium --save FILE`, from an orbit, or from the last row of a result", false},
    {"scheme", 0, "NAME", "event-driven (default, regardless of the model) or auto", false},
    CLI_OPTION,
    CLI_MODEL,
    {"out", 'o', "FILE.csv", "the exponents as they converge: t, exponent1, ...", false},
    {"json", 0, NULL, "{exponents, errors, sum, t, scheme} as JSON on standard output", false},
    {"quiet", 'q', NULL, "print errors only", false},
    {NULL, 0, NULL, NULL, false},
};

static void print_text(const carom_lyapunov *x, const char *file) {
    enum { SHOWN = 5 }; // rows of the history: chosen, enough to see whether exponents settle
    cli_print("%s: Lyapunov exponents in 1/s over %.9g s, with %s\n  %14s", file, x->t, x->scheme, "until t");
    for (int j = 0; j < x->n; ++j) printf("  %14s%d", "exponent ", j + 1);
    putchar('\n');
    for (int k = 1; k <= SHOWN && x->rows > 0; ++k) {
        const double *row = x->history + (size_t)((x->rows - 1) * k / SHOWN) * (size_t)(1 + x->n);
        printf("  %14.6g", row[0]);
        for (int j = 0; j < x->n; ++j) printf("  %15.8g", row[1 + j]);
        putchar('\n');
    }
    printf("  %14s", "error");
    for (int j = 0; j < x->n; ++j) isfinite(x->error[j]) ? printf("  %15.2g", x->error[j]) : printf("  %15s", "-");
    const bool positive = x->n > 0 && x->exponent[0] > 3 * x->error[0];
    printf("\nsum %.9g; %s\n", x->sum,
           !positive  ? "no positive exponent beyond its error"
           : x->rests ? "the trajectory is an unstable equilibrium"
                      : "the largest is positive: neighbouring motions part; chaos, where the motion is bounded and "
                        "does not repeat itself");
}

static void print_json(const carom_lyapunov *x) {
    fputs("{\"exponents\": ", stdout), carom_json_list(stdout, x->exponent, x->n);
    fputs(", \"errors\": ", stdout), carom_json_list(stdout, x->error, x->n);
    carom_json(stdout, ", \"sum\": %g, \"t\": %g, \"scheme\": %s}\n", x->sum, x->t, x->scheme);
}

static bool write_out(const carom_lyapunov *x, const char *file) {
    whole_file w;
    if (!cli_begin(&w, file)) return false;
    FILE *f = w.f;
    char text[40];
    fputs("t", f);
    for (int j = 0; j < x->n; ++j) fprintf(f, ",exponent%d", j + 1);
    for (int i = 0; i < x->rows; ++i)
        for (int j = 0; j <= x->n; ++j)
            carom_format(text, sizeof text, "%s%.17g", j ? "," : "\n",
                         x->history[(size_t)i * (size_t)(1 + x->n) + (size_t)j]),
                fputs(text, f);
    fputc('\n', f);
    return cli_end(&w, true);
}

static int lyapunov(const cli_args *a, const carom_lyapunov_def *def) {
    carom_lyapunov x;
    carom_error err = {0};
    cli_signals_begin();
    const carom_status status = carom_lyapunov_find(&x, def, &err);
    cli_signals_end();
    const char *out = cli_value(a, "out");
    int code = cli_exit(status);
    if (status != CAROM_OK) cli_say_of(a->word[0], err.text);
    if (out && x.rows > 0 && !write_out(&x, out)) code = CLI_FAILED, out = NULL;
    if (status != CAROM_OK && x.rows > 0)
        cli_say("until t = %.6g the largest exponent is %.6g%s%s", x.t, x.exponent[0],
                out ? "; what was found is in " : "", out ? out : "");
    if (status == CAROM_OK && cli_has(a, "json")) print_json(&x);
    else if (status == CAROM_OK && !cli_has(a, "quiet")) print_text(&x, a->word[0]);
    carom_lyapunov_free(&x);
    return code;
}

static int run(const cli_args *a) {
    carom_lyapunov_def d = {.stop = cli_signals_asked};
    const char *out = cli_value(a, "out");
    d.run = cli_run_given(a);
    if (!cli_duration(a, "end", &d.run.end) || !cli_duration(a, "step", &d.run.step) ||
        !cli_duration(a, "transient", &d.transient) || cli_wants_model(a->word[0]))
        return CLI_USAGE;
    if (out && !carom_ends(out, ".csv")) return cli_say("--out: '%s' does not end in .csv", out), CLI_USAGE;
    if (!cli_writable(out)) return CLI_USAGE;
    cli_source s;
    const bool good = cli_source_pairs(&s, a) && cli_source_start(&s, a);
    d.model = s.def, d.run.options = s.options, d.start = s.start;
    const int code = good ? lyapunov(a, &d) : CLI_USAGE;
    cli_source_free(&s);
    return code;
}

const cli_verb cli_lyapunov = {
    .name = "lyapunov",
    .arguments = "MODEL",
    .about = "compute the Lyapunov spectrum along a trajectory, through impacts, stick and slip",
    .least = 1,
    .most = 1,
    .options = options,
    .run = run,
    .text = "The linearised equations are integrated along the motion and orthonormalised at every step. The sum of "
            "all exponents is the mean rate at which volumes of states\n"
            "grow. Directions eliminated by closed contacts have exponent minus infinity. The errors are those of the "
            "mean over ten parts of the run.",
};
