// nasty.h: models that could keep a scheme busy for ever, and runs of them with their events counted.
#pragma once
#include "model_text.h"
#include <carom/event.h>

static const char nasty_grazing[] = "carom: 1\nname: grazing\nparameters: {d: 0}\ncoordinates: {x: {at: 1}}\n"
                                    "energy: {kinetic: 1/2*x'^2, potential: 1/2*x^2}\n"
                                    "contacts: {stop: {gap: x + 1 + d, restitution: 0.5}}\n";
static const char nasty_corner[] =
    "carom: 1\nname: corner\ncoordinates: {x: {at: 1}, y: {at: 1}}\n"
    "energy: {kinetic: 1/2*(x'^2 + y'^2), potential: 2*(x + y)}\ncontact defaults: {restitution: 0.5}\n"
    "contacts: {left: {gap: x}, ground: {gap: y}}\n";
static const char nasty_chain[] =
    "carom: 1\nname: chain\ncoordinates: {a: {rate: 1}, b: {at: 1}, c: {at: 1}, d: {at: 1}}\n"
    "energy: {kinetic: 1/2*(a'^2 + b'^2 + c'^2 + d'^2), potential: 0*a}\ncontact defaults: {restitution: 1}\n"
    "contacts: {ab: {gap: b - a}, bc: {gap: c - b}, cd: {gap: d - c}}\n";
static const char nasty_ball[] =
    "carom: 1\nname: ball\nparameters: {e: 0}\ncoordinates: {x: {at: 0.2}}\n"
    "energy: {kinetic: 1/2*x'^2, potential: 10*x}\ncontacts: {ground: {gap: x, restitution: e}}\n";
static const char nasty_wedged[] =
    "carom: 1\nname: none\ncoordinates: {x: {}}\nenergy: {kinetic: 1/2*x'^2, potential: 0*x}\n"
    "forces: {x: cos(3*t)}\n"
    "contact defaults: {restitution: 0.5}\ncontacts: {one: {gap: x}, two: {gap: -x}}\n";
static const char nasty_block[] =
    "carom: 1\nname: block\ncoordinates: {y: {at: 1}, th: {at: 0.2}}\n"
    "energy: {kinetic: 1/2*y'^2 + 13/96*th'^2, potential: 9.81*y}\n"
    "contacts:\n  right: {gap: y - 0.75*cos(th) + 0.5*sin(th)}\n  left: {gap: y - 0.75*cos(th) - 0.5*sin(th)}\n";
static const char nasty_feet[] =
    "carom: 1\nname: feet\nparameters: {mu: 0.5, tilt: 0.3, push: 0}\ncoordinates: {x: {}, y: {at: 0.75}, th: {}}\n"
    "energy: {kinetic: 1/2*(x'^2 + y'^2) + 13/96*th'^2, potential: 10*(cos(tilt)*y - sin(tilt)*x)}\n"
    "forces: {x: push*t}\ncontact defaults: {friction: mu, restitution: 0.5}\ncontacts:\n"
    "  right: {gap: y - 0.75*cos(th) + 0.5*sin(th), slip: x + 0.75*sin(th) + 0.5*cos(th)}\n"
    "  left: {gap: y - 0.75*cos(th) - 0.5*sin(th), slip: x + 0.75*sin(th) - 0.5*cos(th)}\n";
static const char nasty_valve[] =
    "carom: 1\nname: valve\ncoordinates: {x: {}}\nenergy: {kinetic: 1/2*x'^2, potential: 50*(x + 0.1)^2}\n"
    "forces: {x: \"-0.5*x' + 12*max(sin(8*t), 0) + 3*sin(31*t)\"}\ncontacts: {seat: {gap: x, restitution: 0.6}}\n";
static const char nasty_squeezed[] =
    "carom: 1\nname: squeezed\ncoordinates: {x: {at: 0.5}}\nenergy: {kinetic: 1/2*x'^2, potential: x}\n"
    "contact defaults: {restitution: 0.5}\ncontacts: {low: {gap: x}, high: {gap: 1 - t - x}}\n";

typedef struct result {
    carom_model *model;
    carom_sim *sim;
    carom_status status;
    carom_error err;
    carom_ledger l;
    int count[6];   // events by kind
    double last[6]; // time of the last of each kind
} result;

static inline result nasty_model(const char *text, const char *const *set) {
    result r = {.status = CAROM_OK};
    r.model = carom_model_create(&(carom_model_def){.text = text, .length = strlen(text), .file = "m.yaml", .set = set},
                                 &r.err);
    if (!r.model) fail_msg("%s", r.err.text);
    return r;
}

/// To the end, or until it fails, in at most this number of steps.
static inline void nasty_run(result *r, const carom_sim_def *def, int most) {
    r->sim = carom_sim_create(def, &r->err);
    if (!r->sim) fail_msg("%s", r->err.text);
    for (int n = 0; r->status == CAROM_OK && !carom_sim_done(r->sim); ++n) {
        if (n == most) fail_msg("%s: %d steps and still at t = %.9g", def->scheme, n, carom_sim_now(r->sim).t);
        r->status = carom_sim_step(r->sim, &r->err);
        const carom_now now = carom_sim_now(r->sim);
        for (int i = 0; r->status == CAROM_OK && i < now.nevents; ++i) {
            r->count[now.events[i].kind] += 1;
            r->last[now.events[i].kind] = now.events[i].t;
        }
    }
    carom_error err;
    assert_int_equal(carom_sim_ledger(r->sim, &r->l, &err), CAROM_OK);
}

static inline void end(result *r) {
    carom_sim_destroy(r->sim);
    carom_model_destroy(r->model);
}

static inline double q(const result *r, int i) { return carom_sim_now(r->sim).q[i]; }
