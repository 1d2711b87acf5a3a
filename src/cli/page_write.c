// page_write.c: one HTML file that needs nothing else.
//
// Numbers go in as one block in base64: times in double precision, everything else as 32-bit floats.  A column whose
// values vary little around something large is stored as differences from there, so that the error is at most 6e-8 of
// the value or of the column's range, whichever is smaller.  Of a world (page.coarse) they are integers of 16 bits,
// parts of the column's range.  Constant channels are not stored, equal ones once.  Text from the result cannot end a
// script: every < of the JSON is written as an escape.
#define _POSIX_C_SOURCE 200809L
#include "cli/page.h"
#include "derive/draw/words.h"
#include "io/json.h"
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// -- base64 -------------------------------------------------------------------------------------------------

typedef struct encoder {
    FILE *f;
    uint32_t bits;
    int count; // bytes in bits
} encoder;

static void flush(encoder *e) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (e->count == 0) return;
    const uint32_t bits = e->bits << 8 * (3 - e->count);
    char out[4];
    for (int k = 0; k < 4; ++k) out[k] = k <= e->count ? letters[bits >> (18 - 6 * k) & 63] : '=';
    fwrite(out, 1, 4, e->f);
    e->bits = 0;
    e->count = 0;
}

static void put_bytes(encoder *e, uint64_t value, int bytes) { // the lowest first, on every machine
    for (int k = 0; k < bytes; ++k) {
        e->bits = e->bits << 8 | (uint32_t)(value >> 8 * k & 255);
        if (++e->count == 3) flush(e);
    }
}

void page_base64(FILE *f, const unsigned char *bytes, size_t n) {
    encoder e = {.f = f};
    for (size_t i = 0; i < n; ++i) put_bytes(&e, bytes[i], 1);
    flush(&e);
}

static void put_double(encoder *e, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    put_bytes(e, bits, 8);
}

static void put_float(encoder *e, double x) {
    const float y = x > FLT_MAX ? INFINITY : x < -FLT_MAX ? -INFINITY : (float)x;
    uint32_t bits;
    memcpy(&bits, &y, sizeof bits);
    put_bytes(e, bits, 4);
}

// -- channels -----------------------------------------------------------------------------------------------

typedef struct store {
    int *slot;      // of every channel: which stored one, -1: constant
    double *offset; // of every channel
    double *scale;  // of every channel; of a coarse page
    int *first;     // of every stored one: its channel
    uint64_t *hash;
    int *bucket, buckets; // stored ones by hash, + 1; 0: free
    int stored;
} store;

static uint64_t hash_of(const double *x, long n) {
    uint64_t h = 1469598103934665603u;
    for (long i = 0; i < n; ++i) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        h = (h ^ bits) * 1099511628211u;
        h ^= h >> 29;
    }
    return h;
}

static bool constant(const double *x, long n) {
    for (long i = 1; i < n; ++i)
        if (memcmp(&x[i], &x[0], sizeof *x) != 0 && x[i] != x[0]) return false;
    return true;
}

static double offset_of(const double *x, long n) {
    double low = INFINITY, high = -INFINITY;
    for (long i = 0; i < n; ++i) {
        if (!isfinite(x[i])) continue;
        low = fmin(low, x[i]);
        high = fmax(high, x[i]);
    }
    const double mid = low + (high - low) / 2;
    return low <= high && isfinite(mid) && high - low < fabs(mid) ? mid : 0;
}

enum { PARTS = 65534, UNKNOWN }; // of a range in 16 bits; what is no number

// The range of a channel in PARTS steps: x = offset + scale k, so that the error is at most range / (2 PARTS).
static void scale_of(const double *x, long n, double *offset, double *scale) {
    double low = INFINITY, high = -INFINITY;
    for (long i = 0; i < n; ++i) {
        if (!isfinite(x[i])) continue;
        low = fmin(low, x[i]);
        high = fmax(high, x[i]);
    }
    *offset = low <= high ? low : 0;
    *scale = low < high ? high / PARTS - low / PARTS : 0;
}

static unsigned part_of(double x, double offset, double scale) {
    if (!isfinite(x)) return UNKNOWN;
    const double k = scale > 0 ? round((x - offset) / scale) : 0;
    return k < 0 ? 0 : k > PARTS ? PARTS : (unsigned)k;
}

static bool arrange(const page *p, store *s) {
    const size_t n = (size_t)p->channels;
    *s = (store){.slot = calloc(n, sizeof *s->slot),
                 .offset = calloc(n, sizeof *s->offset),
                 .scale = calloc(n, sizeof *s->scale),
                 .first = calloc(n, sizeof *s->first),
                 .hash = calloc(n, sizeof *s->hash)};
    for (s->buckets = 64; s->buckets < 2 * p->channels;) s->buckets *= 2;
    s->bucket = calloc((size_t)s->buckets, sizeof *s->bucket);
    if (!s->slot || !s->offset || !s->scale || !s->first || !s->hash || !s->bucket) return false;
    for (int c = 1; c < p->channels; ++c) {
        const double *x = p->channel[c];
        s->slot[c] = -1;
        if (constant(x, p->kept)) continue;
        const uint64_t h = hash_of(x, p->kept);
        const uint64_t last = (uint64_t)s->buckets - 1;
        uint64_t b = h & last;
        for (; s->bucket[b]; b = (b + 1) & last)
            if (s->hash[s->bucket[b] - 1] == h &&
                memcmp(p->channel[s->first[s->bucket[b] - 1]], x, sizeof *x * (size_t)p->kept) == 0)
                break;
        if (!s->bucket[b]) {
            s->hash[s->stored] = h;
            s->first[s->stored] = c;
            s->bucket[b] = ++s->stored;
        }
        s->slot[c] = s->bucket[b] - 1;
        if (p->coarse) scale_of(x, p->kept, &s->offset[c], &s->scale[c]);
        else s->offset[c] = offset_of(x, p->kept);
    }
    return true;
}

static void release(store *s) {
    free(s->slot);
    free(s->offset);
    free(s->scale);
    free(s->first);
    free(s->hash);
    free(s->bucket);
}

static void put_block(const page *p, const store *s, FILE *f) {
    encoder e = {.f = f};
    const int fine = p->coarse ? 0 : s->stored;
    for (long i = 0; i < p->kept; ++i) put_double(&e, p->channel[0][i]);
    for (long i = 0; i < p->events; ++i) put_double(&e, p->event[i].t);
    for (int k = fine; k < s->stored; ++k)
        put_double(&e, s->offset[s->first[k]]), put_double(&e, s->scale[s->first[k]]);
    for (int k = 0; k < fine; ++k)
        for (long i = 0; i < p->kept; ++i) put_float(&e, p->channel[s->first[k]][i] - s->offset[s->first[k]]);
    for (long i = 0; i < p->events; ++i) put_float(&e, p->event[i].impulse);
    for (long i = 0; i < p->events; ++i) put_float(&e, p->event[i].before);
    for (long i = 0; i < p->events; ++i) put_float(&e, p->event[i].after);
    for (long i = 0; i < p->events; ++i) put_bytes(&e, p->event[i].contact, 4);
    for (long i = 0; i < p->events; ++i) put_bytes(&e, p->event[i].kind, 4);
    for (int k = fine; k < s->stored; ++k) {
        const int c = s->first[k];
        for (long i = 0; i < p->kept; ++i) put_bytes(&e, part_of(p->channel[c][i], s->offset[c], s->scale[c]), 2);
    }
    flush(&e);
}

// -- JSON ---------------------------------------------------------------------------------------------------

static void strings(FILE *f, const char *name, const char *const *list, long n) {
    fprintf(f, ",\n\"%s\":[", name);
    for (long i = 0; i < n; ++i) {
        if (i) fputc(',', f);
        carom_json_string(f, list[i]);
    }
    fputc(']', f);
}

// Of every column, "" where it is not known; nothing where the model gives no units.
static void put_column_units(const page *p, FILE *f) {
    char unit[24];
    if (!carom_result_unit(p->r, "t", unit, sizeof unit)) return;
    for (int i = 0; i < p->columns; ++i) {
        fputs(i ? "," : ",\n\"units\":[", f);
        carom_json_string(f, carom_result_unit(p->r, p->column[i], unit, sizeof unit) ? unit : "");
    }
    fputc(']', f);
}

static void put_channels(const page *p, const store *s, FILE *f) {
    fputs(",\n\"channels\":[0", f); // the first is time
    for (int c = 1; c < p->channels; ++c) {
        fputc(',', f);
        if (s->slot[c] < 0) {
            carom_json_number(f, p->channel[c][0]);
            continue;
        }
        fprintf(f, p->coarse ? "[%d" : "[%d,", s->slot[c]);
        if (!p->coarse) carom_json_number(f, s->offset[c]);
        fputc(']', f);
    }
    fprintf(f, "],\"%s\":%d", p->coarse ? "coarse" : "stored", s->stored);
}

static void put_shapes(const page *p, FILE *f) {
    const int n = p->drawing ? carom_drawing_shapes(p->drawing) : 0;
    fprintf(f, ",\n\"dim\":%d,\"shapes\":[", p->drawing ? carom_drawing_dim(p->drawing) : 2);
    for (int i = 0; i < n; ++i) {
        const carom_drawn s = carom_drawing_shape(p->drawing, i);
        fprintf(f, "%s\n{\"figure\":\"%s\",\"name\":", i ? "," : "", carom_figure_word(s.figure));
        carom_json_string(f, s.name);
        fputs(",\"colour\":", f);
        carom_json_string(f, s.colour);
        fprintf(f, ",\"trace\":%s,\"of\":%d,\"at\":%d,\"sizes\":%d,\"points\":%d,\"turn\":%d",
                s.trace ? "true" : "false", s.of, p->columns + s.first, s.sizes, s.points, s.rotation);
        if (s.endless) fputs(",\"endless\":true", f);
        for (int k = 0; k < s.nfixed; ++k) {
            fputs(k ? "," : ",\"fixed\":[", f);
            carom_json_number(f, s.fixed[k]);
        }
        fputs(s.nfixed ? "]}" : "}", f);
    }
    fputc(']', f);
}

static void put_run(const page *p, FILE *f) {
    fputs(",\n\"run\":{", f);
    const char *name;
    for (int i = 0; (name = carom_result_attribute(p->r, i)) != NULL; ++i) {
        if (i) fputc(',', f);
        carom_json_string(f, name);
        fputc(':', f);
        double x = 0;
        if (carom_result_number(p->r, name, &x)) carom_json_number(f, x);
        else carom_json_string(f, carom_result_text(p->r, name));
    }
    fputc('}', f);
}

// How many columns behind time are coordinates.  Those of states are hidden, and results with flexible members hold
// points instead.
static int positions(const page *p) {
    int count = 0;
    for (int i = 0; p->of && i < carom_model_count(p->of).coordinates && count + 1 < p->columns; ++i)
        count += strcmp(p->column[count + 1], carom_model_coordinate(p->of, i)) == 0;
    return count;
}

static void put_states(const page *p, FILE *f) {
    bool first = true;
    for (int i = 0; p->of && i < carom_model_system(p->of)->nv; ++i) {
        if (!carom_model_state(p->of, i)) continue;
        fputs(first ? ",\n\"states\":[" : ",", f);
        carom_json_string(f, carom_model_velocity(p->of, i));
        first = false;
    }
    if (!first) fputc(']', f);
}

static void put_json(const page *p, const store *s, FILE *f, const char *model) {
    const char *title = carom_result_text(p->r, "name"), *kinds[PAGE_KINDS];
    for (int k = 0; k < PAGE_KINDS; ++k) kinds[k] = carom_event_word((carom_event_kind)k);
    fputs("{\"format\":1,\"version\":\"" CAROM_VERSION "\",\"title\":", f);
    carom_json_string(f, title && title[0] ? title : p->file);
    fprintf(f, ",\"rows\":%ld,\"of\":%ld,\"positions\":%d", p->kept, p->rows, positions(p));
    if (p->live) fputs(",\"live\":true", f);
    strings(f, "columns", p->column, p->columns);
    put_states(p, f);
    put_column_units(p, f);
    put_channels(p, s, f);
    put_shapes(p, f);
    fprintf(f, ",\n\"events\":{\"count\":%ld,\"of\":%ld", p->events, p->events_of);
    strings(f, "contacts", (const char *const *)p->contact, p->contacts);
    strings(f, "kinds", kinds, PAGE_KINDS);
    fputc('}', f);
    put_run(p, f);
    const char *const notes[1] = {p->note};
    strings(f, "notes", notes, p->note[0] ? 1 : 0);
    carom_ledger l;
    carom_ledger_names who;
    if (carom_result_ledger(p->r, &l, &who)) {
        fputs(",\n\"ledger\":{", f);
        carom_ledger_json(f, &l, who);
        fputc('}', f);
    }
    fputs(",\n\"model\":", f);
    carom_json_string(f, model);
    fputs("}\n", f);
}

// -- HTML ---------------------------------------------------------------------------------------------------

// < and * are in strings only; a mark /*...*/ is the page's own.
void page_json(FILE *f, const char *json, size_t length) {
    carom_escape(CAROM_FOR_SCRIPT, json, length, carom_write_file, f);
}

void page_part(FILE *f, const char *before, const unsigned char *text, size_t size, const char *after) {
    fputs(before, f);
    fwrite(text, 1, size, f);
    fputs(after, f);
}

static void put_page(const page *p, const store *s, FILE *f, const char *json, size_t length) {
    const char *title = carom_result_text(p->r, "name");
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"generator\" content=\"carom " CAROM_VERSION "\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
          "style-src 'unsafe-inline'; img-src data: blob:\">\n"
          "<title>",
          f);
    carom_escape_file(CAROM_FOR_HTML, f, title && title[0] ? title : p->file);
    page_part(
        f, "</title>\n<style>\n", page_css, page_css_size,
        "</style>\n</head>\n<body>\n<noscript>This page draws with JavaScript, which is switched off here.</noscript>\n"
        "<script type=\"application/json\" id=\"carom-page\">\n");
    page_json(f, json, length);
    fputs("</script>\n<script type=\"text/plain\" id=\"carom-data\">\n", f);
    put_block(p, s, f);
    fputs("\n</script>\n", f);
    if (p->drawing && carom_drawing_dim(p->drawing) == 3)
        page_part(f, "<script>\n", page_space_js, page_space_js_size, "</script>\n");
    page_part(f, "<script>\n", page_js, page_js_size, "</script>\n</body>\n</html>\n");
}

bool page_write(const page *p, FILE *f, const char *model, carom_error *err) {
    store s = {0};
    char *json = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&json, &length);
    bool good = memory && arrange(p, &s);
    if (memory && good) put_json(p, &s, memory, model);
    if (memory) good = fclose(memory) == 0 && good;
    if (good) put_page(p, &s, f, json, length);
    else carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the page");
    release(&s);
    free(json);
    return good;
}
