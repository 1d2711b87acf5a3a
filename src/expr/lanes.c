// lanes.c: a tape as text for many systems at once.
//
// The text is C in terms of the type `real` (a vector of systems, or one) and of functions T(name) of that type.  What
// depends on parameters alone is not computed again and again: it is a number where no parameter in it differs between
// systems, and otherwise a place of the array k, which carom_lane_write_constants() fills once.
#include "expr/graph.h"
#include "expr/lanes.h"
#include "expr/native.h"
#include "expr/value.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SINES = 4 }; // that are computed together

typedef struct writer {
    const carom_lane *lane;
    const carom_lane_names *names;
    carom_write_text *write;
    void *user;
    bool *live; // by slot: somebody reads it
    bool once;  // the constants: parameters are p[], nothing is in k yet
    const carom_instruction *sine[SINES]; // read, but not written yet
    int nsines;
} writer;

static void put(const writer *w, const char *text) { w->write(w->user, text, strlen(text)); }

static const char *form_of(int op) {
    const char *form = NULL;
    switch (op) {
#define X(name, value, lanes) case CAROM_OP_##name: form = lanes; break;
    CAROM_PLAIN(X)
#undef X
    }
    return form ? form : carom_native_form(op);
}

// -- what is known --------------------------------------------------------------------------------------------

enum { COMPUTED = -1, KNOWN = -2 }; // of carom_lane.place; else the place in k

static bool input_of(const carom_tape *t, int slot, carom_input *kind, int *index) {
    const int n[] = {1, t->nq, t->nv, t->nparameters};
    static const carom_input kinds[] = {CAROM_TIME, CAROM_POSITION, CAROM_VELOCITY, CAROM_PARAMETER};
    for (int k = 0; k < 4; slot -= n[k++])
        if (slot < n[k]) return *kind = kinds[k], *index = slot, true;
    return false;
}

static bool of_parameters(const carom_segment *g) { return g->class <= CAROM_CLASS_PARAMETER; }

// Does an instruction of parameters read something that differs between systems?
static bool differs(const carom_lane *l, const carom_instruction *i, const bool *varies) {
    int slot[6];
    for (int e = 0, n = carom_native_reads(i, slot); e < n; ++e) {
        carom_input kind;
        int index;
        if (input_of(l->tape, slot[e], &kind, &index)
                ? kind == CAROM_PARAMETER && varies[index]
                : l->place[slot[e]] == COMPUTED && !carom_native_number_in(l->tape, slot[e]))
            return true;
    }
    return false;
}

static void keep(carom_lane *l, int slot) {
    carom_input kind;
    int index;
    if (!input_of(l->tape, slot, &kind, &index) && !carom_native_number_in(l->tape, slot) &&
        l->place[slot] == COMPUTED && l->constant[slot])
        l->place[slot] = l->nk++;
}

carom_status carom_lane_open(carom_lane *l, const carom_tape *tape, const bool *varies, const double *parameter,
                             int nk) {
    const size_t n = (size_t)tape->nslots + 1;
    void *work = calloc(1, carom_tape_work_size(tape));
    *l = (carom_lane){.tape = tape,
                      .nk = nk,
                      .place = calloc(n, sizeof *l->place),
                      .known = calloc(n, sizeof *l->known),
                      .constant = calloc(n, sizeof *l->constant)};
    const bool good = work && l->place && l->known && l->constant;
    if (good) {
        carom_tape_work_init(tape, work, parameter);
        double *zero = calloc(n, sizeof *zero);
        const double *slot = zero ? carom_tape_values(tape, work, 0, 0, zero, zero).slot : NULL;
        if (slot) memcpy(l->known, slot, (size_t)tape->nslots * sizeof *slot);
        free(zero);
        for (int x = 0; x < tape->nslots; ++x) l->place[x] = COMPUTED;
        for (int s = 0; s < tape->nsegments; ++s)
            for (int k = 0; k < tape->segment[s].count; ++k) {
                const carom_instruction *i = tape->code + tape->segment[s].first + k;
                int out[2], in[6];
                l->pairs = l->pairs || carom_native_of_pairs(i->op);
                if (of_parameters(&tape->segment[s])) {
                    const bool varied = differs(l, i, varies);
                    for (int e = 0, count = carom_native_writes(i, out); e < count; ++e)
                        l->constant[out[e]] = true, l->place[out[e]] = varied ? COMPUTED : KNOWN;
                } else {
                    for (int e = 0, count = carom_native_reads(i, in); e < count; ++e) keep(l, in[e]);
                }
            }
        const int groups = tape->ngroups,
                  outputs = groups ? tape->group[groups - 1].first + tape->group[groups - 1].count : 0;
        for (int k = 0; k < outputs; ++k) keep(l, tape->output[k]);
    }
    free(work);
    return good ? CAROM_OK : CAROM_NO_MEMORY;
}

void carom_lane_close(carom_lane *l) {
    free(l->place);
    free(l->known);
    free(l->constant);
    *l = (carom_lane){0};
}

// -- text ---------------------------------------------------------------------------------------------------------

// whole: where `real` is wanted, not a number of one system.
static void put_argument(const writer *w, int slot, bool whole) {
    const carom_lane *l = w->lane;
    char text[CAROM_SLOT_NAME], number[CAROM_NUMBER_TEXT];
    const double *value = carom_native_number_in(l->tape, slot);
    carom_input kind;
    int index;
    if (input_of(l->tape, slot, &kind, &index)) {
        const bool is_real = w->names->input(w->names->user, kind, index, text);
        PUT(w, whole && !is_real ? "T(of)(%s)" : "%s", text);
        return;
    }
    if (!value && l->place[slot] == KNOWN) value = &l->known[slot];
    if (value) {
        carom_native_number(*value, number);
        PUT(w, whole ? "T(of)(%s)" : "%s", number);
    } else if (!w->once && l->place[slot] >= 0) {
        PUT(w, "k[%d]", l->place[slot]);
    } else {
        PUT(w, "s%d", slot);
    }
}

// Sines and cosines that wait together: arguments first, so that they are computed side by side.
static void put_sines(writer *w) {
    const int n = w->nsines, name = n ? w->sine[0]->dst : 0;
    if (n == 0) return;
    PUT(w, "    real x%d[%d], y%d[%d], z%d[%d];\n", name, n, name, n, name, n);
    for (int k = 0; k < n; ++k) {
        PUT(w, "    x%d[%d] = ", name, k);
        put_argument(w, w->sine[k]->a, true);
        put(w, ";\n");
    }
    PUT(w, "    T(sincos)(%d, x%d, y%d, z%d, %s);\n", n, name, name, name, w->names->far ? "far" : "0");
    for (int k = 0; k < n; ++k)
        PUT(w, "    const real s%d = y%d[%d], s%d = z%d[%d];\n", w->sine[k]->dst, name, k, w->sine[k]->b, name, k);
    w->nsines = 0;
}

static bool waits_for(const writer *w, const carom_instruction *i) {
    int in[6];
    for (int e = 0, n = carom_native_reads(i, in); e < n; ++e)
        for (int k = 0; k < w->nsines; ++k)
            if (in[e] == w->sine[k]->dst || in[e] == w->sine[k]->b) return true;
    return false;
}

static void put_instruction(writer *w, const carom_instruction *i) {
    if (w->nsines == SINES || waits_for(w, i)) put_sines(w);
    if (i->op == CAROM_TAPE_SINCOS) {
        w->sine[w->nsines++] = i;
        return;
    }
    const int arg[4] = {i->a, i->b, i->c, i->d};
    const char *form = form_of(i->op);
    const bool called = form[0] == 'T';
    PUT(w, "    const real s%d = ", i->dst);
    for (const char *c = form; *c; ++c) {
        const int k = *c - 'A';
        if (called && c == form) put(w, "T");
        else if (k >= 0 && k < 4) put_argument(w, arg[k], called);
        else w->write(w->user, c, 1);
    }
    put(w, ";\n");
}

static bool is_live(const writer *w, const carom_instruction *i) {
    int out[2];
    bool live = false;
    for (int e = 0, n = carom_native_writes(i, out); e < n; ++e) live = live || w->live[out[e]];
    return live;
}

// Backwards: what is read by somebody who is read.
static void trace(writer *w, bool constants) {
    const carom_tape *t = w->lane->tape;
    for (int s = t->nsegments - 1; s >= 0; --s)
        for (int k = t->segment[s].count - 1; k >= 0 && of_parameters(&t->segment[s]) == constants; --k) {
            const carom_instruction *i = t->code + t->segment[s].first + k;
            int in[6];
            if (is_live(w, i))
                for (int e = 0, n = carom_native_reads(i, in); e < n; ++e) w->live[in[e]] = true;
        }
}

static void put_live(writer *w, bool constants) {
    const carom_tape *t = w->lane->tape;
    for (int s = 0; s < t->nsegments; ++s)
        for (int k = 0; k < t->segment[s].count && of_parameters(&t->segment[s]) == constants; ++k) {
            const carom_instruction *i = t->code + t->segment[s].first + k;
            int out[2];
            carom_native_writes(i, out);
            if (is_live(w, i) && w->lane->place[out[0]] != KNOWN) put_instruction(w, i);
        }
    put_sines(w);
}

carom_status carom_lane_write_group(const carom_lane *l, int group, const carom_lane_names *names, bool whole,
                                    carom_write_text *write, void *user) {
    writer w = {.lane = l,
                .names = names,
                .write = write,
                .user = user,
                .live = calloc((size_t)l->tape->nslots + 1, sizeof *w.live),
                .once = whole};
    if (!w.live) return CAROM_NO_MEMORY;
    const carom_outputs *o = &l->tape->group[group];
    char text[CAROM_SLOT_NAME];
    for (int k = 0; k < o->count; ++k)
        if (names->output(names->user, k, text)) w.live[l->tape->output[o->first + k]] = true;
    trace(&w, false);
    if (whole) trace(&w, true), put_live(&w, true);
    put_live(&w, false);
    for (int k = 0; k < o->count; ++k) {
        if (!names->output(names->user, k, text)) continue;
        PUT(&w, "    %s = ", text);
        put_argument(&w, l->tape->output[o->first + k], true);
        put(&w, ";\n");
    }
    free(w.live);
    return CAROM_OK;
}

carom_status carom_lane_write_constants(const carom_lane *l, const carom_lane_names *names, carom_write_text *write,
                                        void *user) {
    writer w = {.lane = l,
                .names = names,
                .write = write,
                .user = user,
                .live = calloc((size_t)l->tape->nslots + 1, sizeof *w.live),
                .once = true};
    if (!w.live) return CAROM_NO_MEMORY;
    for (int x = 0; x < l->tape->nslots; ++x) w.live[x] = l->place[x] >= 0;
    trace(&w, true);
    put_live(&w, true);
    for (int x = 0; x < l->tape->nslots; ++x)
        if (l->place[x] >= 0) PUT(&w, "    k[%d] = s%d;\n", l->place[x], x);
    free(w.live);
    return CAROM_OK;
}
