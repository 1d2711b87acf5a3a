// fuzz_result.c: any bytes are a result that can be read to its end, or a sentence.
//
// First byte: 0 a text file as it stands; else changes of a sound HDF5 result, three bytes each: where, in two bytes of
// 1/65536 of its length, and what.
#define _DEFAULT_SOURCE // mkdtemp
#include "fuzz.h"
#include "io/recording.h"
#include <carom/carom.h>
#include <carom/result.h>
#include <unistd.h>

static const char ball[] =
    "carom: 1\ncoordinates: {x: {at: 0, rate: 2}, y: {at: 0.1}}\nenergy: {kinetic: (x'^2 + y'^2)/2, potential: "
    "9.81*y}\n"
    "contacts: {ground: {gap: y, slip: x, restitution: 0.6, friction: 0.3}}\noutputs: {height: y}\n";

static char folder[64];
static uint8_t *sound;
static size_t sound_size;

static void sweep(void) {
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0) perror(folder);
    free(sound);
}

static void prepare(void) {
    char file[100];
    snprintf(folder, sizeof folder, "/tmp/carom-fuzz-XXXXXX");
    PROMISE(mkdtemp(folder), "no folder");
    atexit(sweep);
    snprintf(file, sizeof file, "%s/sound.h5", folder);
    carom_error err = {0};
    carom_model *m =
        carom_model_create(&(carom_model_def){.text = ball, .length = strlen(ball), .file = "ball.yaml"}, &err);
    carom_sim_def d = carom_sim_default();
    d.system = carom_model_system(m), d.h = 1e-2, d.t_end = 0.3, d.q0 = carom_model_q0(m), d.v0 = carom_model_v0(m);
    carom_sim *sim = carom_sim_create(&d, &err);
    carom_record_def rd = carom_record_default();
    rd.model = m, rd.sim = sim, rd.file = file, rd.step = d.h, rd.end = d.t_end, rd.every = 1, rd.text = ball,
    rd.length = strlen(ball);
    carom_record *r = carom_record_create(&rd, &err);
    PROMISE(r && carom_record_advance(r, 100, 0, &err) == CAROM_OK &&
                carom_record_finish(r, "done", NULL, &err) == CAROM_OK,
            "%s", err.text);
    carom_record_destroy(r);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    FILE *f = fopen(file, "rb");
    sound = malloc(1 << 20);
    sound_size = fread(sound, 1, 1 << 20, f);
    fclose(f);
}

static void read_all(const char *file) {
    carom_error err = {0};
    carom_result_probe(file);
    carom_result *r = carom_result_open(file, &err);
    PROMISE(r || strlen(err.text) > 10, "refused without a reason");
    if (!r) return;
    const long rows = carom_result_rows(r), events = carom_result_event_count(r);
    double *x = calloc((size_t)(rows < 1000 ? rows : 1000) + 1, sizeof *x);
    for (int i = 0; i < carom_result_columns(r); ++i) {
        PROMISE(carom_result_column(r, i), "column %d has no name", i);
        carom_result_read(r, i, 0, rows < 1000 ? rows : 1000, x, &err);
    }
    free(x);
    carom_result_event *e = calloc((size_t)(events < 1000 ? events : 1000) + 1, sizeof *e);
    carom_result_events(r, 0, events < 1000 ? events : 1000, e, &err);
    free(e);
    carom_ledger l;
    carom_ledger_names names;
    carom_result_ledger(r, &l, &names);
    for (int i = 0; carom_result_attribute(r, i); ++i) carom_result_text(r, carom_result_attribute(r, i));
    size_t length;
    carom_result_model(r, &length);
    carom_result_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!sound) prepare();
    if (size < 1) return 0;
    const bool text = data[0] == 0;
    char file[100];
    snprintf(file, sizeof file, "%s/fuzz.%s", folder, text ? "csv" : "h5");
    FILE *f = fopen(file, "wb");
    PROMISE(f, "no file");
    if (text) {
        fwrite(data + 1, 1, size - 1, f);
    } else {
        uint8_t *bytes = malloc(sound_size);
        memcpy(bytes, sound, sound_size);
        for (size_t i = 1; i + 2 < size; i += 3)
            bytes[((size_t)data[i] << 8 | data[i + 1]) * sound_size >> 16] = data[i + 2];
        fwrite(bytes, 1, sound_size, f);
        free(bytes);
    }
    fclose(f);
    read_all(file);
    unlink(file);
    return 0;
}
