// column.c: see column.h.
#include "base/column.h"
#include <stdio.h>
#include <string.h>

const carom_role_part carom_role_parts[CAROM_ROLES] = {
    [CAROM_ROLE_GAP] = {"gap", "", "m", "gap", false},
    [CAROM_ROLE_GAP_RATE] = {"gap", "'", "m/s", "gap rate", false},
    [CAROM_ROLE_FORCE] = {"force", "", "N", "force", false},
    [CAROM_ROLE_IMPULSE] = {"impulse", "", "N s", "impulse", false},
    [CAROM_ROLE_SLIP_RATE] = {"slip", "'", "m/s", "slip rate", true},
    [CAROM_ROLE_FRICTION] = {"friction", "", "N", "friction", true},
    [CAROM_ROLE_FRICTION_IMPULSE] = {"friction_impulse", "", "N s", "friction impulse", true},
    [CAROM_ROLE_NU] = {"nu", "", "", "position multiplier", false},
    [CAROM_ROLE_CLOSED] = {"closed", "", "", "closed contacts", false},
};

carom_role carom_column_role(const char *name) {
    const char *dot = strrchr(name, '.');
    for (int i = 0; dot && i < CAROM_ROLES; ++i) {
        const carom_role_part *p = &carom_role_parts[i];
        const size_t n = strlen(p->part);
        if (strncmp(dot + 1, p->part, n) != 0) continue;
        const char *rest = dot + 1 + n;
        if (strcmp(rest + strspn(rest, "0123456789"), p->end) == 0) return (carom_role)i;
    }
    return CAROM_ROLE_OTHER;
}

const char *carom_role_name(carom_role role) { return role < CAROM_ROLES ? carom_role_parts[role].name : ""; }

// What a * takes grows only behind the last one, so that the work is at
// most the product of both lengths.
bool carom_column_matches(const char *pattern, const char *name) {
    const char *star = NULL, *taken = NULL; // the last *, and where what it takes ends
    while (*name) {
        if (*pattern == '*') star = pattern++, taken = name;
        else if (*pattern == '?' || *pattern == *name) ++pattern, ++name;
        else if (star) pattern = star + 1, name = ++taken;
        else return false;
    }
    while (*pattern == '*') ++pattern;
    return !*pattern;
}

void carom_role_text(carom_role role, int number, char *text, size_t size) {
    const carom_role_part *p = &carom_role_parts[role];
    if (number > 0) snprintf(text, size, "%s%d%s", p->part, number, p->end);
    else snprintf(text, size, "%s%s", p->part, p->end);
}
