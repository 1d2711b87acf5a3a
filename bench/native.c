// native.c: the yardstick's slider-crank as a carom_system, so that the engine can be timed without the tape.
#include "native.h"
#include "yardstick.h"
#include <string.h>

// Callbacks of carom come one by one, at the same point mostly; sines and cosines are kept per point.
typedef struct memory { double q[3], trig[6]; int filled; } memory;

static const double *at(void *work, const double *q) {
    memory *m = work;
    if (!m->filled || memcmp(m->q, q, sizeof m->q) != 0) {
        memcpy(m->q, q, sizeof m->q);
        m->filled = 1;
        yardstick_slider.at(yardstick_slider.user, m->trig, q);
    }
    return m->trig;
}

static carom_status mass(const void *model, void *work, double t, const double *q, carom_matrix M) {
    (void)model, (void)t;
    yardstick_slider.mass(yardstick_slider.user, at(work, q), M.a);
    return CAROM_OK;
}

static carom_status force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)model, (void)t;
    yardstick_slider.force(yardstick_slider.user, at(work, q), v, f);
    return CAROM_OK;
}

static carom_status gaps(const void *model, void *work, double t, const double *q, double *g) {
    (void)model, (void)t;
    yardstick_slider.gaps(yardstick_slider.user, at(work, q), g);
    return CAROM_OK;
}

static carom_status directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)model, (void)t;
    for (int b = 0; b < L->nb; ++b)
        yardstick_slider.direction(yardstick_slider.user, at(work, q), L->id[b], L->W.a + 3 * L->at[b]);
    return CAROM_OK;
}

carom_system native_slider(void) {
    static const carom_contact corner[4] = {
        {.restitution = 0.4}, {.restitution = 0.4}, {.restitution = 0.4}, {.restitution = 0.4}};
    carom_system sys = carom_system_default(3, 3, 0, 4);
    sys.flags = CAROM_TIMELESS_GAPS;
    sys.contacts = corner;
    sys.work_size = sizeof(memory);
    sys.mass = mass;
    sys.force = force;
    sys.gaps = gaps;
    sys.directions = directions;
    return sys;
}
