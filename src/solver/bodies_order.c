// bodies_order.c: the order of contacts in the solver `bodies`, and which thread has which.
//
// Contacts are ordered by colour, and within a colour by the lower of their bodies: the bits depend on this order, and
// it on the problem alone.  A thread owns a range of bodies and the contacts whose lower body is among them, in every
// loop the same: so its half of the problem stays in its own cache.
#include "base/team.h"
#include "solver/bodies.h"

bool carom_bodies_factor(const double *F, int n, double *L) {
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double sum = F[i + j * n];
            for (int k = 0; k < j; k++) sum -= L[i + k * n] * L[j + k * n];
            if (i == j && !(sum > 0)) return false;
            L[i + j * n] = i == j ? sqrt(sum) : sum / L[j + j * n];
        }
    return true;
}

// Each contact gets the first colour that no other contact of its bodies has; those that get none come last.  low: the
// lower body of each; a contact that acts on none belongs to the first.  Counts contacts and rows of each colour.
static void colour_contacts(bodies *w, unsigned char *colour, int *low, int *contacts, int *rows) {
    const carom_parts *x = w->given->parts;
    unsigned long long *used = (unsigned long long *)(void *)w->y; // by body; scratch
    memset(used, 0, (size_t)x->bodies * sizeof *used);
    for (int b = 0; b < w->nb; b++) {
        const int own = carom_rows_of(w->given->block + b), first = x->first[b], end = x->first[b + 1];
        unsigned long long taken = 0;
        int k = 0, least = first < end ? x->link_body[first] : 0;
        for (int l = first; l < end; l++) {
            taken |= used[x->link_body[l]];
            if (x->link_body[l] < least) least = x->link_body[l];
        }
        while (k < COLOURS && taken >> k & 1) k++;
        for (int l = first; l < end && k < COLOURS; l++) used[x->link_body[l]] |= 1ull << k;
        colour[b] = (unsigned char)k;
        low[b] = least;
        contacts[k]++, rows[k] += own;
    }
}

// Contacts by their lower body, which stands in low; bodies are divided so that threads have equally many contacts.
static void order_by_body(const bodies *w, const int *low, int *by_body) {
    const carom_parts *x = w->given->parts;
    const int parts = w->team ? w->team->n : 1;
    int *start = w->start, part = 1;
    memset(start, 0, ((size_t)x->bodies + 1) * sizeof *start);
    for (int b = 0; b < w->nb; b++) start[low[b] + 1]++;
    w->own[0] = 0;
    for (int i = 0; i < x->bodies; i++) {
        for (; part < parts && start[i] >= (int)((long)w->nb * part / parts); part++) w->own[part] = i;
        start[i + 1] += start[i];
    }
    for (; part <= parts; part++) w->own[part] = x->bodies;
    for (int b = 0; b < w->nb; b++) by_body[start[low[b]]++] = b;
}

// Where the contacts of a colour begin whose lower body is `body` or above.
static int first_from(const bodies *w, const int *lower, int colour, int body) {
    int low = w->colour[colour], high = w->colour[colour + 1];
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (lower[w->from[middle]] < body) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void order(bodies *w) {
    unsigned char *colour = (unsigned char *)(void *)w->t;
    int *low = w->order, *by_body = w->at, contacts[COLOURS + 1] = {0}, rows[COLOURS + 1] = {0}, at = 0, row = 0;
    colour_contacts(w, colour, low, contacts, rows);
    order_by_body(w, low, by_body);
    w->colours = 0;
    for (int k = 0; k <= COLOURS; k++) {
        const int n = contacts[k], m = rows[k];
        w->colour[k] = contacts[k] = at, rows[k] = row;
        at += n, row += m;
        if (n) w->colours = k + 1;
    }
    w->colour[COLOURS + 1] = w->nb;
    for (int i = 0; i < w->nb; i++) {
        const int old = by_body[i], k = colour[old], b = contacts[k]++;
        const carom_block *block = w->given->block + old;
        w->from[b] = old;
        w->block[b] = (carom_block){block->law, rows[k], block->mu};
        rows[k] += carom_rows_of(block);
    }
    for (int k = 0; k < w->colours && w->team; k++)
        for (int part = 0; part <= w->team->n; part++)
            w->cut[k * (CAROM_TEAM + 1) + part] =
                part < w->team->n ? first_from(w, low, k, w->own[part]) : w->colour[k + 1];
}

// a M^-1 = L L' of each body, whose part stands in w->start; L in w->diagonal.
static void factor_bodies(task *t, int part_of, int parts) {
    bodies *w = t->w;
    const carom_parts *x = w->given->parts;
    int from, to;
    own_bodies(w, part_of, parts, &from, &to);
    for (int i = from; i < to; i++) {
        const int part = w->start[i], n = x->part[part + 1] - x->part[part];
        const double *inverse = x->inverse + x->inverse_at[part];
        double F[SIZE * SIZE] = {0};
        for (int k = 0; k < n && n <= SIZE && x->only_diagonal; k++) F[k * (n + 1)] = x->scale * inverse[k];
        for (int k = 0; k < n * n && n <= SIZE && !x->only_diagonal; k++) F[k] = x->scale * inverse[k];
        if (n > SIZE || !carom_bodies_factor(F, n, w->diagonal + SIZE * SIZE * (size_t)i)) t->most[part_of] = INFINITY;
    }
}

// (CP-6) where all G_ii are positive; false: they are not.
static bool scale_rows(const bodies *w, int b) {
    const int rows = carom_rows_of(w->block + b);
    const double *g = w->G[b];
    double *d = w->d + w->block[b].at, most = 0;
    bool all = true;
    for (int i = 0; i < rows; i++) {
        d[i] = g[i * (rows + 1)];
        all = all && d[i] > 0;
        if (i > 0 && d[i] > most) most = d[i];
    }
    for (int i = 1; i < rows && rows > 2; i++) d[i] = most;
    return all;
}

// The same where some are not.
static void scale_anew(const bodies *w) {
    carom_problem_scales(
        &(carom_problem){
            .n = w->n, .nb = w->nb, .block = w->given->block, .rows = w->given->rows, .parts = w->given->parts},
        w->x);
    for (int b = 0; b < w->nb; b++)
        memcpy(w->d + w->block[b].at, w->x + w->given->block[w->from[b]].at,
               (size_t)carom_rows_of(w->block + b) * sizeof *w->d);
}

// J = A L of a contact, and what else is known of it.  False: it acts on more than two bodies.
static bool fill_contact(bodies *w, int b) {
    const carom_parts *x = w->given->parts;
    const int at = w->block[b].at, rows = carom_rows_of(w->block + b), first = x->first[w->from[b]],
              old = w->given->block[w->from[b]].at;
    double *J = w->J + 2 * SIZE * (size_t)at;
    for (int i = 0; i < rows; i++) w->c[at + i] = w->given->c[old + i], w->z[at + i] = w->given->p[old + i];
    w->G[b] = carom_own_block(w->given, w->from[b]);
    memset(J, 0, 2 * SIZE * (size_t)rows * sizeof *J);
    w->of[2 * b] = w->of[2 * b + 1] = -1;
    for (int l = first; l < x->first[w->from[b] + 1]; l++) {
        const int part = x->link_part[l], n = x->part[part + 1] - x->part[part], ld = x->ld ? x->ld : n;
        if (l - first == 2) return false;
        const double *A = x->A + x->link_at[l], *L = w->diagonal + SIZE * SIZE * (size_t)x->link_body[l];
        double *to_J = J + (l - first) * SIZE * rows;
        w->of[2 * b + l - first] = x->link_body[l];
        for (int r = 0; r < rows; r++)
            for (int j = 0; j < n; j++)
                for (int i = j; i < n; i++) to_J[r * SIZE + j] += A[r * ld + i] * L[i + j * n];
    }
    return true;
}

static const double SCALES = 1; // what a thread found: some scale is not positive

static void fill_rows(task *t, int part, int parts) {
    OWN_CONTACTS(t->w, part, parts, b) {
        if (!fill_contact(t->w, b)) t->most[part] = INFINITY;
        if (!scale_rows(t->w, b)) t->most[part] = fmax(t->most[part], SCALES);
    }
}

void carom_bodies_list(void *user, int part, int parts) {
    const task *t = user;
    bodies *w = t->w;
    int from, to, at = 0, *fill = (int *)(void *)w->y_old; // by body; scratch
    own_bodies(w, part, parts, &from, &to);
    for (int i = from; i < to; i++) fill[i] = 0;
    for (int k = 0; k < 2 * w->nb; k++) {
        const int i = w->of[k];
        if (i >= from && i < to) fill[i]++;
        at += i >= 0 && i < from;
    }
    for (int i = from, n; i < to; i++, at += n) n = fill[i], w->start[i] = fill[i] = at;
    if (part + 1 == parts) w->start[to] = at;
    for (int k = 0; k < 2 * w->nb; k++)
        if (w->of[k] >= from && w->of[k] < to) w->at[fill[w->of[k]]++] = k;
}

// Bodies of a thread on which contacts of others act, those with a lower body below its own.
static void find_shared(const bodies *w, int part, int parts) {
    int from, to;
    own_bodies(w, part, parts, &from, &to);
    memset(w->shared + from, 0, (size_t)(to - from) * sizeof *w->shared);
    for (int b = 0; b < w->nb; b++)
        for (int s = 0; s < 2; s++) {
            const int own = w->of[2 * b + s], other = w->of[2 * b + 1 - s];
            if (own >= from && own < to && other >= 0 && other < from) w->shared[own] = true;
        }
}

// Of each colour the contacts of a thread that touch shared bodies, then the others; those behind the last colour as
// they come: one thread has them all.
static void list_turns(const bodies *w, int part, int parts) {
    for (int k = 0; k < w->colours; k++) {
        int from, to, *middle = w->middle + k * (CAROM_TEAM + 1) + part;
        own_contacts(w, k, part, parts, &from, &to);
        *middle = from;
        for (int inner = 0; inner < 2; inner++)
            for (int b = from, *turn = w->order + *middle; b < to; b++) {
                bool shared = false;
                for (int s = 0; s < 2 && parts > 1 && k < COLOURS; s++)
                    shared = shared || (w->of[2 * b + s] >= 0 && w->shared[w->of[2 * b + s]]);
                if (shared == inner) continue;
                *turn++ = b;
                *middle += !inner;
            }
    }
}

double carom_bodies_in_order(const task *t, int part, int parts, int *step,
                             double (*visit)(const task *t, int from, int to)) {
    const bodies *w = t->w;
    carom_team *team = w->team;
    const int colours = w->colours < COLOURS ? w->colours : COLOURS;
    double most = 0;
    if (parts == 1) return visit(t, 0, w->nb);
    team->signal(team, part, ++*step);
    for (int k = 0; k < colours; k++) {
        const int middle = w->middle[k * (CAROM_TEAM + 1) + part];
        int from, to;
        own_contacts(w, k, part, parts, &from, &to);
        if (middle > from) {
            team->wait(team, part, *step);
            most = fmax(most, visit(t, from, middle));
        }
        team->signal(team, part, ++*step);
        if (middle < to) most = fmax(most, visit(t, middle, to));
    }
    meet(w, part, parts, step);
    if (w->colours <= COLOURS) return most;
    if (part == 0) most = fmax(most, visit(t, w->colour[COLOURS], w->nb)); // these may share bodies
    meet(w, part, parts, step);
    return most;
}

static void begin(void *user, int part, int parts) {
    task *t = user;
    int step = 0;
    factor_bodies(t, part, parts);
    meet(t->w, part, parts, &step);
    fill_rows(t, part, parts);
    meet(t->w, part, parts, &step);
    find_shared(t->w, part, parts);
    meet(t->w, part, parts, &step);
    list_turns(t->w, part, parts);
}

bool carom_bodies_begin(bodies *w) {
    const carom_parts *x = w->given->parts;
    task t = {.w = w};
    w->count = x->bodies;
    order(w);
    memset(w->start, 0, (size_t)w->count * sizeof *w->start);
    for (int l = 0; l < x->first[w->nb]; l++) w->start[x->link_body[l]] = x->link_part[l];
    carom_team_run(w->team, begin, &t);
    if (!(largest(&t) < INFINITY)) return false;
    if (largest(&t) == SCALES) scale_anew(w);
    return true;
}
