// robot.c: what importers of robots have in common.
#include "read/robot.h"
#include "base/number.h"
#include "base/text.h"
#include "base/three.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const double ROUNDED = 1e-15; // of 1, or of the largest moment: what a turned frame leaves of a zero
static const double NO_TURN = 1e-14; // of a quaternion: sine of half an angle that is rounding

carom_status carom_import_fail(const importing *r, const xml_element *e, const char *format, ...) {
    char text[600];
    va_list args;
    va_start(args, format);
    carom_vformat(text, sizeof text, format, args);
    va_end(args);
    return carom_fail(r->err, CAROM_BAD_INPUT, "%.300s:%d: %s", e->file ? e->file : r->def->file, e->line, text);
}

void carom_import_note(const importing *r, const xml_element *e, const char *format, ...) {
    char text[600], all[900];
    va_list args;
    if (!r->def->note) return;
    va_start(args, format);
    carom_vformat(text, sizeof text, format, args);
    va_end(args);
    snprintf(all, sizeof all, "%.250s:%d: %s", e->file ? e->file : r->def->file, e->line, text);
    r->def->note(r->def->user, all);
}

carom_status carom_import_numbers(const importing *r, const xml_element *e, const char *attribute, int n, double *x) {
    const char *p = carom_xml_get(e, attribute);
    if (!p) return CAROM_OK;
    for (int i = 0; i < n; ++i) {
        char *end = NULL;
        p += strspn(p, " \t\r\n");
        x[i] = carom_number(p, &end);
        if (end == p || !isfinite(x[i]))
            return carom_import_fail(r, e, "%s=\"%.60s\" of <%.40s> must be %d number%s", attribute,
                                     carom_xml_get(e, attribute), e->name, n, n == 1 ? "" : "s");
        p = end;
    }
    p += strspn(p, " \t\r\n");
    return *p ? carom_import_fail(r, e, "%s=\"%.60s\" of <%.40s> has more than %d number%s", attribute,
                                  carom_xml_get(e, attribute), e->name, n, n == 1 ? "" : "s")
              : CAROM_OK;
}

// -- names ------------------------------------------------------------------------------------------------------------

static size_t slot_of(const name_table *t, const char *name) {
    uint64_t h = 1469598103934665603u;
    for (const char *c = name; *c; ++c) h = (h ^ (unsigned char)*c) * 1099511628211u;
    size_t at = (size_t)(h ^ h >> 29) & (t->size - 1);
    while (t->name[at] && strcmp(t->name[at], name) != 0) at = (at + 1) & (t->size - 1);
    return at;
}

int carom_table_get(const name_table *t, const char *name) {
    const size_t at = t->size && name ? slot_of(t, name) : 0;
    return t->size && name && t->name[at] ? t->value[at] : -1;
}

bool carom_table_put(pool *memory, name_table *t, const char *name, int value) {
    if (2 * t->n >= t->size) {
        name_table more = {.size = t->size ? 2 * t->size : 64};
        more.name = carom_pool_take(memory, more.size * sizeof *more.name);
        more.value = carom_pool_take(memory, more.size * sizeof *more.value);
        if (!more.name || !more.value) return false;
        for (size_t i = 0; i < t->size; ++i)
            if (t->name[i]) carom_table_put(memory, &more, t->name[i], t->value[i]);
        *t = more;
    }
    const size_t at = slot_of(t, name);
    t->n += !t->name[at];
    t->name[at] = name;
    t->value[at] = value;
    return true;
}

const char *carom_import_name(importing *r, const char *own) {
    const size_t size = strlen(own) + 16;
    char *name = carom_pool_take(&r->memory, size);
    if (!name) return NULL;
    snprintf(name, size, "%s%.50s", carom_is_letter(own[0]) ? "" : "_", own);
    for (char *c = name; *c; ++c)
        if (!carom_in_word(*c)) *c = '_';
    const size_t end = strlen(name);
    while (carom_table_get(&r->used, name) >= 0 || strcmp(name, "ground") == 0 || strcmp(name, "t") == 0 ||
           strcmp(name, "pi") == 0)
        snprintf(name + end, size - end, "_%d", ++r->renamed + 1);
    return carom_table_put(&r->memory, &r->used, name, 1) ? name : NULL;
}

// -- frames and masses ------------------------------------------------------------------------------------------------

static void times(const double *A, const double *B, double *C) {
    double X[9];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) X[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
    memcpy(C, X, sizeof X);
}

static void transposed(const double *A, double *B) {
    for (int i = 0; i < 9; ++i) B[i] = A[3 * (i % 3) + i / 3];
}

void carom_rotate_vector(const double *R, const double *x, double *y) {
    const double a[3] = {x[0], x[1], x[2]};
    for (int i = 0; i < 3; ++i) y[i] = R[3 * i] * a[0] + R[3 * i + 1] * a[1] + R[3 * i + 2] * a[2];
}

static void turn_back(const double *R, const double *x, double *y) {
    const double a[3] = {x[0], x[1], x[2]};
    for (int i = 0; i < 3; ++i) y[i] = R[i] * a[0] + R[3 + i] * a[1] + R[6 + i] * a[2];
}

frame carom_compose(const frame *a, const frame *b) {
    frame c;
    times(a->R, b->R, c.R);
    carom_rotate_vector(a->R, b->r, c.r);
    for (int i = 0; i < 3; ++i) c.r[i] += a->r[i];
    return c;
}

frame carom_inverse(const frame *a) {
    frame c;
    transposed(a->R, c.R);
    turn_back(a->R, a->r, c.r);
    for (int i = 0; i < 3; ++i) c.r[i] = -c.r[i];
    return c;
}

// Roll, pitch and yaw about fixed axes.
frame carom_from_rpy(const double *rpy, const double *r) {
    const double a = cos(rpy[0]), b = sin(rpy[0]), c = cos(rpy[1]), d = sin(rpy[1]), e = cos(rpy[2]), f = sin(rpy[2]);
    return (frame){
        {e * c, e * d * b - f * a, e * d * a + f * b, f * c, f * d * b + e * a, f * d * a - e * b, -d, c * b, c * a},
        {r[0], r[1], r[2]}};
}

frame carom_about(const double *n, double angle) {
    const double c = cos(angle), s = sin(angle), k = 1 - c;
    return (frame){{c + n[0] * n[0] * k, n[0] * n[1] * k - n[2] * s, n[0] * n[2] * k + n[1] * s,
                    n[1] * n[0] * k + n[2] * s, c + n[1] * n[1] * k, n[1] * n[2] * k - n[0] * s,
                    n[2] * n[0] * k - n[1] * s, n[2] * n[1] * k + n[0] * s, c + n[2] * n[2] * k},
                   {0, 0, 0}};
}

frame carom_from_quaternion(const double *q, const double *r) {
    const double s = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]),
                 n[3] = {s > 0 ? q[1] / s : 1, s > 0 ? q[2] / s : 0, s > 0 ? q[3] / s : 0};
    frame f = carom_about(n, 2 * atan2(s, q[0]));
    memcpy(f.r, r, sizeof f.r);
    return f;
}

frame carom_frame_none(void) { return (frame){{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}}; }

// m (|d|^2 1 - d d'), d the way of the centre.
static void steiner(double *J, double m, const double *d) {
    const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    for (int i = 0; i < 9; ++i) J[i] += m * ((i % 4 == 0 ? square : 0) - d[i / 3] * d[i % 3]);
}

void carom_mass_add(mass *to, const mass *x, const frame *f) {
    double centre[3], A[9], T[9], sum[3], d[3];
    if (x->m == 0) return;
    carom_rotate_vector(f->R, x->centre, centre);
    for (int i = 0; i < 3; ++i) centre[i] += f->r[i];
    const double m = to->m + x->m;
    for (int i = 0; i < 3; ++i) sum[i] = (to->m * to->centre[i] + x->m * centre[i]) / m;
    for (int i = 0; i < 3; ++i) d[i] = to->centre[i] - sum[i];
    if (to->m != 0) steiner(to->J, to->m, d);
    times(f->R, x->J, A);
    transposed(f->R, T);
    times(A, T, A);
    for (int i = 0; i < 9; ++i) to->J[i] += A[i];
    for (int i = 0; i < 3; ++i) d[i] = centre[i] - sum[i];
    if (to->m != 0) steiner(to->J, x->m, d);
    to->m = m;
    memcpy(to->centre, sum, sizeof sum);
}

bool carom_positive(const double *J) {
    const double two = J[0] * J[4] - J[1] * J[3];
    return J[0] > 0 && two > 0 &&
           J[0] * (J[4] * J[8] - J[5] * J[7]) - J[1] * (J[3] * J[8] - J[5] * J[6]) +
                   J[2] * (J[3] * J[7] - J[4] * J[6]) >
               0;
}

// Jacobi's rotations make A diagonal and collect in V.
static void principal(double *A, double *V) {
    memcpy(V, carom_frame_none().R, 9 * sizeof *V);
    for (int sweep = 0; sweep < 30; ++sweep)
        for (int p = 0; p < 2; ++p)
            for (int q = p + 1; q < 3; ++q) {
                if (A[3 * p + q] == 0) continue;
                const double theta = (A[4 * q] - A[4 * p]) / (2 * A[3 * p + q]),
                             t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1),
                             s = t * c;
                double T[9], G[9];
                memcpy(G, carom_frame_none().R, sizeof G);
                G[4 * p] = G[4 * q] = c, G[3 * p + q] = s, G[3 * q + p] = -s;
                times(V, G, V);
                times(A, G, A);
                transposed(G, T);
                times(T, A, A);
            }
}

void carom_mass_repair(mass *x) {
    double V[9], T[9], D[9] = {0};
    static const double SMALL = 1e-4; // r^2 in m^2: the least inertia is that of a ball of 1 cm, 2/5 m r^2
    const double least = 0.4 * x->m * SMALL;
    principal(x->J, V);
    for (int i = 0; i < 3; ++i) D[4 * i] = fmax(x->J[4 * i], least);
    times(V, D, x->J);
    transposed(V, T);
    times(x->J, T, x->J);
}

// -- the text ---------------------------------------------------------------------------------------------------------

void carom_put(const importing *r, const char *format, ...) {
    char text[1200];
    va_list args;
    va_start(args, format);
    carom_vformat(text, sizeof text, format, args);
    va_end(args);
    r->write(r->user, text, strlen(text));
}

void carom_put_quoted(const importing *r, const char *text) {
    carom_put(r, "\"");
    for (const char *c = text; *c; ++c)
        carom_put(r, *c == '"' || *c == '\\' ? "\\%c" : "%c",
                  *c == '\r' || *c == '\n' || *c == '\t' ? ' ' : *c); // as XML reads it
    carom_put(r, "\"");
}

// The shortest text of a number; what is only rounding of a turned frame is 0.
void carom_put_number(const importing *r, double x) {
    char text[40];
    if (fabs(x) < ROUNDED) x = 0;
    carom_shortest(text, sizeof text, 12, x);
    carom_put(r, "%s", text);
}

void carom_put_list(const importing *r, const char *before, const double *x, int n) {
    carom_put(r, "%s[", before);
    for (int i = 0; i < n; ++i) {
        if (i) carom_put(r, ", ");
        carom_put_number(r, x[i]);
    }
    carom_put(r, "]");
}

void carom_put_turn(const importing *r, const double *R) {
    double q[4];
    quaternion_of(R, q);
    const double s = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (s < NO_TURN) return;
    carom_put(r, ", angle: ");
    carom_put_number(r, 2 * atan2(s, q[0]));
    carom_put_list(r, ", axis: ", (const double[]){q[1] / s, q[2] / s, q[3] / s}, 3);
}

void carom_put_head(const importing *r, const char *name, const double *gravity) {
    carom_put(r, "carom: 1\nname: ");
    carom_put_quoted(r, name ? name : "robot");
    carom_put_list(r, "\ngravity: ", gravity, 3);
    carom_put(r, "\n");
}

void carom_put_body(const importing *r, const char *name, const mass *x, const frame *at) {
    double q[4], centre[3];
    carom_rotate_vector(at->R, x->centre, centre);
    for (int k = 0; k < 3; ++k) centre[k] += at->r[k];
    quaternion_of(at->R, q);
    char text[40];
    carom_shortest(text, sizeof text, 12, x->m);
    carom_put(r, "  %s: {mass: %s", name, text);
    const double J[6] =
        {x->J[0], x->J[4], x->J[8], (x->J[1] + x->J[3]) / 2, (x->J[2] + x->J[6]) / 2, (x->J[5] + x->J[7]) / 2},
                 most = fmax(J[0], fmax(J[1], J[2]));
    carom_put(r, ", inertia: [");
    for (int i = 0; i < 6; ++i) { // moments may be small; products that are only rounding are 0
        carom_shortest(text, sizeof text, 12, i > 2 && fabs(J[i]) < ROUNDED * most ? 0 : J[i]);
        carom_put(r, "%s%s", i ? ", " : "", text);
    }
    carom_put(r, "]");
    carom_put_list(r, ", at: ", centre, 3);
    carom_put_list(r, ", quaternion: ", q, 4);
}

bool carom_import_mesh(const importing *r, const xml_element *e, const char *given, char *path, size_t size) {
    char why[300] = "";
    const char *dot = strrchr(given, '.'), *rest = given;
    const bool read = dot && (strcmp(dot, ".stl") == 0 || strcmp(dot, ".STL") == 0 || strcmp(dot, ".obj") == 0 ||
                              strcmp(dot, ".OBJ") == 0);
    if (strncmp(rest, "package://", 10) == 0) rest = strchr(rest + 10, '/') ? strchr(rest + 10, '/') + 1 : rest + 10;
    if (!read)
        snprintf(why, sizeof why, "carom reads STL and OBJ files");
    else if (r->def->mesh)
        r->def->mesh(r->def->user, given, path, size, why, sizeof why);
    else if (rest[0] == '/' || strstr(rest, "..") || strstr(rest, "://"))
        snprintf(why, sizeof why, "a model reads files in its own directory and below; copy it there");
    else
        snprintf(path, size, "%s", rest);
    if (*why) carom_import_note(r, e, "the mesh '%.100s' is left out: %s", rest, why);
    return !*why;
}
