// cmd_export.c: carom export: a model in another form, or a sweep.
#include "cli/cli.h"
#include "base/text.h"
#include "cli/fmu_parts.h"
#include "cli/sweep_words.h"
#include "cli/vtk.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {"out", 'o', "FILE",
     "output file; default: the name of the model or result with .c, .cu, .fmu, .pvd or .csv, in this directory; - is "
     "standard output (not for vtk and csv)",
     false},
    CLI_SET,
    CLI_MATRIX,
    {"fmi", 0, "2|3", "fmu: version of FMI, default 3", false},
    {"input", 0, "NAME", "fmu: this parameter of the model is an input", true},
    {"compile", 0, "auto|on|off",
     "fmu: include the model as machine code, compiled by $CC or cc; results are bit-identical. "
     "auto (default): where there is a compiler",
     false},
    {"rows", 0, "N", "vtk: maximum number of rows, evenly chosen (default 500, fewer where there are many shapes)",
     false},
    {"from", 0, "T", "vtk: the first time (default: the first row)", false},
    {"to", 0, "T", "vtk: the last time (default: the last row)", false},
    {"model", 0, "FILE", "vtk: draw with this model instead of the one stored in the result (.csv results store none)",
     false},
    SWEEP_OPTIONS,
    SWEEP_RUN_OPTIONS,
    {NULL, 0, NULL, NULL, false},
};

// what is lost shows when the file is closed
static void write_text(void *user, const char *text, size_t length) { fwrite(text, 1, length, user); }

// The model's file name as the beginning of C names.
static char *prefix_of(const char *file) {
    static const char *const endings[] = {".yaml", ".yml", NULL};
    char *name = cli_rename(file, endings, "");
    for (char *c = name; *c; ++c)
        if (!carom_in_word(*c)) *c = '_';
    if (!carom_is_letter(name[0]) || name[0] == '_') name[0] = 'm';
    return name;
}

typedef carom_status writer(const cli_args *a, FILE *f, carom_error *err);

static carom_status write_c(const cli_args *a, FILE *f, carom_error *err) {
    cli_source s;
    char *prefix = prefix_of(a->word[0]);
    err->text[0] = 0; // without a model it has complained
    carom_status status = cli_source_model(&s, a)
                              ? carom_model_write_c(s.model, prefix, s.text, s.def.length, write_text, f, err)
                              : CAROM_BAD_INPUT;
    // lists have fewer laws than pairs: then every pair is written; nothing has gone into the file yet
    if (status == CAROM_BAD_INPUT && carom_model_lists(s.model)) {
        carom_error other = {0};
        carom_model_def def = s.def;
        def.pairs = true;
        carom_model *m = carom_model_create(&def, &other);
        if (m && !carom_model_lists(m) &&
            carom_model_write_c(m, prefix, s.text, s.def.length, write_text, f, &other) == CAROM_OK)
            status = CAROM_OK;
        carom_model_destroy(m);
    }
    cli_source_free(&s);
    free(prefix);
    return status;
}

static carom_status write_cuda(const cli_args *a, FILE *f, carom_error *err) {
    sweep_words words = {0};
    cli_matrices matrices = {0};
    carom_sweep_def d;
    carom_sweep *sweep = NULL;
    carom_status status = CAROM_BAD_INPUT;
    cli_args all = {0};
    size_t length = 0;
    char *own = NULL, *text = cli_read_file(a->word[0], &length);
    err->text[0] = 0;
    if (text && sweep_words_join(a, &cli_sweep, text, length, &all, &own) && sweep_words_read(&all, &words, &d) &&
        cli_matrices_read(&all, &matrices)) {
        d.model.text = text, d.model.length = length, d.model.matrices = matrices.list, d.model.nmatrices = matrices.n;
        sweep = carom_sweep_create(&d, err);
        status = sweep ? carom_sweep_write_cuda(sweep, write_text, f, err) : err->code;
    }
    carom_sweep_destroy(sweep);
    cli_matrices_free(&matrices);
    sweep_words_free(&words);
    cli_free(&all);
    free(own), free(text);
    return status;
}

// The compiled model for an FMU; false: complained.  Without one the FMU interprets the model, to the same bits.
static bool compiled_model(const cli_args *a, const carom_model *m, carom_native_model *native) {
    carom_compile_mode mode = CAROM_COMPILE_AUTO;
    carom_error err = {0};
    if (!cli_compile_mode(a, &mode)) return false;
    if (mode == CAROM_COMPILE_OFF || carom_model_native(m, native, &err) == CAROM_OK) return true;
    if (mode == CAROM_COMPILE_ON) return cli_say("%s", err.text), false;
    cli_say("the FMU contains the interpreted model, not machine code: %s", err.text);
    return true;
}

// Scheme, step and options are those that a run would have.
static carom_status write_fmu(const cli_args *a, FILE *f, carom_error *err) {
    const char *fmi = cli_value(a, "fmi");
    if (fmi && strcmp(fmi, "2") != 0 && strcmp(fmi, "3") != 0)
        return carom_fail(err, CAROM_BAD_INPUT, "--fmi: expected 2 or 3, got %s", fmi);
    const char **inputs = cli_list(a, "input");
    char *prefix = prefix_of(a->word[0]);
    cli_source s = {0};
    carom_run_given given = cli_run_given(a);
    carom_run run = {0};
    carom_native_model native = {0};
    int nmatrices = 0;
    err->text[0] = 0;
    carom_status status =
        cli_duration(a, "step", &given.step) && cli_duration(a, "end", &given.end) ? CAROM_OK : CAROM_BAD_INPUT;
    if (status == CAROM_OK && !cli_source_model(&s, a)) status = CAROM_BAD_INPUT; // it has complained
    const carom_model *m = s.model;
    given.options = s.options;
    if (m) status = carom_run_resolve(&run, m, &given, err);
    carom_sim_def def = status == CAROM_OK ? carom_run_sim(&run, m) : carom_sim_default();
    carom_sim *sim = status == CAROM_OK ? carom_sim_create(&def, err) : NULL; // what a run of it would be refused for
    if (status == CAROM_OK && !sim) status = CAROM_BAD_INPUT;
    carom_sim_destroy(sim);
    if (status == CAROM_OK && !compiled_model(a, m, &native)) status = CAROM_BAD_INPUT;
    if (status == CAROM_OK) {
        const carom_matrix_text *matrices = carom_model_matrices(m, &nmatrices);
        const char *slash = strrchr(a->word[0], '/');
        const fmu_bundle_def bundle = {.text = s.text,
                                       .length = s.def.length,
                                       .file = slash ? slash + 1 : a->word[0],
                                       .set = s.set,
                                       .inputs = inputs,
                                       .matrices = matrices,
                                       .nmatrices = nmatrices,
                                       .run = &run};
        status = carom_fmu_export(&(fmu_export_def){.version = fmi && fmi[0] == '2' ? 2 : 3,
                                                    .identifier = prefix,
                                                    .model = m,
                                                    .bundle = &bundle,
                                                    .library = fmu_library.begin,
                                                    .library_end = fmu_library.end,
                                                    .sources = fmu_sources,
                                                    .licences = fmu_licences,
                                                    .native = native.object ? &native : NULL,
                                                    .event_driven = CAROM_FMU_EVENT_DRIVEN},
                                  f, err);
    }
    const char *name;
    for (int i = 0; status == CAROM_OK && (name = carom_model_following(m, i)); ++i)
        cli_say("'%s' follows its signal in the model and is an output of the FMU; --set %s=0 makes it an input that "
                "starts with 0",
                name, name);
    carom_native_model_free(&native);
    carom_run_free(&run);
    cli_source_free(&s);
    free(inputs), free(prefix);
    return status;
}

// out NULL: standard output, which the program looks at when it ends.
static int write_to(const cli_args *a, writer *write, const char *out) {
    carom_error err = {0};
    whole_file w = {.f = stdout};
    if (out && whole_open(&w, out, &err) != CAROM_OK) return cli_say("%s", err.text), CLI_USAGE;
    carom_status status = write(a, w.f, &err);
    const carom_status closed = out ? whole_close(&w, status == CAROM_OK, &err) : CAROM_OK;
    if (status == CAROM_OK) status = closed;
    if (status != CAROM_OK && err.text[0]) cli_say("%s", err.text);
    return status == CAROM_OK ? CLI_DONE : status == CAROM_BAD_INPUT ? CLI_USAGE : CLI_FAILED;
}

// -- results -----------------------------------------------------------------------------------------------------

static int export_vtk(const cli_args *a, const char *out) {
    vtk_def def = {.out = out, .from = -INFINITY, .to = INFINITY};
    page_view v = {0};
    int status = CLI_USAGE;
    if (!carom_ends(out, ".pvd") || strcmp(out, ".pvd") == 0)
        return cli_say("-o: '%s' does not end in .pvd; a directory next to it contains a file for every row", out),
               status;
    if (!cli_whole(a, "rows", 1000000000, &def.rows) || !cli_time(a, "from", &def.from) || !cli_time(a, "to", &def.to))
        return status;
    if (!cli_writable(out)) return status;
    if (page_begin(&v, a->word[0], cli_value(a, "model"))) status = vtk_write(&v, &def);
    page_close(&v);
    return status;
}

static int export_csv(const cli_args *a, const char *out) {
    carom_error err = {0};
    if (!carom_ends(out, ".csv")) return cli_say("-o: '%s' does not end in .csv", out), CLI_USAGE;
    if (cli_same_file(a->word[0], out))
        return cli_say("output would overwrite the input %s; choose another name with -o", out), CLI_USAGE;
    if (!cli_writable(out)) return CLI_USAGE;
    carom_result *r = carom_result_open(a->word[0], &err);
    const carom_status status = r ? carom_result_save(r, out, &err) : err.code;
    if (r) carom_result_close(r);
    if (status != CAROM_OK) cli_say("%s", err.text);
    else cli_print("%s written\n", out);
    return status == CAROM_OK ? CLI_DONE : !r ? CLI_USAGE : CLI_FAILED;
}

// -- forms -------------------------------------------------------------------------------------------------------

static const struct form {
    const char *name, *ending;
    writer *write;
    int (*result)(const cli_args *a, const char *out);
} forms[] = {
    {"c", ".c", write_c, NULL},        {"cuda", ".cu", write_cuda, NULL}, {"fmu", ".fmu", write_fmu, NULL},
    {"vtk", ".pvd", NULL, export_vtk}, {"csv", ".csv", NULL, export_csv},
};

// The forms that an option belongs to, as letters: c, g (cuda), f (fmu), v (vtk), t (csv).
static const struct { const char *option, *forms, *where; } belongs[] = {
    {"set", "cgf", "models: carom export c, cuda or fmu"},
    {"matrix", "cgf", "models: carom export c, cuda or fmu"},
    {"vary", "g", "sweeps: carom export cuda"},
    {"zip", "g", "sweeps: carom export cuda"},
    {"observe", "g", "sweeps: carom export cuda"},
    {"section", "g", "sweeps: carom export cuda"},
    {"count", "g", "sweeps: carom export cuda"},
    {"transient", "g", "sweeps: carom export cuda"},
    {"scheme", "gf", "sweeps and FMUs: carom export cuda or fmu"},
    {"step", "gf", "sweeps and FMUs: carom export cuda or fmu"},
    {"end", "gf", "sweeps and FMUs: carom export cuda or fmu"},
    {"option", "gf", "sweeps and FMUs: carom export cuda or fmu"},
    {"fmi", "f", "FMUs: carom export fmu"},
    {"compile", "f", "FMUs: carom export fmu"},
    {"input", "f", "FMUs: carom export fmu"},
    {"rows", "v", "results: carom export vtk"},
    {"from", "v", "results: carom export vtk"},
    {"to", "v", "results: carom export vtk"},
    {"model", "v", "results: carom export vtk"},
};

static bool foreign(const cli_args *a, const struct form *f) {
    const char letter = "cgfvt"[f - forms];
    for (size_t i = 0; i < sizeof belongs / sizeof *belongs; ++i)
        if (cli_has(a, belongs[i].option) && !strchr(belongs[i].forms, letter))
            return cli_say("--%s belongs to %s", belongs[i].option, belongs[i].where), true;
    return false;
}

static int run(const cli_args *given) {
    static const char *const endings[] = {".yaml", ".yml", ".h5", ".csv", NULL};
    const struct form *f = NULL;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; ++i)
        if (strcmp(given->word[0], forms[i].name) == 0) f = &forms[i];
    if (!f)
        return cli_say("unknown export format '%s'; expected c, cuda or fmu (model), vtk or csv (result)",
                       given->word[0]),
               CLI_USAGE;
    cli_args a = *given;
    a.word = given->word + 1; // the model or result
    a.n = given->n - 1;
    if (f->result ? cli_wants_result(a.word[0]) : cli_wants_model(a.word[0])) return CLI_USAGE;
    if (foreign(&a, f)) return CLI_USAGE;
    const char *out = cli_value(&a, "out");
    char *own = out ? NULL : cli_rename(a.word[0], endings, f->ending);
    if (!out) out = own;
    const bool file = strcmp(out, "-") != 0;
    // given, so own is NULL
    if (file && strcmp(f->ending, ".fmu") == 0 && !carom_ends(out, ".fmu"))
        return cli_say("-o: '%s' does not end in .fmu", out), CLI_USAGE;
    const int code = f->result ? f->result(&a, out) : write_to(&a, f->write, file ? out : NULL);
    if (code == CLI_DONE && file && !f->result) cli_print("%s written\n", out);
    free(own);
    return code;
}

const cli_verb cli_export = {
    .name = "export",
    .arguments = "FORM FILE",
    .least = 2,
    .most = 2,
    .options = options,
    .run = run,
    .about = "export a model as C17 source (c), a CUDA sweep (cuda) or an FMU (fmu), or a result for ParaView (vtk) or "
             "as text (csv)",
    .text = "FORM c: functions for mass, forces, gaps, directions, rates, derivatives, energy and outputs of (t, q, v, "
            "parameters), without\n"
            "allocation or global state.  Compiled with -ffp-contract=off their results are bit-identical to those of "
            "carom.  "
            "Flexible members and contacts\n"
            "between shapes are included; with a dynamic contact list the caller specifies which shapes are near "
            "(docs/compile.md).\n\n"
            "FORM cuda: the sweep that --vary, --observe and --section describe, as for `carom sweep`, in one file "
            "that nvcc alone builds.  The\n"
            "program prints the tables of the sweep, and timings on standard error.  It runs what lanes "
            "run (docs/sweep.md).\n\n"
            "FORM fmu: a functional mock-up unit for co-simulation (docs/fmi.md) with the library for this machine, "
            "which requires only libc, the\n"
            "compiled model, and sources for other machines.  It simulates with the scheme, step and options that "
            "`carom run` would use; results are bit-identical.\n\n"
            "FORM vtk: a result as a series of files that ParaView opens: the moving shapes with their velocities, and "
            "the points of contacts with\n"
            "forces and impulses (docs/view.md).  NAME.pvd lists the files in the directory NAME.vtk; "
            "NAME.contacts.pvd those of contacts.\n\n"
            "FORM csv: a result as text, one row of names and rows of numbers, as `carom run --out FILE.csv` writes "
            "it; events and snapshots of\n"
            "contacts in FILE.csv.events.csv and FILE.csv.contacts.csv.",
};
