// test_skins.c: shapes of flexible members: skins and rounds at their points.
#include "model_text.h"
#include "poses.h"

#define BEAM                                                                                                           \
    "{type: exact beam, length: 1, elements: 4, density: 1000, area: 1e-3, inertia: 1e-7, modulus: 1e7, shear "        \
    "modulus: 4e6, points: {mid: 0.4}"
#define SPACE                                                                                                          \
    "{type: spatial beam, length: 1, elements: 4, density: 1000, area: 1e-3, inertia: [1e-7, 1e-7], torsion: 2e-7, "   \
    "modulus: 1e9, shear modulus: 4e8, direction: [0, 1, 0]"

#define ROD                                                                                                            \
    "{type: spatial beam, length: 0.6, elements: 3, density: 1000, area: 1e-3, inertia: [1e-7, 1e-7], torsion: 2e-7, " \
    "modulus: 1e9, shear modulus: 4e8"
#define SHAFT                                                                                                          \
    "{type: shaft, length: 0.5, elements: 3, radius: 0.01, density: 7850, modulus: 2.1e11, shear modulus: 8e10, "      \
    "gravity: [0, 0, -9.81], rate: {rx: 50}}"

static void note(void *user, carom_finding kind, const char *sentence) {
    if (kind == CAROM_FINE) return;
    print_message("    %s\n", sentence);
    ++*(int *)user;
}

static carom_sim *run(const carom_model *m, const char *scheme, double h, double end) {
    carom_sim *sim = model_sim(m, scheme, NULL, h, end);
    model_sim_run(sim);
    return sim;
}

static void derivatives_agree_with_differences(void **state) {
    (void)state;
    static const char *const texts[] = {
        "carom: 1\nflexible: {b: " BEAM
        "}}\nbodies: {ball: {mass: 1, inertia: 0.01, at: [0.6, 0.3], spin: 3, shape: {circle: 0.1}}}\n"
        "shapes: {hide: {skin: 0.02, of: b}}\ncontacts: {c: {between: [ball, hide], friction: 0.3}}\n",
        "carom: 1\nflexible: {b: " BEAM
        "}}\nbodies: {block: {mass: 1, inertia: 0.01, at: [0.6, 0.4], angle: 0.3, shape: {box: [0.3, 0.2]}}}\n"
        "shapes: {hide: {skin: 0.02, of: b}, knob: {circle: 0.05, of: b.mid}, f: {plane: [0, 1], at: [0, -0.3]}}\n"
        "contacts: {c: {between: [hide, block], friction: 0.3}, k: {between: [knob, block], friction: 0.3}, g: "
        "{between: [f, hide], friction: 0.1}}\n",
        "carom: 1\nflexible: {b: " SPACE "}}\nbodies: {ball: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0.1, 0.6, 0.3], "
                                         "spin: [1, 2, 3], shape: {sphere: 0.1}}}\n"
        "shapes: {hide: {skin: 0.02, of: b}, journal: {sphere: 0.02, of: b.start}, bush: {bore: 0.03, axis: [0, 1, 0], "
        "at: [0.005, 0, 0.002]}}\n"
        "contacts: {c: {between: [ball, hide], friction: 0.3}, j: {between: [journal, bush], friction: 0.3}}\n",
        "carom: 1\nflexible: {b: " SHAFT
        "}\nshapes: {journal: {sphere: 0.01, of: b.start}, bush: {bore: 0.0102, axis: [1, 0, 0], at: [0, 1e-4, 0]}}\n"
        "contacts: {j: {between: [journal, bush], friction: 0.1}}\n",
        "carom: 1\nflexible: {b: " ROD ", origin: [0, 0, 0.1]}, c: " ROD
        ", origin: [0.3, -0.2, 0], direction: [0.2, 1, 0.1]}}\n"
        "bodies: {block: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0.5, 0.1, 0.3], axis: [1, 2, 3], angle: 0.8, spin: "
        "[1, 2, 3], shape: {box: [0.3, 0.2, 0.1]}},\n"
        "         stick: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0.4, 0.1, -0.2], axis: [1, 2, 3], angle: 0.8, shape: "
        "{capsule: [0.03, 0.2]}},\n"
        "         drum: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0.1, 0.1, -0.2], axis: [1, 2, 3], angle: 0.8, shape: "
        "{cylinder: [0.1, 0.2]}}}\n"
        "shapes: {hide: {skin: 0.02, of: b}, other: {skin: 0.03, of: c}}\n"
        "contacts: {c: {between: [[other, block, stick, drum], hide], friction: 0.3}}\n",
        "carom: 1\nflexible: {b: " BEAM ", origin: [0, 0.3]}, c: " BEAM
        ", direction: [0.98, 0.2]}}\nshapes: {hide: {skin: 0.02, of: b}, other: {skin: 0.03, of: c}}\n"
        "contacts: {c: {between: [other, hide], friction: 0.3}}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        carom_model *m = good(texts[i]);
        carom_error err = {0};
        int found = 0;
        assert_int_equal(carom_model_examine(m, note, &found, &err), 0);
        carom_model_destroy(m);
    }
}

// A skin of no more than a line's width falls on a plane like the nodes do by `along`.
static void a_skin_on_a_plane_is_its_nodes(void **state) {
    (void)state;
    static const char *const contact[2] = {
        "shapes: {hide: {skin: 0.01, of: b}, f: {plane: [0, 1], at: [0, -0.05]}}\ncontacts: {g: {between: [hide, f], "
        "friction: 0.2}}\n",
        "contacts: {g: {along: b, gap: b.y + 0.05 - 0.01, slip rate: b.x' + 0.01*b.angle', friction: 0.2}}\n"};
    double q[2][15];
    for (int k = 0; k < 2; ++k) {
        char text[700];
        snprintf(text, sizeof text,
                 "carom: 1\nflexible: {b: " BEAM ", gravity: [3, -9.81], rate: {angle: 1, y: 0.3*s}}}\n%s", contact[k]);
        carom_model *m = good(text);
        carom_sim *sim = run(m, "moreau-jean", 5e-4, 0.3);
        memcpy(q[k], carom_sim_now(sim).q, sizeof q[k]);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
    for (int i = 0; i < 15; ++i) assert_close(q[0][i], q[1][i], 1e-9);
    assert_true(q[0][1] < -0.0399 && q[0][1] > -0.042); // it lies there
}

// A journal at the end of a shaft: the sphere in a bore, and the same written out.  Friction brakes the shaft.
static void a_journal_of_a_shaft_runs_in_its_bore(void **state) {
    (void)state;
    static const char *const contact[3] = {
        "shapes: {j: {sphere: 0.01, of: b.start}, bush: {bore: 0.0102, axis: [1, 0, 0], at: [0, 1e-4, 0]}}\ncontacts: "
        "{c: {between: [j, bush]}}\n",
        "contacts: {c: {gap: 2e-4 - sqrt((b.start.y - 1e-4)^2 + b.start.z^2)}}\n",
        "shapes: {j: {sphere: 0.01, of: b.start}, bush: {bore: 0.0102, axis: [1, 0, 0], at: [0, 1e-4, 0]}}\ncontacts: "
        "{c: {between: [j, bush], friction: 0.2}}\n"};
    double q[3][20], spin[3];
    for (int k = 0; k < 3; ++k) {
        char text[900];
        snprintf(text, sizeof text,
                 "carom: 1\nflexible: {b: " SHAFT "}\nenergy: {potential: 1e5*(b.end.v^2 + b.end.w^2)}\n%s",
                 contact[k]);
        carom_model *m = good(text);
        carom_sim *sim = run(m, "half-explicit", 2e-6, 0.02);
        memcpy(q[k], carom_sim_now(sim).q, sizeof q[k]);
        spin[k] = carom_sim_now(sim).v[2];
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
    for (int i = 0; i < 20; ++i) assert_close(q[0][i], q[1][i], 1e-9);
    assert_close(spin[0], 50, 1e-6);
    assert_true(spin[2] < 49.99);
}

// -- distances in space -----------------------------------------------------------------------------------------------

typedef double to_point(const void *user, const double *p);

// The distance from a straight piece: along it a convex function.
static double from_piece(const double *a, const double *b, to_point *f, const void *user) {
    double lo = 0, hi = 1, d = 0;
    for (int k = 0; k < 120; ++k) {
        double at[2] = {lo + (hi - lo) / 3, hi - (hi - lo) / 3}, y[2];
        for (int i = 0; i < 2; ++i) {
            const double p[3] = {a[0] + at[i] * (b[0] - a[0]), a[1] + at[i] * (b[1] - a[1]),
                                 a[2] + at[i] * (b[2] - a[2])};
            y[i] = f(user, p);
        }
        if (y[0] < y[1]) hi = at[1];
        else lo = at[0];
        d = fmin(y[0], y[1]);
    }
    return d;
}

// of a box, or of the line of a capsule; round: of a cylinder
typedef struct body_at { const double *q; double half[3], round; } body_at;

static double to_box(const void *user, const double *p) {
    const body_at *x = user;
    pose at;
    pose_of(x->q, &at);
    double sum = 0, y[3] = {0};
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) y[j] += at.R[3 * i + j] * (p[i] - at.r[i]);
    if (x->round > 0) return hypot(fmax(0, hypot(y[0], y[1]) - x->round), fmax(0, fabs(y[2]) - x->half[2]));
    for (int j = 0; j < 3; ++j) sum += pow(fmax(0, fabs(y[j]) - x->half[j]), 2);
    return sqrt(sum);
}

enum { NODES = 4 };
typedef double polyline[NODES][3];

static double to_piece(const void *user, const double *p) {
    const double *x = user, *y = x + 3; // its ends follow each other
    double dd = 0, pd = 0, sum = 0;
    for (int i = 0; i < 3; ++i) dd += (y[i] - x[i]) * (y[i] - x[i]), pd += (p[i] - x[i]) * (y[i] - x[i]);
    const double s = fmax(0, fmin(1, pd / dd));
    for (int i = 0; i < 3; ++i) sum += pow(p[i] - x[i] - s * (y[i] - x[i]), 2);
    return sqrt(sum);
}

static double rest(unsigned *seed) { // -1 .. 1
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608.0 - 1;
}

static void nodes_of(polyline x, const double *q, double y) {
    for (int k = 0; k < NODES; ++k) {
        x[k][0] = 0.2 * k + q[6 * k];
        x[k][1] = y + q[6 * k + 1];
        x[k][2] = q[6 * k + 2];
    }
}

static void the_smallest_gap_of_a_skin_in_space_is_its_distance(void **state) {
    (void)state;
    static const struct {
        const char *other; double half[3], round, radius;
    } cases[] = {{"{box: [0.3, 0.2, 0.1]}", {0.15, 0.1, 0.05}, 0, 0},
                 {"{capsule: [0.03, 0.4]}", {0, 0, 0.2}, 0, 0.03},
                 {"{cylinder: [0.15, 0.2]}", {0, 0, 0.1}, 0.15, 0},
                 {NULL, {0}, 0, 0.01}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
        char text[1200];
        if (cases[c].other)
            snprintf(text, sizeof text,
                     "carom: 1\nflexible: {b: " ROD
                     "}}\nbodies: {a: {mass: 1, inertia: [1, 1, 1], at: [0.3, 0, 0.5], shape: %s}}\n"
                     "shapes: {hide: {skin: 0.05, of: b}}\ncontacts: {c: {between: [hide, a]}}\n",
                     cases[c].other);
        else
            snprintf(text, sizeof text,
                     "carom: 1\nflexible: {b: " ROD "}, c: " ROD ", origin: [0, 0.15, 0]}}\n"
                     "shapes: {hide: {skin: 0.05, of: b}, other: {skin: 0.01, of: c}}\ncontacts: {c: {between: [hide, "
                     "other]}}\n");
        carom_model *m = good(text);
        const carom_system *s = carom_model_system(m);
        void *work = work_of(m);
        unsigned seed = 11 + (unsigned)c;
        int compared = 0;
        for (int pose = 0; pose < 300; ++pose) {
            double q[60], v[60], g[200], least = HUGE_VAL, d = HUGE_VAL;
            const int nb = cases[c].other ? 7 : 0;
            for (int i = 0; i < s->nv; ++i) v[i] = 0.1 * rest(&seed);
            for (int i = 0; i < 6 && nb; ++i) v[i] = (i < 3 ? 0.25 : 3) * rest(&seed);
            if (nb) v[2] -= 0.25;
            if (s->move) s->move(s->model, q, carom_model_q0(m), 1, v);
            else carom_add(q, carom_model_q0(m), 1, v, s->nv);
            polyline x, y;
            nodes_of(x, q + nb, 0);
            if (!nb) nodes_of(y, q + 6 * NODES, 0.15);
            body_at b = {q, {cases[c].half[0], cases[c].half[1], cases[c].half[2]}, cases[c].round};
            for (int k = 0; k + 1 < NODES; ++k)
                for (int l = 0; l + 1 < (nb ? 2 : NODES); ++l)
                    d = fmin(d, from_piece(x[k], x[k + 1], nb ? to_box : to_piece,
                                           nb ? (const void *)&b : (const void *)y[l]));
            assert_int_equal(s->gaps(s->model, work, 0, q, g), CAROM_OK);
            for (int i = 0; i < s->nc; ++i) least = fmin(least, g[i]);
            if (d < 1e-3) continue; // middle lines inside: what the depth is, is another matter
            const double gap = d - 0.05 - cases[c].radius;
            assert_true(least <= gap + 1e-9);
            if (least > 0.05) continue; // it may be the bound of far pairs
            ++compared;
            assert_close(least, gap, 1e-9);
        }
        assert_true(compared > 20);
        free(work);
        carom_model_destroy(m);
    }
}

// A rod of rubber falls across the top of a block, with nodes beyond its edges only: pieces hang on the edges.
static void a_rod_lies_across_a_block(void **state) {
    (void)state;
    static const char *const schemes[] = {"moreau-jean", "newmark", "generalized-alpha", "hht"};
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; ++k) {
        carom_model *m = good(
            "carom: 1\nflexible: {b: {type: spatial beam, length: 0.9, elements: 3, density: 1000, area: 1e-4, "
            "inertia: [8e-10, 8e-10], torsion: 1.6e-9, modulus: 1e8,\n"
            "  shear modulus: 4e7, origin: [-0.45, 0.02, 0.06], gravity: [0, 0, -9.81], damping: {stiffness: 0.02}}}\n"
            "shapes: {hide: {skin: 0.005, of: b}, block: {box: [0.2, 0.2, 0.1], axis: [0, 0, 1], angle: "
            "0.1}}\ncontacts: {c: {between: [hide, block], friction: 0.5}}\n");
        carom_sim *sim = run(m, schemes[k], 1e-3, 1);
        const double *q = carom_sim_now(sim).q, *v = carom_sim_now(sim).v;
        // The middle piece lies on the edges, 0.1 below its middle line; the free ends hang lower than its nodes.
        for (int i = 1; i < 3; ++i) assert_close(0.06 + q[6 * i + 2], 0.055, 1e-3);
        assert_true(q[2] < q[8] - 1e-3 && q[20] < q[14] - 1e-3);
        for (int i = 6; i < 18; ++i)
            if (i % 6 < 3) assert_close(v[i], 0, 1e-6);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// Momentum of a rod and what falls on it: the reactions on nodes add up to the one on the body.
static void a_stick_on_a_rod_keeps_momentum(void **state) {
    (void)state;
    static const char *const shapes[] = {"{capsule: [0.03, 0.4], axis: [0, 1, 0]}",
                                         "{box: [0.1, 0.4, 0.1], axis: [1, 0, 0], angle: 0.4}",
                                         "{cylinder: [0.05, 0.4], axis: [0, 1, 0.1]}"};
    for (size_t c = 0; c < sizeof shapes / sizeof *shapes; ++c) {
        char text[900];
        snprintf(text, sizeof text,
                 "carom: 1\nflexible: {b: " ROD ", mass: lumped}}\n"
                 "bodies: {a: {mass: 0.5, inertia: [0.01, 0.01, 0.01], at: [0.33, 0.02, 0.2], velocity: [0.5, 0.1, "
                 "-2], spin: [0.1, 0.2, 3], shape: %s}}\n"
                 "shapes: {hide: {skin: 0.02, of: b}}\ncontacts: {c: {between: [a, hide], friction: 0.3, restitution: "
                 "0.5}}\n",
                 shapes[c]);
        carom_model *m = good(text);
        double before[3] = {0.25, 0.05, -1}, after[3] = {0};
        carom_sim *sim = run(m, "moreau-midpoint", 2e-5, 0.1);
        const double *v = carom_sim_now(sim).v;
        for (int i = 0; i < 3; ++i) {
            after[i] = 0.5 * v[i];
            for (int k = 0; k < NODES; ++k) after[i] += 0.2 * (k % 3 ? 1 : 0.5) * v[6 + 6 * k + i];
        }
        carom_ledger ledger;
        carom_error err;
        assert_int_equal(carom_sim_ledger(sim, &ledger, &err), CAROM_OK);
        assert_true(ledger.impacts > 0);
        for (int i = 0; i < 3; ++i) assert_close(after[i], before[i], 1e-10);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// A free beam and a ball: reactions act at one point of each.
static void a_ball_on_a_skin_keeps_momentum(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\nflexible: {b: " BEAM ", mass: lumped}}\n"
                          "bodies: {ball: {mass: 0.5, inertia: 0.01, at: [0.65, 0.3], velocity: [0.5, -2], spin: 5, "
                          "shape: {circle: 0.1}}}\n"
                          "shapes: {hide: {skin: 0.02, of: b}}\ncontacts: {c: {between: [ball, hide], friction: 0.3, "
                          "restitution: 0.5}}\n");
    const carom_system *s = carom_model_system(m);
    double before[2], after[2];
    for (int k = 0; k < 2; ++k) {
        carom_sim *sim = run(m, "moreau-midpoint", 1e-5, k ? 0.3 : 1e-5);
        const double *v = carom_sim_now(sim).v;
        double *x = k ? after : before;
        const int b = s->nv - 15; // bodies come first
        x[0] = 0.5 * v[0], x[1] = 0.5 * v[1];
        for (int i = 0; i < 5; ++i) {
            const double mass = 0.25 * (i % 4 ? 1 : 0.5), *u = v + b + 3 * i;
            x[0] += mass * u[0];
            x[1] += mass * u[1];
        }
        if (k) {
            carom_ledger ledger;
            carom_error err;
            assert_int_equal(carom_sim_ledger(sim, &ledger, &err), CAROM_OK);
            assert_true(ledger.impacts > 0);
        }
        carom_sim_destroy(sim);
    }
    for (int i = 0; i < 2; ++i) assert_close(after[i], before[i], 1e-10);
    carom_model_destroy(m);
}

// A floating member has shapes at its points only; the message says so, and what it proposes is accepted.
static void floating_members_have_no_skin(void **state) {
    (void)state;
    static const struct { const char *shape, *message; } cases[] = {
        {"{skin: 0.1, of: b}",
         "member 'b' has a floating frame, and only its points can have shapes: {circle: RADIUS, of: b.end}"},
        {"{circle: 0.1, of: b}", "{circle: RADIUS, of: b.end}"},
        {"{circle: 0.1, of: b.end}", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[700];
        carom_error err = {0};
        snprintf(text, sizeof text,
                 "carom: 1\nflexible: {b: {type: beam, frame: floating, length: 1, elements: 2, density: 1000, area: "
                 "1e-3, inertia: 1e-7, modulus: 1e7}}\nshapes: {x: %s}\n",
                 cases[i].shape);
        carom_model *m = model_of(text, &err);
        if (!m != !!cases[i].message || (cases[i].message && !strstr(err.text, cases[i].message)))
            fail_msg("%s: %s", cases[i].shape, m ? "was taken" : err.text);
        carom_model_destroy(m);
    }
}

static void wrong_skins_are_refused_with_the_place(void **state) {
    (void)state;
    static const struct { const char *shape, *contact, *message; } cases[] = {
        {"{skin: 0.1}", "", "belongs to a flexible member"},
        {"{skin: 0.1, of: c}", "", "unknown body or flexible member 'c'"},
        {"{skin: 0.1, of: b.end}", "", "covers all of 'b'"},
        {"{skin: -0.1, of: b}", "", "must be positive, got -0.1"},
        {"{circle: 0.1, of: b}", "", "is a whole member"},
        {"{circle: 0.1, of: b.mod}", "", "has no point 'mod'; did you mean 'mid'?"},
        {"{box: [1, 1], of: b.mid}", "", "no box"},
        {"{circle: 0.1, of: b.mid, at: [0, 1]}", "", "remove `at`"},
        {"{skin: 0.1, of: b}", "{between: [x, knob]}", "belong to one member"},
        {"{skin: 0.1, of: b}", "{between: [x, x]}", "belong to one member"},
        {"{skin: 0.1, of: b}", "{between: [x, tight]}", "has no clearance"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[700];
        carom_error err = {0};
        snprintf(text, sizeof text,
                 "carom: 1\nflexible: {b: " BEAM
                 "}}\nshapes: {x: %s, knob: {circle: 0.1, of: b.end}, tight: {slot: [0.05, 2]}}\ncontacts: {%s%s}\n",
                 cases[i].shape, *cases[i].contact ? "c: " : "", cases[i].contact);
        carom_model *m = model_of(text, &err);
        if (m || !strstr(err.text, cases[i].message))
            fail_msg("%s %s: %s", cases[i].shape, cases[i].contact, m ? "was taken" : err.text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_agree_with_differences),
        cmocka_unit_test(a_skin_on_a_plane_is_its_nodes),
        cmocka_unit_test(a_journal_of_a_shaft_runs_in_its_bore),
        cmocka_unit_test(a_ball_on_a_skin_keeps_momentum),
        cmocka_unit_test(the_smallest_gap_of_a_skin_in_space_is_its_distance),
        cmocka_unit_test(a_rod_lies_across_a_block),
        cmocka_unit_test(a_stick_on_a_rod_keeps_momentum),
        cmocka_unit_test(floating_members_have_no_skin),
        cmocka_unit_test(wrong_skins_are_refused_with_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
