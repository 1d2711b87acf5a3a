// test_set.c: parameters that are changed in a model give the bits of a model that is made with them.
#include "linalg/matrix.h"
#include "model_text.h"

#ifndef CAROM_SHIPPED
#define CAROM_SHIPPED "" // names of models/, one space each; from CMake
#endif

typedef struct list { double *x; size_t n, room; } list;

static void put(list *l, const double *x, size_t n) {
    if (l->n + n > l->room) {
        l->room = 2 * (l->n + n);
        l->x = realloc(l->x, l->room * sizeof *l->x);
        assert_non_null(l->x);
    }
    if (n) memcpy(l->x + l->n, x, n * sizeof *x);
    l->n += n;
}

// M, f, g, W, w, u, kappa at a state.
static void put_state(list *l, const carom_model *m, void *work, double t, const double *q, const double *v) {
    const carom_system *s = carom_model_system(m);
    const size_t nv = (size_t)s->nv, size = carom_shape_size(s->mass_shape);
    double *f = calloc(nv + size + 1, sizeof *f), *g = calloc((size_t)s->ne + (size_t)s->nc + 1, sizeof *g);
    assert_non_null(f);
    assert_non_null(g);
    s->mass(m, work, t, q, (carom_matrix){.shape = s->mass_shape, .a = f + nv});
    s->force(m, work, t, q, v, f);
    put(l, f, nv + size);
    if (s->gaps && !s->listed) {
        carom_arena mem;
        carom_local L = local_of(m, &mem);
        const int n = L.at[L.nb];
        s->gaps(m, work, t, q, g);
        put(l, g, (size_t)(s->ne + s->nc));
        s->directions(m, work, t, q, &L);
        double *kappa = calloc((size_t)n + 1, sizeof *kappa);
        for (int k = 0; k < n; ++k) kappa[k] = carom_column_dot(&L.W, k, v) + L.w[k];
        put(l, kappa, (size_t)n);
        s->curvature(m, work, t, q, v, &L, kappa);
        put(l, kappa, (size_t)n);
        free(kappa);
        free(mem.base);
    }
    free(f);
    free(g);
}

static list numbers_of(const carom_model *m) {
    list l = {0};
    const carom_system *s = carom_model_system(m);
    const carom_model_run run = carom_model_simulation(m);
    for (int i = 0; i < carom_model_count(m).parameters; ++i) {
        double x;
        carom_model_parameter(m, i, &x);
        put(&l, &x, 1);
    }
    const double head[] = {s->nq,    s->nv,  s->ne, s->nc, s->flags, s->column_stride, (double)s->work_size,
                           run.step, run.end};
    put(&l, head, sizeof head / sizeof *head);
    put(&l, carom_model_q0(m), (size_t)s->nq);
    put(&l, carom_model_v0(m), (size_t)s->nv);
    for (int i = 0; i < s->nc - s->listed; ++i) {
        const carom_contact *c = &s->contacts[i];
        const double law[] = {c->restitution, c->tangential_restitution, c->friction, c->tangents,
                              c->impact,      c->friction_varies,        c->varies};
        put(&l, law, sizeof law / sizeof *law);
    }
    void *work = work_of(m);
    double *v = calloc((size_t)s->nv + 1, sizeof *v), *q = calloc((size_t)s->nq + 1, sizeof *q);
    for (int i = 0; i < s->nv; ++i) v[i] = carom_model_v0(m)[i] + 0.1 * sin(i + 1.0);
    memcpy(q, carom_model_q0(m), (size_t)s->nq * sizeof *q);
    if (s->move) s->move(m, q, q, 0.01, v);
    else carom_axpy(q, 0.01, v, s->nq);
    put_state(&l, m, work, 0.3, q, v);
    double *out = calloc((size_t)carom_model_count(m).outputs + 1, sizeof *out);
    carom_model_outputs(m, work, 0.3, q, v, out);
    put(&l, out, (size_t)carom_model_count(m).outputs);
    free(out);
    free(q);
    free(v);
    free(work);
    return l;
}

static void same(const char *what, const char *parameter, const carom_model *a, const carom_model *b) {
    list x = numbers_of(a), y = numbers_of(b);
    if (x.n != y.n) fail_msg("%s, %s: %zu numbers and %zu", what, parameter, x.n, y.n);
    for (size_t i = 0; i < x.n; ++i)
        if (memcmp(&x.x[i], &y.x[i], sizeof *x.x) != 0 && !(isnan(x.x[i]) && isnan(y.x[i])))
            fail_msg("%s, %s: number %zu is %.17g, of the new model %.17g", what, parameter, i, x.x[i], y.x[i]);
    free(x.x);
    free(y.x);
}

static carom_model *fresh(const char *text, size_t length, const char *file, const char *set, carom_error *err) {
    const char *const sets[] = {set, NULL};
    return carom_model_create(
        &(carom_model_def){.text = text, .length = length, .file = file, .set = set ? sets : NULL}, err);
}

// Parameter i by the model that is there, and by a new one; back again.
static void moved_alike(carom_model *m, const char *text, size_t length, const char *file, int i, double x,
                        bool *derived) {
    double old;
    char set[200], name[80]; // names of the model end when it is derived again
    snprintf(name, sizeof name, "%s", carom_model_parameter(m, i, &old));
    carom_error a = {0}, b = {0};
    snprintf(set, sizeof set, "%s=%.17g", name, x);
    carom_model *other = fresh(text, length, file, set, &a), *before = fresh(text, length, file, NULL, &b);
    const carom_status status = carom_model_set(m, 1, &i, &x, derived, &b);
    assert_int_equal(other != NULL, status == CAROM_OK);
    if (other) same(file, name, m, other);
    else assert_string_equal(a.text, b.text);
    assert_int_equal(carom_model_set(m, 1, &i, &old, NULL, &b), CAROM_OK);
    same(file, name, m, before);
    carom_model_destroy(other);
    carom_model_destroy(before);
}

static bool all; // large models, too

static void shipped_models_with_every_parameter(void **state) {
    (void)state;
    char names[] = CAROM_SHIPPED, *rest = names;
    int models = 0, parameters = 0, written = 0;
    for (char *end; *rest; rest = end, ++models) {
        end = rest + strcspn(rest, " ");
        if (*end) *end++ = 0;
        size_t length;
        char *text = shipped_text(rest, &length);
        carom_model *m = shipped_model(rest);
        const bool large = carom_model_system(m)->nv > 30;
        for (int i = 0; i < carom_model_count(m).parameters && (all || !large); ++i, ++parameters) {
            double x;
            bool derived;
            carom_model_parameter(m, i, &x);
            moved_alike(m, text, length, rest, i, x * 1.0009765625, &derived);
            written += !derived;
        }
        carom_model_destroy(m);
        free(text);
    }
    assert_true(models > 20 && parameters > 100 && written > 80);
}

#define CART                                                                                                           \
    "carom: 1\nparameters: {m: 2, k: 3*m, x0: 0.5, e: 0.4, mu: 0.3, n: 2, h: 1e-3, free: 7}\n"                         \
    "coordinates: {x: {at: x0, rate: -x0/2}, y: {at: 1}}\n"                                                            \
    "energy: {kinetic: 1/2*m*(x'^2 + y'^2), potential: 1/2*k*x^2 + m*9.81*y}\n"                                        \
    "contact defaults: {friction: mu/2}\n"                                                                             \
    "contacts: {floor: {gap: y, slip: x, restitution: e^2}, wall: {gap: x + 2, restitution: e, friction: 0}}\n"        \
    "simulation: {scheme: moreau-midpoint, step: h, end: 100*h}\n"

static void set_cart(carom_model *m, const char *name, double x, bool derives) {
    bool derived;
    int i = 0;
    carom_error err = {0};
    while (strcmp(carom_model_parameter(m, i, NULL), name) != 0) ++i;
    if (carom_model_set(m, 1, &i, &x, &derived, &err) != CAROM_OK) fail_msg("%s", err.text);
    assert_int_equal(derived, derives);
}

// k = 3 m, start at x0 = 0.5 with rate -x0/2, restitution e^2, friction mu/2; numbers by hand.
static void numbers_follow(void **state) {
    (void)state;
    carom_model *m = good(CART);
    const carom_system *s = carom_model_system(m);
    set_cart(m, "m", 4, false);
    set_cart(m, "x0", 0.25, false);
    set_cart(m, "e", 0.5, false);
    set_cart(m, "mu", 0.5, false);
    set_cart(m, "h", 0.01, false);
    double f[2];
    void *work = work_of(m);
    s->force(m, work, 0, carom_model_q0(m), carom_model_v0(m), f);
    assert_true(f[0] == -12 * 0.25 && f[1] == -4 * 9.81);
    assert_true(carom_model_q0(m)[0] == 0.25 && carom_model_v0(m)[0] == -0.125);
    assert_true(s->contacts[0].restitution == 0.25 && s->contacts[0].friction == 0.25 &&
                s->contacts[1].restitution == 0.5 && s->contacts[1].friction == 0);
    assert_true(carom_model_simulation(m).step == 0.01 && carom_model_simulation(m).end == 1);
    free(work);
    set_cart(m, "mu", 0, true); // the floor has no tangent any more
    assert_int_equal(carom_system_directions(carom_model_system(m), 0), 1);
    set_cart(m, "mu", 0.2, true);
    assert_int_equal(carom_system_directions(carom_model_system(m), 0), 2);
    assert_true(carom_model_system(m)->contacts[0].friction == 0.1 &&
                carom_model_system(m)->contacts[0].restitution == 0.25);
    carom_model_destroy(m);
}

static void what_fails_leaves_the_model(void **state) {
    (void)state;
    carom_model *m = good(CART), *other = good(CART);
    static const struct {
        const char *name; double x; const char *says;
    } wrong[] = {{"e", 1.5, "must lie between 0 and 1, got"},
                 {"mu", -1, "must not be negative, got"},
                 {"h", 0, "must be positive, got"},
                 {"x0", -3, "negative initial gap"},
                 {"m", NAN, "not finite"}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        carom_error err = {0};
        int i = 0;
        while (strcmp(carom_model_parameter(m, i, NULL), wrong[k].name) != 0) ++i;
        assert_int_equal(carom_model_set(m, 1, &i, &wrong[k].x, NULL, &err), CAROM_BAD_INPUT);
        if (!strstr(err.text, wrong[k].says)) fail_msg("%s", err.text);
        same("cart", wrong[k].name, m, other);
    }
    carom_error err = {0};
    assert_int_equal(carom_model_set(m, 1, (const int[]){99}, (const double[]){1}, NULL, &err), CAROM_BAD_INPUT);
    carom_model_destroy(m);
    carom_model_destroy(other);
}

// Counts, geometry, start of a prescribed motion, coefficients that went into expressions.
static void structure_is_derived(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\nparameters: {n: 2, r: 0.1, w: 3, c: 0.5, s: 2, mu: 0.4, twice: 2*n}\ngravity: [0, -9.81]\n"
        "shapes: {floor: {plane: [0, 1]}}\n"
        "bodies:\n  b: {repeat: n, body: {mass: 1, inertia: 1, at: [i, 1 + r], velocity: [s, 0], shape: {circle: r}}}\n"
        "  table: {motion: {at: [0.3 + sin(w*t + c), -3]}}\n"
        "springs: {rod: {between: [table, b.1], points: [[0, 0], [0, 0]], stiffness: 10, length: twice}}\n"
        "contact defaults: {friction: mu, restitution: 0.5}\ncontacts: {hit: {between: [b, floor]}}\n";
    carom_model *m = good(text);
    for (int i = 0; i < carom_model_count(m).parameters; ++i) {
        double x;
        bool derived;
        char name[80];
        snprintf(name, sizeof name, "%s", carom_model_parameter(m, i, &x));
        moved_alike(m, text, sizeof text - 1, "m.yaml", i, strcmp(name, "n") == 0 ? 3 : 1.25 * x, &derived);
        assert_int_equal(derived, strcmp(name, "mu") != 0 && strcmp(name, "s") != 0 && strcmp(name, "twice") != 0);
    }
    carom_model_destroy(m);
}

// Stiffness, damping and stiction speed of a compliant contact are parameters of its force; the exponent and the
// coefficient of friction go into its structure, and so does a damping that begins.
static void compliant_contacts(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\nparameters: {k: 2e4, c: 0.1, n: 1.5, s: 0.01, mu: 0.3}\ngravity: [0, -9.81]\n"
        "bodies: {b: {mass: 1, inertia: 0.01, at: [0, 0.09], velocity: [1, -1]}}\n"
        "shapes: {ball: {circle: 0.1, of: b}, floor: {plane: [0, 1]}}\n"
        "contacts: {hit: {between: [ball, floor], stiffness: k, damping: c, exponent: n, friction: mu, "
        "stiction speed: 2*s}}\n";
    static const struct { const char *name; double factor; bool derives; } to[] = {
        {"k", 1.25, false}, {"c", 1.25, false}, {"s", 1.25, false}, {"n", 1.25, true}, {"mu", 1.25, true},
        {"k", 0, true},     {"c", 0, true},     {"s", 0, true},     {"k", -1, true},   {"c", -1, true}};
    carom_model *m = good(text);
    for (size_t k = 0; k < sizeof to / sizeof *to; ++k) {
        double x;
        bool derived = true; // also where the new value is rejected
        int i = 0;
        while (strcmp(carom_model_parameter(m, i, &x), to[k].name) != 0) ++i;
        moved_alike(m, text, sizeof text - 1, "m.yaml", i, to[k].factor * x, &derived);
        assert_int_equal(derived, to[k].derives);
    }
    carom_model_destroy(m);
}

// Friction with a normal force of its own, by direction, by reactions: numbers, numbers in expressions, structure.
static void laws_of_friction(void **state) {
    (void)state;
    static const char laws[] =
        "carom: 1\nparameters: {mu: 0.3, w: 5, a: 0.2, b: 0.4}\n"
        "coordinates: {x: {at: 1}, y: {at: 1, rate: w}, z: {at: 0.5}}\n"
        "energy: {kinetic: \"1/2*(x'^2 + y'^2 + z'^2)\", potential: 9.81*z}\n"
        "contacts:\n  floor: {gap: z, slip: [x, y], friction: [a, b], restitution: mu/2}\n"
        "  wall: {gap: x, slip: y, friction: mu*exp(-normal.force/100)}\n";
    // Mass and load of a brake's own coordinate (FV-7) are of the structure.
    static const char brake[] =
        "carom: 1\nparameters: {mu: 0.3, N: 20, r: 0.1, J: 2, w: 5}\n"
        "coordinates: {phi: {rate: w}}\n"
        "energy: {kinetic: \"1/2*J*phi'^2\"}\n"
        "contacts:\n  brake: {normal force: N*(1 + 0.1*sin(phi)), slip: r*phi, friction: mu}\n";
    static const char *const texts[] = {laws, brake};
    for (int t = 0; t < 2; ++t) {
        carom_model *m = good(texts[t]);
        for (int i = 0; i < carom_model_count(m).parameters; ++i)
            for (int k = 0; k < 3; ++k) {
                static const double factor[3] = {1.25, 0, -1};
                double x;
                bool derived;
                char name[80];
                snprintf(name, sizeof name, "%s", carom_model_parameter(m, i, &x));
                moved_alike(m, texts[t], strlen(texts[t]), "m.yaml", i, factor[k] * x, &derived);
                if (k == 0) assert_int_equal(derived, t == 1 || strcmp(name, "a") == 0 || strcmp(name, "b") == 0);
            }
        carom_model_destroy(m);
    }
}

// Where a run of 30 steps ends.
static void run_of(const carom_model *m, double *q) {
    carom_sim *sim = model_sim(m, "moreau-midpoint", NULL, 1e-3, 0.03);
    model_sim_run(sim);
    memcpy(q, carom_sim_now(sim).q, (size_t)carom_model_system(m)->nq * sizeof *q);
    carom_sim_destroy(sim);
}

// Laws of contacts that come and go are numbers, too, and so are those of a declared gap beside them: the run is that
// of a new model.  14 discs make 91 pairs.
static void laws_of_lists(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\nparameters: {e: 0.5, mu: 0.3, k: 1e5, c: 0.2, s: 0.1, b: 0.4}\ngravity: [0, -9.81]\n"
        "shapes: {floor: {plane: [0, 1]}, bed: {plane: [0, 1], at: [0, -0.02]}}\n"
        "coordinates: {z: {at: 0.001, rate: -1}}\nenergy: {kinetic: \"1/2*z'^2\"}\n"
        "bodies:\n  d: {repeat: 14, body: {mass: 1, inertia: 0.01, at: [0.21*i, 0.101], velocity: [(-1)^i, "
        "-1 + (i > 7)], shape: {circle: 0.1}}}\n"
        "  o: {mass: 1, inertia: 0.01, at: [-1, 0.081], velocity: [1, -1], shape: {circle: 0.1}}\n"
        "contacts: {c: {among: [d, floor], restitution: e, friction: mu}, wall: {gap: z, restitution: b},\n"
        "  bedding: {between: [[o], bed], stiffness: k, damping: c, friction: 0.2, stiction speed: s}}\n";
    carom_model *m = good(text);
    const int nq = carom_model_system(m)->nq;
    double *q = calloc(3 * (size_t)nq, sizeof *q);
    assert_true(q && carom_model_lists(m));
    run_of(m, q);
    for (int i = 0; i < carom_model_count(m).parameters; ++i) {
        char name[80], set[120];
        double x;
        bool derived;
        carom_error err = {0};
        snprintf(name, sizeof name, "%s", carom_model_parameter(m, i, &x));
        snprintf(set, sizeof set, "%s=%.17g", name, 1.25 * x);
        carom_model *other = fresh(text, sizeof text - 1, "m.yaml", set, &err);
        assert_non_null(other);
        assert_int_equal(carom_model_set(m, 1, &i, &(double){1.25 * x}, &derived, &err), CAROM_OK);
        assert_false(derived);
        run_of(m, q + nq), run_of(other, q + 2 * nq);
        assert_memory_equal(q + nq, q + 2 * nq, (size_t)nq * sizeof *q);
        if (memcmp(q, q + nq, (size_t)nq * sizeof *q) == 0) fail_msg("%s has no effect", name);
        assert_int_equal(carom_model_set(m, 1, &i, &x, NULL, &err), CAROM_OK);
        derived = true; // also where zero is rejected
        moved_alike(m, text, sizeof text - 1, "m.yaml", i, 0, &derived);
        assert_true(derived);
        carom_model_destroy(other);
    }
    free(q);
    carom_model_destroy(m);
}

int main(int argc, char **argv) {
    all = argc > 1 && strcmp(argv[1], "long") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_follow),
        cmocka_unit_test(what_fails_leaves_the_model),
        cmocka_unit_test(structure_is_derived),
        cmocka_unit_test(compliant_contacts),
        cmocka_unit_test(laws_of_friction),
        cmocka_unit_test(laws_of_lists),
        cmocka_unit_test(shipped_models_with_every_parameter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
