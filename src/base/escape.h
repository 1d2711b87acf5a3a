// escape.h: texts from models, results and command lines on their way into another language.
//
// Names, keys, titles and paths are untrusted.  All code that writes C, CUDA, XML, HTML, JSON, YAML, CSV, gnuplot
// scripts or lines on a terminal passes such a text through carom_escape(); escape.c contains one table with the rules
// of each target; io/print.h writes to files.  All targets replace control characters (C0, DEL, C1), bytes that are not
// UTF-8, and characters that change the direction of writing.
#pragma once
#include <stdarg.h>
#include <stddef.h>

typedef enum carom_target {
    CAROM_FOR_TERMINAL,  // one line of a message or a table; a text that was escaped is not changed again
    CAROM_FOR_C_COMMENT, // the rest of a line after //, or a part of a block comment
    CAROM_FOR_C_STRING,  // between the double quotes of a C or CUDA string
    CAROM_FOR_XML,       // text, or the value of an attribute in double quotes
    CAROM_FOR_HTML,      // the same, in a page with marks /*...*/
    CAROM_FOR_SCRIPT,    // JSON as a whole, inside a script element
    CAROM_FOR_JSON,      // between the double quotes of a JSON string
    CAROM_FOR_YAML,      // between double quotes in a model file: reads back as the same text
    CAROM_FOR_CSV,       // between double quotes in a table
    CAROM_FOR_GNUPLOT,   // between double quotes: no backtick, macro or quote is left for gnuplot to expand
    CAROM_FOR_PLOT_DATA, // between double quotes in rows of data of a gnuplot script
    CAROM_TARGETS
} carom_target;

typedef void carom_escape_write(void *user, const char *text, size_t length);

/// Passes the escaped text to write() in pieces.
void carom_escape(carom_target target, const char *text, size_t length, carom_escape_write *write, void *user);

/// printf() with every %s and %c escaped for a terminal; newlines of the format itself stay.  A precision cuts no
/// character in two.  Supported: flags, width and precision (also *), h l ll z j, and the conversions d i u x X o e E f
/// F g G a A c s p %.
void carom_safe_print(carom_escape_write *write, void *user, const char *format, va_list args);

/// The same into a buffer, cut before the first character that does not fit; returns text.
char *carom_safe_text(char *text, size_t size, const char *format, va_list args);
