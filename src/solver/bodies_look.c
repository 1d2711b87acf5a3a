// bodies_look.c: how good impulses of the solver `bodies` are.
#include "base/team.h"
#include "solver/bodies.h"

double carom_bodies_push(const task *t, int from, int to) {
    const bodies *w = t->w;
    for (int i = from; i < to; i++) {
        const int b = w->order[i];
        contact_add(w, b, carom_rows_of(w->block + b), t->in + w->block[b].at, t->out);
    }
    return 0;
}

static void judge(task *t, int part, int parts) {
    const bodies *w = t->w;
    double most = 0;
    OWN_CONTACTS(w, part, parts, b) {
        const int at = w->block[b].at, rows = carom_rows_of(w->block + b);
        for (int i = at; i < at + rows; i++) w->u[i] = w->c[i];
        contact_take(w, b, rows, t->out, w->u + at);
        const carom_block alone = {w->block[b].law, 0, w->block[b].mu};
        double slip = 0, f[1 + CAROM_TANGENTS];
        carom_block_map(&alone, w->d + at, t->in + at, w->u + at, f);
        for (int i = 1; i < rows; i++) slip += f[i] * f[i];
        const double own[2] = {fabs(f[0]), sqrt(slip)}; // as the certificate measures it
        for (int i = 0; i < 2; i++)
            if (!(own[i] <= most)) most = own[i] < INFINITY ? own[i] : INFINITY;
    }
    if (!(t->most[part] >= most)) t->most[part] = most;
}

static void keep(void *user, int part, int parts) { // the best, in the order of the given problem
    const task *t = user;
    const bodies *w = t->w;
    OWN_CONTACTS(w, part, parts, b)
    memcpy(given_rows(w, b, w->given->p), t->in + w->block[b].at, (size_t)carom_rows_of(w->block + b) * sizeof *t->in);
}

static void look(void *user, int part, int parts) {
    task *t = user;
    int from, to, step = 0;
    own_bodies(t->w, part, parts, &from, &to);
    memset(t->out + SIZE * (size_t)from, 0, SIZE * (size_t)(to - from) * sizeof *t->out);
    carom_bodies_in_order(t, part, parts, &step, carom_bodies_push);
    judge(t, part, parts);
}

double carom_bodies_look(bodies *w, const double *p, double *y) {
    task t = {.w = w, .in = p, .out = y};
    carom_team_run(w->team, look, &t);
    const double error = largest(&t);
    if (error < w->error) {
        w->error = error;
        carom_team_run(w->team, keep, &t);
    }
    return error;
}
