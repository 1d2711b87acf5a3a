// play.c: one period of a mode as a result.
#include "dynamics/dynamics.h"
#include "scheme/advice.h"
#include <carom/event.h>
#include <carom/result.h>
#include <math.h>
#include <stdlib.h>

static const double SHOWN = 0.05, SMALLEST = 1e-3; // of the size of the model: amplitude; m: the size of a model whose
                                                   // coordinates are all 0

enum { FRAMES = 120 }; // two seconds of 60 pictures

typedef struct play {
    const carom_modes *modes;
    const carom_mode *mode;
    const carom_system *sys;
    double scale, omega;
    double *q, *v, *x, *gap;
} play;

// q = q_0 moved by s Re(phi exp(i w t)); growth and decay are left out.
static void place(play *p, double t) {
    const int nv = p->sys->nv;
    const double c = p->scale * cos(p->omega * t), s = p->scale * sin(p->omega * t);
    const double *re = p->mode->shape, *im = re + nv;
    for (int i = 0; i < nv; ++i) {
        p->x[i] = c * re[i] - s * im[i];
        p->v[i] = p->omega * (-s * re[i] - c * im[i]);
    }
    if (p->sys->move) p->sys->move(p->sys->model, p->q, p->modes->q, 1, p->x);
    else carom_add(p->q, p->modes->q, 1, p->x, nv);
}

static carom_status frames(play *p, carom_sim *sim, carom_record *record, double h, carom_error *err) {
    carom_now now = carom_sim_now(sim);
    const int n = p->sys->ne + p->sys->nc;
    now.q = p->q, now.v = p->v, now.gap = p->gap;
    for (now.step = 1; now.step <= FRAMES; ++now.step) {
        now.t = h * (double)now.step;
        place(p, now.t);
        carom_zero(p->gap, n);
        if (n > 0 && p->sys->gaps(p->sys->model, carom_sim_work(sim), now.t, p->q, p->gap) != CAROM_OK)
            return carom_fail(err, CAROM_USER,
                              "the gaps of the model have no finite value in this mode; give a smaller `scale`");
        const carom_status status = carom_record_step(record, &now);
        if (status != CAROM_OK) return *err = *carom_record_error(record), status;
    }
    return carom_record_finish(record, "done", NULL, err);
}

carom_status carom_modes_play(const carom_modes *modes, int k, const carom_play_def *def, carom_error *err) {
    carom_error own = {0};
    if (!err) err = &own;
    if (!modes || k < 0 || k >= modes->count || !def || !def->model || !def->file)
        return carom_fail(err, CAROM_BAD_INPUT, "a mode, its model or the name of a file is missing");
    const carom_system *sys = carom_model_system(def->model);
    const carom_mode *mode = &modes->mode[k];
    play p = {.modes = modes,
              .mode = mode,
              .sys = sys,
              .omega = mode->frequency > 0 ? hypot(mode->re, mode->im) : 6.283185307179586};
    p.scale = def->scale > 0 ? def->scale : SHOWN * fmax(carom_norm_max(modes->q, sys->nq), SMALLEST);
    const double period = 6.283185307179586 / p.omega, h = period / FRAMES;
    double *block = calloc((size_t)sys->nq + 2 * (size_t)sys->nv + (size_t)(sys->ne + sys->nc), sizeof *block);
    if (!block) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a mode");
    p.q = block, p.v = p.q + sys->nq, p.x = p.v + sys->nv, p.gap = p.x + sys->nv;
    place(&p, 0);
    carom_sim_def sd = carom_sim_default();
    sd.system = sys, sd.schemes = carom_schemes(), sd.scheme = CAROM_SCHEME_OF_MODES;
    sd.h = h, sd.t_end = period, sd.q0 = p.q, sd.v0 = p.v;
    carom_sim *sim = carom_sim_create(&sd, err);
    carom_record_def rd = carom_record_default();
    rd.model = def->model, rd.sim = sim, rd.file = def->file, rd.step = h, rd.end = period, rd.every = 1;
    rd.text = def->text, rd.length = def->length, rd.model_file = def->model_file, rd.set = def->set;
    carom_record *record = sim ? carom_record_create(&rd, err) : NULL;
    const carom_status status = record ? frames(&p, sim, record, h, err) : err->code;
    carom_record_destroy(record);
    carom_sim_destroy(sim);
    free(block);
    return status;
}
