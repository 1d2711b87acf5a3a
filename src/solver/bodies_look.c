// bodies_look.c: how good impulses of the solver `bodies` are.
#include "solver/bodies.h"

double carom_bodies_push(const task *t, int from, int to) {
    const bodies *w = t->w;
    for (int i = from; i < to; i++) {
        const int b = w->turn[i];
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
        carom_block_map(w->block + b, w->d, t->in, w->u, w->f);
        double slip = 0;
        for (int i = at + 1; i < at + rows; i++) slip += w->f[i] * w->f[i];
        const double own[2] = {fabs(w->f[at]), sqrt(slip)}; // as the certificate measures it
        for (int i = 0; i < 2; i++)
            if (!(own[i] <= most)) most = own[i] < INFINITY ? own[i] : INFINITY;
    }
    if (!(t->most[part] >= most)) t->most[part] = most;
}

static void keep(void *user, int part, int parts) { // the best
    const task *t = user;
    const bodies *w = t->w;
    for (int k = 0, from, to; k < w->colours; k++) {
        own_rows(w, k, part, parts, &from, &to);
        memcpy(w->best + from, t->in + from, (size_t)(to - from) * sizeof *w->best);
    }
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
