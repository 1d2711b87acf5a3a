// bundle.c: a model as the text that an FMU carries, and back.
//
//     carom-fmu 1
//     scheme 11             a word and the length of what follows, then the text itself in a line of its own
//     moreau-jean
//     ...
//     tree 1234             the mechanism, see tree.c
#include "base/number.h"
#include "fmu/bundle.h"
#include "fmu/tree.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char HEAD[] = "carom-fmu 1\n";

// -- writing -------------------------------------------------------------------------------------------------------

typedef struct output { carom_write_text *write; void *user; } output;

static void put(const output *o, const char *word, const char *text, size_t length) {
    char head[64];
    snprintf(head, sizeof head, "%.20s %zu\n", word, length);
    o->write(o->user, head, strlen(head));
    o->write(o->user, text, length);
    o->write(o->user, "\n", 1);
}

static void put_number(const output *o, const char *word, double x) {
    char text[40];
    put(o, word, text, (size_t)carom_format(text, sizeof text, "%.17g", x));
}

static void put_list(const output *o, const char *word, const char *const *list) {
    for (int i = 0; list && list[i]; ++i) put(o, word, list[i], strlen(list[i]));
}

carom_status carom_fmu_bundle_write(const fmu_bundle_def *def, carom_write_text *write, void *user, carom_error *err) {
    const output o = {write, user};
    char *tree = carom_tree_text(def->text, def->length, def->file, err);
    if (!tree) return err->code;
    write(user, HEAD, sizeof HEAD - 1);
    put(&o, "file", def->file, strlen(def->file));
    put(&o, "scheme", def->run->scheme, strlen(def->run->scheme));
    put_number(&o, "step", def->run->step);
    put_number(&o, "end", def->run->end);
    put_list(&o, "option", def->run->options);
    put_list(&o, "input", def->inputs);
    put(&o, "tree", tree, strlen(tree));
    for (int i = 0; i < def->nmatrices; ++i) {
        put(&o, "name", def->matrices[i].name, strlen(def->matrices[i].name));
        put(&o, "matrix", def->matrices[i].text, def->matrices[i].length);
    }
    put_list(&o, "set", def->set);
    free(tree);
    return CAROM_OK;
}

// -- reading -------------------------------------------------------------------------------------------------------

typedef struct input { const char *at, *end; } input;
typedef struct entry { char word[24]; const char *text; size_t length; } entry;

static carom_status damaged(carom_error *err) {
    return carom_fail(err, CAROM_BAD_INPUT, "resources/model.txt of the FMU is damaged; export the FMU again");
}

static bool next(input *in, entry *e) {
    const char *line = memchr(in->at, '\n', (size_t)(in->end - in->at)),
               *space = line ? memchr(in->at, ' ', (size_t)(line - in->at)) : NULL;
    if (!space || space - in->at >= (int)sizeof e->word) return false;
    snprintf(e->word, sizeof e->word, "%.*s", (int)(space - in->at), in->at);
    char *stop;
    const unsigned long long length = strtoull(space + 1, &stop, 10);
    if (stop != line || length >= (unsigned long long)(in->end - line - 1)) return false;
    e->text = line + 1;
    e->length = (size_t)length;
    in->at = e->text + length;
    return *in->at++ == '\n';
}

static char *copy(const entry *e) {
    char *text = malloc(e->length + 1);
    if (!text) return NULL;
    memcpy(text, e->text, e->length);
    text[e->length] = 0;
    return text;
}

static bool append(char ***list, const entry *e) {
    int n = 0;
    while (*list && (*list)[n]) ++n;
    char **more = realloc(*list, ((size_t)n + 2) * sizeof *more);
    if (!more) return false;
    *list = more;
    more[n] = copy(e);
    more[n + 1] = NULL;
    return more[n] != NULL;
}

typedef struct reading { fmu_bundle *b; char *file, *name; } reading;

static carom_status use(reading *r, const entry *e, carom_error *err) {
    fmu_bundle *b = r->b;
    char *text = strcmp(e->word, "tree") == 0 ? NULL : copy(e);
    carom_status status = CAROM_OK;
    char **keep = strcmp(e->word, "file") == 0     ? &r->file
                  : strcmp(e->word, "name") == 0   ? &r->name
                  : strcmp(e->word, "scheme") == 0 ? &b->scheme
                                                   : NULL;
    if (keep) {
        free(*keep);
        *keep = text;
        text = NULL;
    } else if (strcmp(e->word, "step") == 0) b->step = carom_number(text ? text : "", NULL);
    else if (strcmp(e->word, "end") == 0) b->end = carom_number(text ? text : "", NULL);
    else if (strcmp(e->word, "option") == 0)
        status =
            append(&b->options, e) ? CAROM_OK : carom_fail(err, CAROM_NO_MEMORY, "not enough memory to read the model");
    else if (strcmp(e->word, "input") == 0)
        status =
            append(&b->inputs, e) ? CAROM_OK : carom_fail(err, CAROM_NO_MEMORY, "not enough memory to read the model");
    else if (strcmp(e->word, "tree") == 0 && !b->mech) {
        b->mech = carom_mech_read(e->text, e->length, r->file ? r->file : "model", err);
        status = b->mech ? CAROM_OK : err->code;
    } else if (strcmp(e->word, "matrix") == 0 && b->mech && r->name && text)
        status = carom_mech_add_matrix(b->mech,
                                       &(carom_matrix_text){.name = r->name, .text = text, .length = e->length}, err);
    else if (strcmp(e->word, "set") == 0 && b->mech && text) status = carom_mech_set(b->mech, text, err);
    else status = damaged(err);
    free(text);
    return status;
}

carom_status carom_fmu_bundle_read(fmu_bundle *b, const char *text, size_t length, carom_error *err) {
    *b = (fmu_bundle){.mech = NULL};
    reading r = {.b = b};
    input in = {text + sizeof HEAD - 1, text + length};
    entry e;
    if (length < sizeof HEAD || memcmp(text, HEAD, sizeof HEAD - 1) != 0) return damaged(err);
    carom_status status = CAROM_OK;
    while (status == CAROM_OK && in.at < in.end) status = next(&in, &e) ? use(&r, &e, err) : damaged(err);
    free(r.file);
    free(r.name);
    if (status == CAROM_OK && !(b->mech && b->scheme && b->step > 0 && b->end > 0)) status = damaged(err);
    return status;
}

static void free_list(char **list) {
    for (int i = 0; list && list[i]; ++i) free(list[i]);
    free(list);
}

void carom_fmu_bundle_free(fmu_bundle *b) {
    carom_mech_destroy(b->mech);
    free(b->scheme);
    free_list(b->options);
    free_list(b->inputs);
    *b = (fmu_bundle){.mech = NULL};
}
