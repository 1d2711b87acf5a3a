// page.h: the page of `carom view`: rows that are kept, numbers that are drawn, HTML around them.
#pragma once
#include "cli/cli.h"

typedef struct page_event {
    double t, before, after, impulse;
    unsigned contact, kind; // indices
} page_event;

typedef struct page {
    carom_result *r;
    const char *file;       // of the result, without folders
    carom_drawing *drawing; // NULL: nothing to draw
    const carom_model *of;  // whose coordinates and states are columns; NULL: unknown

    long rows, kept, *row;  // rows of the result; those that the page holds, in order
    int columns, channels;  // channels: columns, then the numbers of the drawing
    double **channel;       // channels x kept
    const char **column;    // names of columns; the result's

    page_event *event;      // in order of time
    long events, events_of; // those that the page holds; those of the result
    char **contact;         // names
    unsigned contacts;
    char note[160];         // for the reader; "" none
    bool live;              // the result grows: the page is to load itself again
    bool coarse;            // numbers of 16 bits: worlds, whose page would become too large
} page;

enum { PAGE_KINDS = 6 }; // of events, in the order of carom_event_kind

/// Which rows and events to keep (at most about `most` rows), and their values.  False: complained.
bool page_read(page *p, long most);
/// The numbers of the drawing in every kept row, from the model's coordinates in the columns.  False: *why says what is
/// missing.
bool page_draw(page *p, const carom_model *m, carom_drawing *d, char *why, size_t size);
/// The columns of the model's positions, velocities and signals (carom_drawing_signal()), -1: not recorded; to be
/// freed.  NULL: *why says what is missing.
int *page_columns(const page *p, const carom_model *m, const carom_drawing *d, char *why, size_t size);
bool page_write(const page *p, FILE *f, const char *model, carom_error *err);
/// Leave the columns of the model's velocities out; returns how many.
int page_drop_rates(page *p, const carom_model *m);
void page_free(page *p);

// Pieces of pages.  JSON is written so that it cannot end a script.
void page_base64(FILE *f, const unsigned char *bytes, size_t n);
void page_json(FILE *f, const char *json, size_t length);
void page_part(FILE *f, const char *before, const unsigned char *text, size_t size, const char *after);

/// A result with the model it holds.
typedef struct page_view {
    page page;
    carom_model *model;
    carom_drawing *drawing;
    char *text, *set_own; // owned
    const char **set;
    const char *model_text;
} page_view;
/// model: a file that draws it instead, NULL: the result's own; rows 0: as many as fit; live: the result grows.  False:
/// complained; page_close() all the same.
bool page_begin(page_view *v, const char *file, const char *model); // result, model and drawing, but no rows
bool page_open(page_view *v, const char *file, const char *model, long rows, bool live);
void page_close(page_view *v);
bool page_write_view(const void *view, FILE *f, carom_error *err); // for page_save()

/// Does the name of a page end as one does?  False: complained.
bool page_good_name(const char *out);
/// The exit status; complained where it is not CLI_DONE.
int page_save(const char *out, bool (*write)(const void *user, FILE *f, carom_error *err), const void *user);

// Generated at build time from page/dist.
extern const unsigned char page_js[], page_css[], page_space_js[];
extern const size_t page_js_size, page_css_size, page_space_js_size;
extern const unsigned char page_play_js[], page_play_css[], page_worker_js[], page_carom_wasm_gz[];
extern const size_t page_play_js_size, page_play_css_size, page_worker_js_size, page_carom_wasm_gz_size;
