// ignoring.h: options for tests that run schemes without an impact law on models with contacts.
#pragma once
#include "scheme/registry.h"
#include <carom/scheme.h>
#include <string.h>

/// Does a scheme have this option?
__attribute__((unused)) static bool has_option(const carom_scheme *s, const char *name) {
    for (const carom_option *o = s->options; o && o->name; ++o)
        if (strcmp(o->name, name) == 0) return true;
    return false;
}

/// The options, and impacts=ignore where the scheme declines contacts otherwise.  Valid until the next call.
__attribute__((noinline, unused)) static const char *const *
ignoring_impacts(const char *scheme, const carom_system *sys, const char *const *options) {
    static const char *list[16];
    const carom_scheme *s = scheme ? carom_scheme_find(scheme) : 0;
    if (!s || !(s->limitations & CAROM_NO_IMPACTS) || sys->nc == 0) return options;
    int n = 0;
    for (const char *const *o = options; o && *o && n < 14; ++o) list[n++] = *o;
    list[n] = "impacts=ignore";
    list[n + 1] = 0;
    return list;
}
