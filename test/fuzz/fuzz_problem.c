// fuzz_problem.c: contact problems: files of them, and problems whose laws and directions the input decides.
//
// First byte 0: the rest is a file in carom's text form or in FC01.  Else G = W'W with W of few or many rows (redundant
// contacts), scaled over many orders of magnitude, c = W'v or anything: solvers end, an answer that is called converged
// has the certificate, and where v = 0 is admissible there is an answer.
#include "../problems.h"
#include "contact/residual.h"
#include "fuzz.h"
#include "io/problem_data.h"

static void solve(carom_problem *pb, bool solvable) {
    carom_arena count = {0};
    carom_allocate_chain(&count, pb->n, pb->nb, pb->n, NULL);
    const size_t size = (count.used + 127) & ~(size_t)63;
    carom_arena mem = {.base = aligned_alloc(64, size), .size = size};
    memset(mem.base, 0, size);
    carom_chain *chain = carom_allocate_chain(&mem, pb->n, pb->nb, pb->n, NULL);
    double scale = 0;
    for (int i = 0; i < pb->n; ++i) scale = fmax(scale, fabs(pb->c[i]));
    const carom_report report = carom_chain_solve(chain, pb, 1e-12 * scale);
    int worst;
    const double residual = carom_residual(pb, &worst);
    PROMISE(!report.converged || carom_solved(pb, residual, 1e-12 * scale), "%s: converged with residual %g, scale %g",
            report.solver, residual, scale);
    PROMISE(report.converged || !solvable || residual < 1e-6 * scale || scale == 0,
            "%s: no answer, residual %g, scale %g", report.solver ? report.solver : "none", residual, scale);
    free(mem.base);
}

static void file(const uint8_t *data, size_t size) {
    carom_error err = {0};
    carom_problem_list *list = carom_problems_create();
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = 0;
    const carom_status status = problem_binary_probe(text, size) ? problem_binary_read(list, text, size, "fuzz", &err)
                                                                 : problem_text_read(list, text, size, "fuzz", &err);
    PROMISE(status == CAROM_OK || strlen(err.text) > 5, "refused without a reason");
    for (int i = 0; status == CAROM_OK && i < carom_problems_count(list); ++i)
        if (carom_problems_at(list, i)->n <= 60) solve(carom_problems_at(list, i), false);
    free(text);
    carom_problems_destroy(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    choices c = {data, size};
    const unsigned kind = byte_of(&c);
    if (kind == 0) return file(c.data, c.left), 0;
    const int blocks = 1 + below(&c, 6), dof = 1 + below(&c, 8);
    contact_problem x = problem_create((1 + CAROM_TANGENTS) * blocks, blocks);
    for (int b = 0; b < blocks; ++b) {
        const unsigned law = byte_of(&c);
        problem_add(&x, (carom_law)(law % (kind & 2 ? 4 : 2)), law > 200 ? 0 : 0.01 * law);
    }
    const int n = x.pb.n;
    double W[8 * 6 * (1 + CAROM_TANGENTS)], w[8], v[8];
    for (int i = 0; i < dof * n; ++i) W[i] = kind & 4 && below(&c, 3) ? 0 : real_of(&c);
    for (int i = 0; i < dof; ++i) w[i] = kind & 8 ? pow(10, 6 * real_of(&c)) : 1, v[i] = real_of(&c);
    problem_from_directions(&x, dof, W, W, w, v);
    x.pb.symmetric = true;
    // v = 0 satisfies all laws of c = W'v, so there is a solution.
    solve(&x.pb, !(kind & 8));
    problem_destroy(&x);
    return 0;
}
