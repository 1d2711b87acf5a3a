// write.c: names of inputs, lists of numbers, and groups of tapes as functions, in the C text of a model.
#include "derive/ctext/ctext.h"
#include "base/text.h"
#include <math.h>

// -- names ------------------------------------------------------------------------------------------------------------

static const char *position_name(const carom_model *m, int i) { return carom_model_coordinate(m, i); }
static const char *velocity_name(const carom_model *m, int i) { return carom_model_velocity(m, i); }
static const char *parameter_name(const carom_model *m, int i) { return carom_model_parameter(m, i, NULL); }

// Inputs: their letter, their names, how many there are.
typedef struct input { char letter; const char *(*name)(const carom_model *m, int i); int n; } input;

static input input_of(const carom_model *m, carom_input kind) {
    if (kind == CAROM_PARAMETER) return (input){'p', parameter_name, m->np};
    // others have no names of their own
    return kind == CAROM_POSITION ? (input){'q', position_name, m->visible.nq_own}
                                  : (input){'v', velocity_name, m->visible.nv_own};
}

static void c_name(const carom_model *m, input in, int i, char text[CAROM_SLOT_NAME]) {
    const int n = snprintf(text, CAROM_SLOT_NAME, "%c_%.80s", in.letter, in.name(m, i));
    for (int k = 0; k < n; ++k)
        if (!carom_in_word(text[k])) text[k] = '_';
    if (in.letter == 'v' && n > 2 && text[n - 1] == '_') text[n - 1] = 0; // the prime
}

// The subscript of an input as C has it: its name, and its number where two names are the same but for dots.
static void subscript(const carom_model *m, input in, int i, char text[CAROM_SLOT_NAME]) {
    char other[CAROM_SLOT_NAME];
    c_name(m, in, i, text);
    for (int k = 0; k < in.n; ++k) {
        c_name(m, in, k, other);
        if (k == i || strcmp(text, other) != 0) continue;
        snprintf(text + strlen(text), CAROM_SLOT_NAME - strlen(text), "_%d", i);
        return;
    }
}

void carom_ctext_member_name(const ctext *c, int k, char text[CAROM_SLOT_NAME]) {
    snprintf(text, CAROM_SLOT_NAME, "%.40s_member_%.60s", c->prefix, c->m->members[k].name);
    for (char *x = text; *x; ++x)
        if (!carom_in_word(*x)) *x = '_';
    snprintf(text + strlen(text), CAROM_SLOT_NAME - strlen(text), "_%d", k); // names may differ in dots alone
}

// Position or velocity number i of the graph, one of a member: first those that stand for its energies.
static void member_input(const ctext *c, carom_input kind, int i, char text[CAROM_SLOT_NAME]) {
    const carom_model *m = c->m;
    const bool position = kind == CAROM_POSITION;
    const int own = position ? m->visible.nq_own : m->visible.nv_own;
    if (i == own) {
        strcpy(text, !c->energies ? "0.0" : position ? "potential" : "kinetic");
        return;
    }
    int k = 0;
    const int at = (position ? m->visible.q : m->visible.v)[i - own - 1];
    while (at >= (position ? m->members[k].q : m->members[k].v) + m->members[k].count) ++k;
    char name[CAROM_SLOT_NAME];
    carom_ctext_member_name(c, k, name);
    snprintf(text, CAROM_SLOT_NAME, "%c[%.110s_%c + %d]", position ? 'q' : 'v', name, position ? 'q' : 'v',
             at - (position ? m->members[k].q : m->members[k].v));
}

void carom_ctext_input(void *user, carom_input kind, int i, char text[CAROM_SLOT_NAME]) {
    const ctext *c = user;
    char name[CAROM_SLOT_NAME];
    if (kind == CAROM_TIME) {
        strcpy(text, "t");
        return;
    }
    const input in = input_of(c->m, kind);
    if (i >= in.n) {
        member_input(c, kind, i, text);
        return;
    }
    subscript(c->m, in, i, name);
    snprintf(text, CAROM_SLOT_NAME, "%c[%.100s]", in.letter, name);
}

void carom_ctext_enum(const ctext *c, carom_input kind) {
    const input in = input_of(c->m, kind);
    char name[CAROM_SLOT_NAME];
    if (in.n == 0) return;
    put(c, "enum { ");
    for (int i = 0; i < in.n; ++i) {
        subscript(c->m, in, i, name);
        PUT(c, "%s%s", i ? ", " : "", name);
    }
    put(c, " };\n");
}

// -- numbers ----------------------------------------------------------------------------------------------------------

void carom_ctext_number(const ctext *c, double x) {
    if (isinf(x)) put(c, x < 0 ? "-INFINITY" : "INFINITY");
    else PUT(c, "%.17g", x);
}

void carom_ctext_doubles(const ctext *c, const char *begin, const double *x, size_t n) {
    put(c, begin), put(c, "{");
    for (size_t i = 0; i < n; ++i) put(c, i ? ", " : ""), carom_ctext_number(c, x[i]);
    put(c, n ? "};\n" : "0};\n");
}

void carom_ctext_ints(const ctext *c, const char *begin, const int *x, size_t n) {
    put(c, begin), put(c, "{");
    for (size_t i = 0; i < n; ++i) PUT(c, "%s%d", i ? ", " : "", x[i]);
    put(c, n ? "};\n" : "0};\n");
}

// -- functions --------------------------------------------------------------------------------------------------------

static void write_for(void *user, const char *text, size_t length) {
    const ctext *c = user;
    c->write(c->user, text, length);
}

carom_status carom_ctext_function(const ctext *c, const carom_tape *tape, int group, carom_slot_name *names,
                                  const char *head, carom_error *err) {
    put(c, head), put(c, " {\n    (void)t, (void)q, (void)v, (void)p, (void)out;\n");
    if (c->energies)
        put(c, "    double kinetic = 0, potential = 0; // of members\n    for (int k = 0; k < nmembers; ++k) {\n       "
               " double T, V;\n"
               "        member_energy(members[k].flex, q + members[k].q, v + members[k].v, &T, &V);\n        potential "
               "+= V;\n        kinetic += T;\n    }\n    (void)kinetic, (void)potential;\n");
    if (carom_tape_write_group(tape, group, names, write_for, (void *)c) != CAROM_OK)
        return carom_fail(err, CAROM_NO_MEMORY, "not enough memory to write the model as C");
    put(c, "}\n");
    return CAROM_OK;
}

// Factors of tangents whose coefficients differ, by contact or kind; nothing where none do.
void carom_ctext_ellipses(const ctext *c, const char *of, const carom_contact *law, int n) {
    bool some = false;
    for (int i = 0; i < n; ++i) some = some || law[i].ellipse[0] > 0;
    if (!some) return;
    PUT(c,
        "// By %s: factors of its first two tangents, whose columns, and so whose rates, are multiplied by them.  "
        "Friction has one\n// coefficient then.  Slip: rate/factor.  Friction force: multiplier*factor.\n"
        "const double %.100s_%s_factor[][2] = {",
        of, c->prefix, of);
    for (int i = 0; i < n; ++i) {
        const bool two = law[i].ellipse[0] > 0;
        PUT(c, "%s{%.17g, %.17g}", i ? ", " : "", two ? law[i].ellipse[0] : 1, two ? law[i].ellipse[1] : 1);
    }
    put(c, "};\n");
}
