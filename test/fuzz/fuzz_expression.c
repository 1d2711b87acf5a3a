// fuzz_expression.c: any text is an expression or a sentence with its place; derivatives and tapes of it exist.
#include "expr/expr.h"
#include "fuzz.h"
#include <math.h>

static carom_node lookup(void *user, carom_graph *g, const char *name, size_t length, int primes, carom_error *err) {
    (void)user, (void)err;
    if (length == 1 && (*name == 'x' || *name == 'y') && primes < 2)
        return carom_graph_input(g, primes ? CAROM_VELOCITY : CAROM_POSITION, *name - 'x');
    if (length == 1 && *name == 't' && primes == 0) return carom_graph_input(g, CAROM_TIME, 0);
    return length == 1 && *name == 'p' && primes == 0 ? carom_graph_input(g, CAROM_PARAMETER, 0) : CAROM_NONE;
}

// How far two ways to one value may be apart: rounding of the largest value on the way.  Infinite where one of those is
// not finite: a comparison or a quotient can hide that, and 0*x is 0 for the graph whatever x is.
static double rounding(const double *work, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; ++i) most = isfinite(work[i]) ? fmax(most, fabs(work[i])) : INFINITY; // and stays so
    return 1e-12 * most;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const carom_scope scope = {lookup, NULL, NULL};
    carom_error err = {0};
    size_t offset = 0;
    if (size > 2000) return 0;
    carom_graph *g = carom_graph_create();
    const carom_node x = carom_parse(g, (const char *)data, size, &scope, &offset, &err);
    PROMISE(x != CAROM_NONE || (strlen(err.text) > 5 && offset <= size), "byte %zu of %zu: '%s'", offset, size,
            err.text);
    if (x != CAROM_NONE) {
        const carom_node nodes[] = {x,
                                    carom_graph_diff(g, x, CAROM_POSITION, 0),
                                    carom_graph_diff(g, x, CAROM_VELOCITY, 1),
                                    carom_graph_diff(g, x, CAROM_TIME, 0),
                                    carom_graph_at_rest(g, x),
                                    carom_graph_substitute(g, x, CAROM_POSITION, 1, carom_graph_number(g, 0.5))};
        enum { N = sizeof nodes / sizeof *nodes };
        bool all = !carom_graph_failed(g);
        for (int i = 0; i < N; ++i) all = all && nodes[i] != CAROM_NONE;
        carom_tape *tape =
            all ? carom_tape_compile(g, &(carom_group){.count = N, .nodes = nodes}, 1, 2, 2, 1, &err) : NULL;
        if (tape) {
            const double q[] = {0.3, -0.7}, q_1[] = {0.3, 0.5}, v[] = {1.1, 0.2}, still[] = {0, 0}, p = 2;
            double out[N], again[N], other[N];
            const size_t bytes = (carom_tape_work_size(tape) + 63) / 64 * 64;
            void *work = aligned_alloc(64, bytes);
            memset(work, 0, bytes);
            carom_tape_work_init(tape, work, &p);
            carom_tape_eval(tape, work, 0, 0.4, q, v, out);
            carom_tape_eval(tape, work, 0, 0.4, q_1, v, other); // y = 0.5, as was put in its place
            PROMISE(!(fabs(other[0] - out[5]) > 1e-9 * fabs(out[5]) + rounding(work, bytes / sizeof(double))),
                    "%.17g and %.17g", other[0], out[5]);
            carom_tape_eval(tape, work, 0, 0.4, q, still, other);
            PROMISE(!(fabs(other[0] - out[4]) > 1e-9 * fabs(out[4]) + rounding(work, bytes / sizeof(double))),
                    "%.17g and %.17g", other[0], out[4]);
            carom_tape_eval(tape, work, 0, 0.4, q, v, again);
            PROMISE(memcmp(out, again, sizeof out) == 0, "the same point, other bits");
            free(work);
        }
        carom_tape_destroy(tape);
    }
    carom_graph_destroy(g);
    return 0;
}
