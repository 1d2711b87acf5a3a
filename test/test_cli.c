// test_cli.c: the program as a person uses it: wrong usage, exit statuses, messages, and verbs other than run.
#define _DEFAULT_SOURCE // mkdtemp
#include "cli_rig.h"
#include "json.h"
#include "quick.h"
#include <sys/stat.h>

// -- usage --------------------------------------------------------------------------------------------

static void help_and_version(void **state) {
    (void)state;
    assert_int_equal(carom("--version"), 0);
    assert_string_equal(out, "carom " CAROM_VERSION "\n");
    assert_int_equal(carom("help"), 0);
    static const char *const verbs[] = {"run", "check", "info", "schemes", "examples", "plot", "view", "help"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; ++i) {
        assert_int_equal(carom("help"), 0);
        char line[32];
        snprintf(line, sizeof line, "carom %s ", verbs[i]);
        assert_says(out, line);
        assert_int_equal(carom("help %s", verbs[i]), 0);
        assert_null(strstr(out, " \n")); // no blanks at the ends of lines
        snprintf(line, sizeof line, "usage: carom %s", verbs[i]);
        assert_says(out, line);
        assert_int_equal(carom("%s --help", verbs[i]), 0);
        assert_says(out, line);
    }
    assert_int_equal(carom("--help"), 0);
    assert_int_equal(carom("%s", ""), 2);
}

static void wrong_usage_is_exit_2_with_a_suggestion(void **state) {
    (void)state;
    static const struct { const char *line, *says; } cases[] = {
        {"rum ball.yaml", "did you mean 'run'"},
        {"run ball.yaml --stp 1e-3", "did you mean --step"},
        {"sweep ball.yaml --vary e=0.1,0.2 --observe q,impacts", "repeat the option for each"},
        {"run ball.yaml --step", "--step needs a value"},
        {"run ball.yaml --step abc", "'abc' is not a time; write a number of seconds"},
        {"run ball.yaml --step '2 mm'", "--step: '2 mm' is not a time"},
        {"run ball.yaml --end '2 furlong'", "--end: '2 furlong' is not a time"},
        {"run ball.yaml --end '1e999 s'", "--end: '1e999 s' is not a time"},
        {"run ball.yaml --dt-out '-1 ms'", "--dt-out must be positive, got -1 ms"},
        {"run ball.yaml --step -1", "--step must be positive, got"},
        {"run ball.yaml --step 1e-3 --step=1e-4", "given twice"},
        {"run ball.yaml --quiet=1", "takes no value"},
        {"run ball.yaml --every 2 --dt-out 0.1", "mutually exclusive; give one"},
        {"run ball.yaml --every 2.5", "--every: expected an integer, got 2.5"},
        {"run ball.yaml --out - --json", "standard output"},
        {"run ball.yaml --out x.txt", "neither in .h5 nor in .csv"},
        {"run ball.yaml second.yaml", "second.yaml"},
        {"run", "needs a model"},
        {"run nowhere.yaml", "No such file"},
        {"run ball.yaml --scheme moreau-jeam", "did you mean 'moreau-jean'"},
        {"run ball.yaml --scheme moreau-mid", "did you mean 'moreau-midpoint'? `carom schemes` lists them"},
        {"run ball.yaml --option tets=1", "its options are"},
        {"run ball.yaml --scheme moreau-jean --rtol 1e-6", "--rtol belongs to adaptive steps; add --adaptive"},
        // its atol does nothing without
        {"run ball.yaml --scheme splitting --atol 1e-6", "--atol belongs to adaptive steps; add --adaptive"},
        {"run ball.yaml --start ball.yaml", "ball.yaml is a model, not a state"},
        {"play kind.h5", "kind.h5 is a result, not a model"},
        {"view picture.png", "picture.png is not a result\n"},
        {"info damaged.h5", "cannot read damaged.h5, which may be damaged; run its model again"},
        {"plot damaged.h5", "cannot read damaged.h5, which may be damaged; run its model again"},
        {"view damaged.h5", "cannot read damaged.h5, which may be damaged; run its model again"},
        {"run damaged.h5", "damaged.h5 is a result, not a model"},
        {"check nowhere.h5", "cannot read nowhere.h5: No such file"},
        {"view ball.yaml", "ball.yaml is a model, not a result; run `carom run ball.yaml` first"},
        {"run ball.yaml --set nothing=1", "nothing"},
        {"run ball.yaml --out nowhere/x.h5", "cannot create"},
        {"run ball.yaml --resume nowhere.h5", "No such file"},
        // nobody writes there: no verb waits
        {"run --resume pipe.h5", "cannot read a result from pipe.h5: it is not a regular file"},
        {"run ball.yaml --start pipe.h5 --out never.h5", "cannot read a state from pipe.h5: it is not a regular file"},
        {"sweep --resume pipe.h5", "pipe.h5 is not a sweep"},
        {"merge pipe.h5 --out never.h5", "pipe.h5 has no table /runs"},
        {"sweep ball.yaml --vary g=9:10:2 --part 1/2 --out part.csv",
         "`carom merge` reads .h5 files; give --out PART.h5"},
        {"run ball.yaml --watch --out own.h5", "--watch would replace own.html, which carom did not write"},
        {"schemes moreau-jeam", "did you mean 'moreau-jean'"},
        {"examples bouncing-bal", "did you mean 'bouncing-ball'"},
        {"check", "check needs a MODEL; usage: carom check MODEL"},
        {"plot", "plot needs a RESULT; usage: carom plot RESULT..."},
        {"info", "info needs a FILE; usage: carom info FILE"},
        {"info nowhere.yaml", "No such file"},
        {"help plto", "did you mean 'plot'"},
        {"--verison", "unknown command '--verison'; did you mean '--version'?"},
        {"--scheme auto", "unknown command '--scheme'; options follow the command"},
        {"examples slider", "did you mean 'slider-crank'?"}, // not one of the longer names
    };
    put("ball.yaml", ball);
    put("own.html", "<!doctype html>\n<title>A report</title>\n");
    assert_int_equal(mkfifo("pipe.h5", 0600), 0);
    put("picture.png", "\211PNG\r\n");
    put("damaged.h5", ball); // a result holds its model, which may outlast the head of the file
    assert_int_equal(carom("run ball.yaml --quiet --end 0.1 --out kind.h5"), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        if (carom("%s", cases[i].line) != 2) fail_msg("carom %s: not exit 2; %s", cases[i].line, complaints);
        assert_says(complaints, cases[i].says);
        assert_string_equal(out, "");
    }
    assert_int_equal(carom("sweep ball.yaml --vary g=nowhere.csv:g --out part.csv"), 2);
    assert_string_equal(complaints, "carom: --vary g: cannot read nowhere.csv: No such file or directory\n");
    assert_false(there("ball.h5") || there("own.h5") || there("part.csv"));
    assert_int_equal(carom("run ball.yaml --watch --out own.h5 --force --quiet"), 0);
    assert_int_equal(carom("run ball.yaml --watch --out own.h5 --quiet"), 0); // it is a page of carom now
}

static void a_step_or_end_that_is_missing_is_asked_for(void **state) {
    (void)state;
    put("bare.yaml", "carom: 1\ncoordinates: {y: {at: 1}}\nenergy: {kinetic: 1/2*y'^2, potential: y}\n");
    assert_int_equal(carom("run bare.yaml --quiet --end 1"), 0); // auto needs none
    assert_int_equal(carom("run bare.yaml --scheme half-explicit --end 1"), 2);
    assert_says(complaints, "give --step");
    assert_int_equal(carom("run bare.yaml --step 0.1"), 2);
    assert_says(complaints, "give --end");
    assert_int_equal(carom("run bare.yaml --step=0.1 --end=1 --json"), 0); // and the default scheme
    assert_true(json_valid(out));
}

static void a_wrong_model_is_exit_2_with_its_place(void **state) {
    (void)state;
    put("wrong.yaml", "carom: 1\ncoordinates: {y: {at: 1}}\nenergy: {kinetic: 1/2*y'^2, potential: w*y}\n");
    static const char *const verbs[] = {"run", "check", "info"};
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(carom("%s wrong.yaml", verbs[i]), 2);
        assert_says(complaints, "wrong.yaml:3:");
    }
}

// Models and results look alike to who has just begun: each verb says what the file is and which verb takes it.
static void a_file_of_the_other_kind_is_told_as_such(void **state) {
    (void)state;
    put("ball.yaml", ball);
    put("ball.txt", ball);
    assert_int_equal(carom("run ball.yaml --quiet --end 0.1 --out kind.h5"), 0);
    assert_int_equal(carom("plot ball.yaml"), 2);
    assert_says(complaints, "ball.yaml is a model, not a result; run `carom run ball.yaml` first");
    assert_int_equal(carom("plot kind.h5 ball.txt"), 2);
    assert_says(complaints, "ball.txt is a model, not a result");
    assert_int_equal(carom("check kind.h5"), 2);
    assert_says(complaints, "kind.h5 is a result, not a model; use `carom info kind.h5`");
    assert_int_equal(carom("run kind.h5"), 2);
    assert_says(complaints, "--resume kind.h5");
    assert_int_equal(carom("compare kind.h5"), 2);
    assert_says(complaints, "--reference kind.h5");
}

static void what_the_simulation_section_gets_wrong_has_its_place(void **state) {
    (void)state;
    static const struct { const char *section, *says; } cases[] = {
        {"{scheme: moreau-midpont, step: 1e-3, end: 1}", "wrong.yaml:5:22: unknown scheme 'moreau-midpont'"},
        {"{scheme: moreau-jean, options: {theta: 1, thta: 1}, step: 1e-3, end: 1}",
         "wrong.yaml:5:55: scheme moreau-jean: unknown option 'thta'"},
        {"{scheme: moreau-jean, options: {theta: 2}, step: 1e-3, end: 1}",
         "wrong.yaml:5:45: option theta: 2 is outside"},
        {"{scheme: schatzman-paoli, step: 1e-3, end: 1}",
         "wrong.yaml:5:22: scheme schatzman-paoli does not support friction"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[1000];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: {at: 1}}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), "
                 "potential: y}\n"
                 "contacts: {ground: {gap: y, slip: x, friction: 1}}\nsimulation: %s\n",
                 cases[i].section);
        put("wrong.yaml", text);
        assert_int_equal(carom("run wrong.yaml"), 2);
        assert_int_equal(strncmp(complaints, cases[i].says, strlen(cases[i].says)), 0);
        assert_int_equal(carom("check wrong.yaml"), 3);
        assert_says(out, cases[i].says);
        assert_int_equal(carom("compare wrong.yaml"), 2);
        assert_says(complaints, "wrong.yaml:5:");
        assert_int_equal(carom("run wrong.yaml --scheme half-explicit"), 0); // the file's is not asked
    }
    put("right.yaml", ball); // what the command line gets wrong has none
    assert_int_equal(carom("run right.yaml --option thta=1"), 2);
    assert_says(complaints, "carom: scheme moreau-midpoint: unknown option 'thta'");
}

static void messages_name_the_coordinate(void **state) {
    (void)state;
    put("light.yaml", "carom: 1\ncoordinates: {first: {at: 1}, second: {at: 0}}\nenergy: {kinetic: 1/2*first'^2 - "
                      "second'^2, potential: first}\n"
                      "simulation: {step: 1e-3, end: 1}\n");
    assert_int_equal(carom("run light.yaml"), 1);
    assert_says(complaints, "not positive definite at coordinate 'second'");
    put("runaway.yaml", "carom: 1\ncoordinates: {calm: {at: 1}, wild: {at: 1}}\nenergy: {kinetic: 1/2*(calm'^2 + "
                        "wild'^2), potential: calm}\n"
                        "forces: {wild: 1e9*wild}\nsimulation: {scheme: moreau-midpoint, step: 1e-3, end: 10}\n");
    assert_int_equal(carom("run runaway.yaml"), 1);
    assert_says(complaints, "the solution diverges (rate of 'wild' is");
}

// -- the other verbs ----------------------------------------------------------------------------------

static void check_tells_sound_models_from_faulty_ones(void **state) {
    (void)state;
    put("ball.yaml", ball);
    assert_int_equal(carom("check ball.yaml"), 0);
    assert_says(out, "0 faults");
    put("heavy.yaml",
        "carom: 1\ncoordinates: {x: {at: 0}, y: {at: 0}}\nenergy: {kinetic: 1/2*x'^2 - 1/2*y'^2, potential: 0}\n"
        "simulation: {step: 1e-3, end: 1}\n");
    const int status = carom("check heavy.yaml"); // a negative mass
    assert_true(status == 3 || status == 2);
    assert_true(strstr(out, "fault") || strlen(complaints) > 0);
}

static void info_describes_models(void **state) {
    (void)state;
    put("ball.yaml", ball);
    assert_int_equal(carom("info ball.yaml"), 0);
    static const char *const words[] = {"Ball", "2 coordinates", "ground",          "0.6",  "0.2",
                                        "9.81", "height",        "moreau-midpoint", "0.001"};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) assert_says(out, words[i]);
    put("hinged.yaml", "carom: 1\nbodies: {b: {mass: 1, inertia: [1, 1, 1]}}\njoints: {pin: {type: spherical, between: "
                       "[ground, b], at: [1, 0, 0]}}\n");
    assert_int_equal(carom("info hinged.yaml"), 0);
    assert_says(out, "7 positions"); // four of a quaternion: there are six velocities
    assert_says(out, "constraints            equations\n  pin                  3\n");
    assert_int_equal(mkfifo("model.pipe", 0600), 0); // a pipe is read once
    static const char *const verbs[] = {"info", "check"};
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(system("cat ball.yaml >model.pipe &"), 0);
        assert_int_equal(carom("%s model.pipe", verbs[i]), 0);
    }
}

static void help_is_told_written_as_pages_and_as_markdown(void **state) {
    (void)state;
    assert_int_equal(carom("help model"), 0);
    assert_says(out, "tangential restitution");
    assert_int_equal(carom("help --markdown"), 0);
    assert_says(out, "| `-o`, `--out FILE` |");
    assert_int_equal(carom("help run --markdown"), 2);
    assert_int_equal(carom("help mdoel"), 2);
    assert_says(complaints, "did you mean 'model'?");
    assert_int_equal(carom("help --man pages"), 0);
    assert_true(there("pages/carom.1") && there("pages/carom-run.1") && there("pages/carom-model.5"));
    get("pages/carom-run.1", out, sizeof out);
    assert_says(out, "\\-\\-step H");
    assert_int_equal(carom("help --man missing/pages"), 1);
}

static void schemes_are_listed_and_described(void **state) {
    (void)state;
    assert_int_equal(carom("schemes"), 0);
    assert_non_null(strstr(out, "not supported: friction"));
    const carom_scheme *const *all = carom_schemes();
    for (int i = 0; all[i]; ++i) assert_says(out, all[i]->name);
    for (int i = 0; all[i]; ++i) {
        const carom_scheme *s = all[i];
        assert_int_equal(carom("schemes %s", s->name), 0);
        assert_says(out, s->about);
        assert_says(out, "newton-tol");
        for (int k = 0; s->options && s->options[k].name; ++k) assert_says(out, s->options[k].name);
    }
}

static void every_example_is_written_and_sound(void **state) {
    (void)state;
    assert_int_equal(carom("examples"), 0);
    static char list[sizeof out];
    memcpy(list, out, sizeof list);
    int n = 0;
    for (char *line = strtok(list, "\n"); line && line[0] != '`'; line = strtok(NULL, "\n")) {
        char name[64], file[80];
        assert_int_equal(sscanf(line, "%63s", name), 1);
        assert_true(strlen(line) > 40); // it says what it is
        snprintf(file, sizeof file, "%s.yaml", name);
        assert_int_equal(carom("examples %s", name), 0);
        assert_true(there(file));
        if (n % 8 == 0) {
            assert_int_equal(carom("examples %s", name), 2);
            assert_says(complaints, "--force");
            assert_int_equal(carom("examples %s --force", name), 0);
        }
        if ((!BRIEF || n % 4 == 0) && carom("check %s", file) != 0) fail_msg("%s: %s", file, out);
        ++n;
    }
    assert_true(n >= 8);
}

// x'' = -k x, x(0) = 1, x'(0) = 0: after one step of the midpoint rule x = 1 - h^2 k/2.
static void a_model_says_how_it_is_swept(void **state) {
    (void)state;
    char table[4000];
    put("swept.yaml", "carom: 1\nparameters: {k: 1, m: 1}\ncoordinates: {x: {at: 1}}\nenergy: {kinetic: "
                      "\"1/2*m*x'^2\", potential: 1/2*k*x^2}\n"
                      "simulation: {scheme: moreau-midpoint, step: 0.5, end: 0.5}\nsweep: {vary: {k: '1:4:2', m: [1, "
                      "2]}, observe: [x, \"x'\"], zip: yes}\n");
    assert_int_equal(carom("sweep swept.yaml --out swept.csv"), 0);
    get("swept.csv", table, sizeof table);
    assert_string_equal(table, "run,k,m,status,message,x,x'\n0,1,1,0,,0.875,-0.5\n1,4,2,0,,0.75,-1\n");
    assert_int_equal(carom("sweep swept.yaml --vary k=4 --observe x --out swept.csv"), 0); // the command line wins
    get("swept.csv", table, sizeof table);
    assert_string_equal(table, "run,k,status,message,x\n0,4,0,,0.5\n");
    assert_int_equal(carom("export cuda swept.yaml -o swept.cu"), 0);
    assert_true(there("swept.cu"));
    put("wrong.yaml", "carom: 1\ncoordinates: {x: {at: 1}}\nenergy: {kinetic: \"1/2*x'^2\"}\nsimulation: {step: 0.5, "
                      "end: 0.5}\nsweep: {varied: 1}\n");
    assert_int_equal(carom("sweep wrong.yaml"), 2);
    assert_non_null(strstr(complaints, "wrong.yaml:5:9: sweep: unknown option 'varied'"));
    put("wrong.yaml", "carom: 1\ncoordinates: {x: {at: 1}}\nenergy: {kinetic: \"1/2*x'^2\"}\nsimulation: {step: 0.5, "
                      "end: 0.5}\nsweep: {vary: {x: '1,2'}, zip: 3}\n");
    assert_int_equal(carom("sweep wrong.yaml"), 2);
    assert_non_null(strstr(complaints, "'zip' in sweep is yes or no"));
    assert_int_equal(carom("export cuda swept.yaml --scheme mixed"), 2);
    assert_non_null(strstr(complaints, "lanes do not support the scheme mixed"));
    assert_int_equal(carom("export c swept.yaml --vary k=1,2"), 2);
    assert_non_null(strstr(complaints, "--vary belongs to sweeps"));
}

// Units where numbers are given on the command line, and in labels of pictures; inputs and controllers; columns that
// are asked for twice.
static void units_inputs_and_controllers(void **state) {
    (void)state;
    static const char driven[] =
        "carom: 1\nparameters: {k: 2 N/m}\ninputs: {y: 0.1 m, idle: 1}\ncoordinates: {x: {at: 1 m}}\n"
        "controllers: {c: {sample: 0.1, states: {s: s + x}, outputs: {u: -k*x - s}}}\nenergy: {kinetic: x'^2/2, "
        "potential: k*(x - y)^2/2}\nforces: {x: u}\n"
        "simulation: {step: 1e-2, end: 0.95, scheme: moreau-jean}\n";
    static char text[1 << 16];
    put("driven.yaml", driven);
    assert_int_equal(
        carom("sweep driven.yaml --vary 'k=1 N/m:3 kN/m:3' --observe k --observe x --observe x --out units.csv"), 0);
    get("units.csv", text, sizeof text);
    assert_true(strncmp(text, "run,k,status,message,x\n0,1,0,", 29) == 0);
    assert_says(text, "\n1,1500.5,0,");
    static const struct { const char *arguments, *words; } cases[] = {{"sweep driven.yaml --vary 'k=1 N' --observe x",
                  "'1 N' is a quantity of another kind than 'k', which is in N/m"},
                 {"sweep driven.yaml --vary 'k=1 foo' --observe x", "unit that is not known"},
                 {"run driven.yaml --input q=3", "the model has no input 'q'"},
                 {"run driven.yaml --input 'y=2 kg'", "--input y=2 kg: 'y' is 0.1 m in the model"},
                 {"import urdf", "import needs a FORM and a FILE: carom import urdf FILE"},
                 {"import robot.urdf", "carom import urdf robot.urdf"},
                 {"run joint.yaml",
                  "joint.yaml:4:36: spring 's': '3 N/m' is a quantity of another kind; stiffness is in N m/rad here"},
                 {"run flat.yaml", "flat.stl: the mesh is flat"},
                 {"follow driven.yaml --equilibrium initial --by 'k=1 m/q:2'",
                  "'1 m/q' is a number with a unit that is not known"}};
    put("joint.yaml", "carom: 1\nbodies: {b: {mass: 1 kg, inertia: 1, at: [1, 0]}}\njoints: {p: {type: revolute, "
                      "between: [ground, b], at: [0, 0]}}\nsprings: {s: {joint: p, stiffness: 3 N/m}}\n"
                      "simulation: {step: 1e-2, end: 0.1, scheme: moreau-jean}\n");
    put("flat.yaml", "carom: 1\nbodies: {b: {mass: 1, inertia: [1, 1, 1], shape: {mesh: flat.stl}}}\nsimulation: "
                     "{step: 1e-2, end: 0.1, scheme: moreau-jean}\n");
    put("flat.stl", "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 "
                    "0\nendloop\nendfacet\nfacet normal 0 0 1\nouter loop\nvertex 1 0 0\nvertex 1 1 0\nvertex 0 1 0\n"
                    "endloop\nendfacet\nendsolid\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        if (carom("%s", cases[i].arguments) != 2) fail_msg("%s: not exit status 2; %s", cases[i].arguments, complaints);
        assert_says(complaints, cases[i].words);
    }
    static const char *const sweeps[] = {"view units.h5",
                                         "export csv units.h5",
                                         "export vtk units.h5",
                                         "film units.h5 -o x.gif",
                                         "run driven.yaml --start units.h5",
                                         "run --resume units.h5"};
    assert_int_equal(carom("sweep driven.yaml --vary 'k=1,2' --observe x --out units.h5"), 0);
    for (size_t i = 0; i < sizeof sweeps / sizeof *sweeps; ++i) {
        if (carom("%s", sweeps[i]) == 0) fail_msg("%s", sweeps[i]);
        assert_says(complaints, "units.h5 is a sweep, not the result of a run; `carom plot` draws it");
    }
    assert_int_equal(carom("run units.h5"), 2);
    assert_says(complaints, "units.h5 is a sweep, not a model; use `carom info units.h5` or `carom plot units.h5`");
    assert_int_not_equal(carom("view units.csv"), 0);
    assert_says(complaints, "units.csv is the table of a sweep, not the result of a run");
    assert_int_equal(carom("info driven.yaml"), 0);
    assert_says(out, "\ninputs\n  y                    0.1 m\n  idle                 1\n");
    assert_says(out, "\nparameters\n  k                    2 N/m\n");
    assert_says(out, "1 coordinate, 0 contacts, ");
    assert_int_equal(carom("info driven.yaml --input 'y=sin(t)'"), 0);
    assert_says(out, "\n  y                    follows its signal\n");
    assert_int_equal(carom("check driven.yaml"), 0);
    assert_says(out, "an input 'idle' (line 3) is not used anywhere");
    assert_true(strstr(out, "'y'") == NULL);
    assert_int_equal(carom("run driven.yaml --quiet --out driven.h5 --every 1"), 0);
    assert_int_equal(carom("view driven.h5 --size 300x200"), 2);
    assert_says(complaints, "--size belongs to an image: carom view --png t=T");
    assert_int_equal(carom("view driven.h5 --png t=0 --live"), 2);
    assert_says(complaints, "--live belongs to a page, and --png creates an image");
    // the state of the controller is s + x at the first sample
    assert_int_equal(carom("run driven.yaml --start driven.h5 --out again.csv --quiet"), 0);
    assert_int_equal(carom("run driven.yaml --quiet --out driven.csv --every 1"), 0);
    double end[10], begin_at[10]; // t, x, x', three energies, y, idle, s, u
    for (int k = 0; k < 2; ++k) {
        get(k ? "again.csv" : "driven.csv", text, sizeof text);
        char *line = strchr(text, '\n') + 1; // the first row of the second run, the last of the first
        for (char *next = line; !k && (next = strchr(line, '\n')) && next[1];) line = next + 1;
        for (int c = 0; c < 10; ++c) (k ? begin_at : end)[c] = strtod(line, &line), ++line;
    }
    assert_true(begin_at[1] == end[1] && end[8] != 0 && begin_at[8] == end[8] + end[1]);
    if (access("/usr/bin/gnuplot", X_OK) == 0) {
        assert_int_equal(carom("plot driven.h5 --of x,energy --keep-script units.gp -o units.svg"), 0);
        get("units.gp", text, sizeof text);
        assert_says(text, "\"x (m)\"");
        assert_says(text, "\"energy (J)\"");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_inputs_and_controllers),
        cmocka_unit_test(help_and_version),
        cmocka_unit_test(wrong_usage_is_exit_2_with_a_suggestion),
        cmocka_unit_test(a_step_or_end_that_is_missing_is_asked_for),
        cmocka_unit_test(a_wrong_model_is_exit_2_with_its_place),
        cmocka_unit_test(a_file_of_the_other_kind_is_told_as_such),
        cmocka_unit_test(what_the_simulation_section_gets_wrong_has_its_place),
        cmocka_unit_test(messages_name_the_coordinate),
        cmocka_unit_test(a_model_says_how_it_is_swept),
        cmocka_unit_test(check_tells_sound_models_from_faulty_ones),
        cmocka_unit_test(info_describes_models),
        cmocka_unit_test(help_is_told_written_as_pages_and_as_markdown),
        cmocka_unit_test(schemes_are_listed_and_described),
        cmocka_unit_test(every_example_is_written_and_sound),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
