// unit.c: units as products of powers of known symbols, with prefixes.
#include "base/unit.h"
#include "base/number.h"
#include "base/option.h"
#include <carom/option.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char carom_unit_examples[] = "m, cm, mm, km, in, ft, g, kg, t, lb, s, ms, min, h, N, kN, lbf, J, W, Pa, MPa, "
                                   "bar, rad, deg, rev, rpm, Hz, A, V, ohm, H, F and "
                                   "products such as kN/m, N m s/rad, kg/m^3";

#define PI 3.14159265358979323846
static const struct symbol { const char *name; bool prefixed; carom_unit u; } symbols[] = {
    {"kg", false, {1, 1, {1}}},
    {"g", true, {1, 1000, {1}}},
    {"t", false, {1000, 1, {1}}},
    {"lb", false, {45359237, 100000000, {1}}},
    {"m", true, {1, 1, {0, 1}}},
    {"in", false, {254, 10000, {0, 1}}},
    {"ft", false, {3048, 10000, {0, 1}}},
    {"s", true, {1, 1, {0, 0, 1}}},
    {"min", false, {60, 1, {0, 0, 1}}},
    {"h", false, {3600, 1, {0, 0, 1}}},
    {"N", true, {1, 1, {1, 1, -2}}},
    {"lbf", false, {4.4482216152605, 1, {1, 1, -2}}},
    {"J", true, {1, 1, {1, 2, -2}}},
    {"W", true, {1, 1, {1, 2, -3}}},
    {"Pa", true, {1, 1, {1, -1, -2}}},
    {"bar", false, {100000, 1, {1, -1, -2}}},
    {"Hz", true, {1, 1, {0, 0, -1}}},
    {"rad", true, {1, 1, {0, 0, 0, 1}}},
    {"deg", false, {PI, 180, {0, 0, 0, 1}}},
    {"rev", false, {2 * PI, 1, {0, 0, 0, 1}}},
    {"rpm", false, {PI, 30, {0, 0, -1, 1}}},
    {"A", true, {1, 1, {[CAROM_A] = 1}}},
    {"V", true, {1, 1, {1, 2, -3, 0, -1}}},
    {"ohm", true, {1, 1, {1, 2, -3, 0, -2}}},
    {"\xce\xa9", true, {1, 1, {1, 2, -3, 0, -2}}},
    {"H", true, {1, 1, {1, 2, -2, 0, -2}}},
    {"F", true, {1, 1, {-1, -2, 4, 0, 2}}},
    {"C", true, {1, 1, {0, 0, 1, 0, 1}}},
    {"T", true, {1, 1, {1, 0, -2, 0, -1}}},
    {"Wb", true, {1, 1, {1, 2, -2, 0, -1}}},
    {"1", false, {1, 1, {0}}},
    {"%", false, {1, 100, {0}}},
};

static const struct {
    const char *name;
    double up, down;
} prefixes[] = {{"n", 1, 1e9}, {"u", 1, 1e6}, {"\xc2\xb5", 1, 1e6}, {"\xce\xbc", 1, 1e6}, {"m", 1, 1e3},
                {"c", 1, 100}, {"d", 1, 10},  {"k", 1e3, 1},        {"M", 1e6, 1},        {"G", 1e9, 1}};

static bool find(const char *word, size_t length, bool prefixed, carom_unit *u) {
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; ++i) {
        if (strlen(symbols[i].name) != length || memcmp(symbols[i].name, word, length) != 0 ||
            (prefixed && !symbols[i].prefixed))
            continue;
        *u = symbols[i].u;
        return true;
    }
    return false;
}

static bool find_prefixed(const char *word, size_t length, carom_unit *u) {
    if (find(word, length, false, u)) return true;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; ++i) {
        const size_t n = strlen(prefixes[i].name);
        if (length <= n || memcmp(word, prefixes[i].name, n) != 0 || !find(word + n, length - n, true, u)) continue;
        u->up *= prefixes[i].up;
        u->down *= prefixes[i].down;
        return true;
    }
    return false;
}

bool carom_unit_starts(const char *text, size_t length) {
    size_t n = 0;
    carom_unit u;
    while (n < length && !strchr(" */^+-(),<>=", text[n])) ++n;
    return n > 0 && find_prefixed(text, n, &u);
}

// Units as others write them, then those that a slip of the pen may have been meant for.
static const struct { const char *other, *name; } spellings[] = {
    {"sec", "s"},       {"second", "s"},   {"seconds", "s"},   {"msec", "ms"},      {"mins", "min"}, {"minute", "min"},
    {"minutes", "min"}, {"hr", "h"},       {"hour", "h"},      {"hours", "h"},      {"meter", "m"},  {"meters", "m"},
    {"metre", "m"},     {"metres", "m"},   {"inch", "in"},     {"inches", "in"},    {"kgs", "kg"},   {"lbs", "lb"},
    {"rads", "rad"},    {"degree", "deg"}, {"degrees", "deg"}, {"\xc2\xb0", "deg"}, {"cm", "cm"},    {"mm", "mm"},
    {"km", "km"},       {"kg", "kg"},      {"lb", "lb"},       {"ms", "ms"},        {"min", "min"},  {"kN", "kN"},
    {"lbf", "lbf"},     {"Pa", "Pa"},      {"MPa", "MPa"},     {"bar", "bar"},      {"rad", "rad"},  {"deg", "deg"},
    {"rev", "rev"},     {"rpm", "rpm"},    {"Hz", "Hz"},      {"volt", "V"},       {"volts", "V"},  {"amp", "A"},
    {"amps", "A"},      {"ampere", "A"},   {"Ohm", "ohm"},    {"ohms", "ohm"},     {"henry", "H"},
};
enum { SPELLINGS = sizeof spellings / sizeof *spellings };

static const char *spelling(const void *user, int i) { return (void)user, i < SPELLINGS ? spellings[i].other : NULL; }

static const char *meant_by(const char *word) {
    for (int i = 0; word && i < SPELLINGS; ++i)
        if (strcmp(spellings[i].other, word) == 0) return spellings[i].name;
    return NULL;
}

// Of a word without operators: "m2", "m\xc2\xb2": a power; "Nm": a product of units of two kinds.
static bool put_operator(const char *word, size_t n, char *near, size_t size) {
    carom_unit u, v;
    // superscripts 2 and 3
    const bool raised = n > 2 && word[n - 2] == '\xc2' && (word[n - 1] == '\xb2' || word[n - 1] == '\xb3');
    const size_t base = raised ? n - 2 : n - 1;
    const char power = raised ? (char)(word[n - 1] - '\xb2' + '2') : word[n - 1];
    if (power >= '2' && power <= '9' && find_prefixed(word, base, &u))
        return snprintf(near, size, "%.*s^%c", (int)base, word, power), true;
    for (size_t k = 1; k < n; ++k)
        if (find_prefixed(word, k, &u) && find_prefixed(word + k, n - k, &v) && !carom_unit_same(&u, &v))
            return snprintf(near, size, "%.*s %s", (int)k, word, word + k), true;
    return false;
}

bool carom_unit_nearest(const char *text, size_t length, char *near, size_t size) {
    char word[32];
    carom_unit u;
    size_t n = 0;
    for (;; text += n, length -= n) { // to the first word that is no unit
        for (; length && strchr(" */^-0123456789.()", *text); --length) ++text;
        for (n = 0; n < length && !strchr(" */^", text[n]); ++n) {}
        if (n == 0 || n >= sizeof word) return false;
        if (!find_prefixed(text, n, &u)) break;
    }
    memcpy(word, text, n);
    word[n] = 0;
    const char *name = meant_by(word);
    if (!name && put_operator(word, n, near, size)) return true;
    if (!name) name = meant_by(carom_nearest(word, spelling, NULL));
    return name && snprintf(near, size, "%s", name) > 0;
}

static const double ONE_POWER = 1e-9; // powers have a few digits, and so have their sums
static bool same_power(double a, double b) { return fabs(a - b) < ONE_POWER; }

static void multiply(carom_unit *u, const carom_unit *by, double power) {
    double n = fabs(power);
    for (; n >= 1; --n) {
        u->up *= power > 0 ? by->up : by->down;
        u->down *= power > 0 ? by->down : by->up;
    }
    if (n > 0) {
        u->up *= pow(power > 0 ? by->up : by->down, n);
        u->down *= pow(power > 0 ? by->down : by->up, n);
    }
    for (int k = 0; k < CAROM_DIMENSIONS; ++k) {
        u->power[k] += power * by->power[k];
        if (same_power(u->power[k], round(u->power[k]))) u->power[k] = round(u->power[k]);
    }
}

// Digits with at most one point, as a number up to 9; false: there is none.
static bool read_digits(const char **p, const char *end, double *x) {
    char digits[8];
    size_t n = 0;
    int points = 0;
    for (; *p < end && n < sizeof digits - 1 && ((**p >= '0' && **p <= '9') || (**p == '.' && points++ == 0)); ++*p)
        digits[n++] = **p;
    digits[n] = 0;
    *x = n ? carom_number(digits, NULL) : 0;
    return n && digits[0] != '.' && digits[n - 1] != '.' && *x > 0 && *x <= 9;
}

// What stands behind ^: "2", "-1", "1.5", "(3/2)".
static bool read_power(const char **p, const char *end, double *power) {
    const bool inside = *p < end && **p == '(';
    *p += inside;
    const bool negative = *p < end && **p == '-';
    *p += negative;
    double below = 1;
    if (!read_digits(p, end, power)) return false;
    if (inside && *p < end && **p == '/') {
        ++*p;
        if (!read_digits(p, end, &below)) return false;
    }
    *power *= (negative ? -1 : 1) / below;
    if (!inside) return true;
    return *p < end && *(*p)++ == ')';
}

bool carom_unit_read(const char *text, size_t length, carom_unit *u) {
    const char *p = text, *end = text + length;
    int sign = 1;
    *u = (carom_unit){.up = 1, .down = 1};
    for (bool first = true;; first = false) {
        while (p < end && *p == ' ') ++p;
        if (p < end && !first && (*p == '/' || *p == '*')) {
            sign = *p++ == '/' ? -1 : 1;
            while (p < end && *p == ' ') ++p;
        }
        const char *word = p;
        while (p < end && *p != ' ' && *p != '*' && *p != '/' && *p != '^') ++p;
        carom_unit one;
        if (p == word || !find_prefixed(word, (size_t)(p - word), &one)) return false;
        double power = 1;
        if (p < end && *p == '^') {
            ++p;
            if (!read_power(&p, end, &power)) return false;
        }
        multiply(u, &one, sign * power);
        if (p < end && *p != ' ' && *p != '*' && *p != '/') return false;
        const bool percent = *word == '%';
        while (p < end && *p == ' ') ++p;
        if (p == end) return true;
        if (percent && *p != '/') return false; // "5 % m": a remainder of another language
    }
}

// A number and a blank, or a letter that cannot go on the number, stand before a unit; an operator does not.
carom_quantity carom_quantity_read(const char *text, size_t length, double *x, carom_unit *u, size_t *at) {
    const char *p = text, *end = text + length;
    char number[64];
    while (p < end && *p == ' ') ++p;
    const char *from = p;
    p += p < end && (*p == '-' || *p == '+');
    if (p == end || !((*p >= '0' && *p <= '9') || *p == '.')) return CAROM_QUANTITY_NONE;
    while (p < end &&
           ((*p >= '0' && *p <= '9') || *p == '.' ||
            ((*p == 'e' || *p == 'E') && p + 1 < end && (p[1] == '-' || p[1] == '+' || (p[1] >= '0' && p[1] <= '9'))) ||
            ((*p == '-' || *p == '+') && (p[-1] == 'e' || p[-1] == 'E'))))
        ++p;
    const char *blank = p;
    while (p < end && *p == ' ') ++p;
    if (p == end || blank - from >= (long)sizeof number || strchr("+-*/^()<>=!,.'&|", *p)) return CAROM_QUANTITY_NONE;
    snprintf(number, sizeof number, "%.*s", (int)(blank - from), from);
    char *stop = NULL;
    *x = carom_number(number, &stop);
    *at = (size_t)(p - text);
    if (*stop || !carom_unit_read(p, (size_t)(end - p), u)) return CAROM_QUANTITY_WRONG;
    *x = *x * u->up / u->down;
    return CAROM_QUANTITY_READ;
}

bool carom_unit_same(const carom_unit *a, const carom_unit *b) {
    for (int k = 0; k < CAROM_DIMENSIONS; ++k)
        if (!same_power(a->power[k], b->power[k])) return false;
    return true;
}

bool carom_unit_fits(const carom_unit *a, const carom_unit *b) {
    const bool mechanical = b->power[CAROM_KG] != 0 || b->power[CAROM_M] != 0;
    for (int k = 0; k < CAROM_DIMENSIONS; ++k)
        if (!same_power(a->power[k], b->power[k]) && !(k == CAROM_RAD && mechanical)) return false;
    return true;
}

static size_t write_power(char *text, size_t size, const char *name, double power, bool fmi) {
    return (size_t)(same_power(power, 1) ? snprintf(text, size, "%s", name)
                                         : snprintf(text, size, fmi ? "%s%g" : "%s^%g", name, power));
}

void carom_unit_write(const carom_unit *u, bool fmi, char *text, size_t size) {
    static const char *const names[] = {"kg", "m", "s", "rad", "A"};
    size_t used = 0;
    int below = 0, n = 0;
    text[0] = 0;
    for (int k = 0; k < CAROM_DIMENSIONS; ++k) {
        below += u->power[k] < 0;
        if (u->power[k] <= 0 || used >= size) continue;
        if (n++) used += (size_t)snprintf(text + used, size - used, fmi ? "." : " ");
        if (used < size) used += write_power(text + used, size - used, names[k], u->power[k], fmi);
    }
    if (n == 0) used += (size_t)snprintf(text, size, "1");
    const char *const first = fmi && below > 1 ? "/(" : "/", *const more = fmi ? "." : "/"; // FMI has one solidus
    n = 0;
    for (int k = 0; k < CAROM_DIMENSIONS; ++k) {
        if (u->power[k] >= 0 || used >= size) continue;
        used += (size_t)snprintf(text + used, size - used, "%s", n++ ? more : first);
        if (used < size) used += write_power(text + used, size - used, names[k], -u->power[k], fmi);
    }
    if (fmi && below > 1 && used < size) snprintf(text + used, size - used, ")");
}

void carom_unit_label(const carom_unit *u, bool fmi, char *text, size_t size) {
    static const char *const usual[] = {"N", "J", "W", "Pa", "N/m", "N s/m", "N s", "N m/rad", "N m s/rad",
                                        "V", "ohm", "H", "F", "C", "T", "N m/A"};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; ++i) {
        carom_unit other;
        if (!carom_unit_read(usual[i], strlen(usual[i]), &other) || !carom_unit_same(&other, u)) continue;
        snprintf(text, size, "%s", usual[i]);
        for (char *p = text; fmi && *p; ++p)
            if (*p == ' ') *p = '.';
        return;
    }
    carom_unit_write(u, fmi, text, size);
}

const char *carom_unit_kind(const carom_unit *u) {
    static const struct { carom_unit u; const char *name; } kinds[] = {{{.power = {1, 0, 0, 0}}, "a mass"},
                 {{.power = {0, 1, 0, 0}}, "a length"},
                 {{.power = {0, 0, 1, 0}}, "a time"},
                 {{.power = {0, 0, 0, 1}}, "an angle"},
                 {{.power = {0, 1, -1, 0}}, "a velocity"},
                 {{.power = {0, 1, -2, 0}}, "an acceleration"},
                 {{.power = {0, 0, -1, 1}}, "an angular velocity"},
                 {{.power = {0, 0, -1, 0}}, "a frequency"},
                 {{.power = {1, 1, -2, 0}}, "a force"},
                 {{.power = {1, 2, -2, 0}}, "a torque or an energy"},
                 {{.power = {1, -1, -2, 0}}, "a pressure"},
                 {{.power = {1, 0, -2, 0}}, "a stiffness"},
                 {{.power = {1, 0, -1, 0}}, "a damping"},
                 {{.power = {1, 2, 0, 0}}, "a moment of inertia"},
                 {{.power = {1, -3, 0, 0}}, "a density"},
                 {{.power = {0, 2, 0, 0}}, "an area"},
                 {{.power = {1, 2, -3, 0}}, "a power"},
                 {{.power = {[CAROM_A] = 1}}, "a current"},
                 {{.power = {1, 2, -3, 0, -1}}, "a voltage"},
                 {{.power = {1, 2, -3, 0, -2}}, "a resistance"},
                 {{.power = {1, 2, -2, 0, -2}}, "an inductance"},
                 {{.power = {0, 0, 0, 0}}, "a number without a unit"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (carom_unit_same(&kinds[i].u, u)) return kinds[i].name;
    return NULL;
}
