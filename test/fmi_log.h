// fmi_log.h: what an FMU says to its importer.
#pragma once
#include <stdarg.h>
#include <stdio.h>

static char log_text[2000]; // the last message

static void on_log(void *user, int status, const char *category, const char *message) {
    (void)user, (void)category;
    if (status > 0) snprintf(log_text, sizeof log_text, "%s", message);
}

static void on_log2(void *user, const char *name, int status, const char *category, const char *format, ...) {
    (void)user, (void)name, (void)category;
    va_list args;
    va_start(args, format);
    if (status > 0) vsnprintf(log_text, sizeof log_text, format, args);
    va_end(args);
}
