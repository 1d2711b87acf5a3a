// test_verbs.c: carom orbit, follow and lyapunov as a person calls them: output, files, and a sentence for what is
// wrong.
#define _DEFAULT_SOURCE // mkdtemp, setenv
#include "own_folder.h"
#include "program.h"
#include <math.h>
#include <stdbool.h>

#define BALL                                                                                                           \
    "carom: 1\nname: Ball on a table\nparameters: {g: 9.81, e: 0.8, w: 30, A: 0.01}\ncoordinates: {y: {at: 0, rate: "  \
    "0.9}}\nenergy: {kinetic: \"1/2*y'^2\", potential: g*y}\n"                                                         \
    "contacts: {table: {gap: \"y - A*sin(w*t)\", restitution: e}}\n"
#define SPRING(extra)                                                                                                  \
    "carom: 1\nparameters: {k: 1}\ncoordinates: {x: {at: 1}}\nenergy: {kinetic: \"1/2*x'^2\", potential: "             \
    "1/2*k*x^2}\n" extra "simulation: {scheme: event-driven, step: 0.1, end: 20}\n"

static void models(void) {
    put("ball.yaml", BALL);
    put("spring.yaml", SPRING(""));
    put("damped.yaml", SPRING("forces: {x: \"-0.2*x'\"}\n"));
    put("pushed.yaml", SPRING("inputs: {push: 0}\nforces: {x: \"push - x'\"}\n"));
    put("beam.yaml",
        "carom: 1\nparameters: {L: 0.3 m, k: 100 N/m}\ncoordinates: {x: 0.1 m}\nenergy: {kinetic: \"1/2*x'^2\", "
        "potential: 1/2*k*(x - L)^2}\nsimulation: {scheme: event-driven, step: 0.1, end: 1}\n");
    put("integral.yaml",
        "carom: 1\ncoordinates: {x: {at: 1}}\nenergy: {kinetic: \"1/2*x'^2\", potential: 1/2*x^2}\ncontrollers: {pi: "
        "{sample: 0.1, states: {s: s + 0.1*x}, outputs: {u: \"-0.5*x' - s\"}}}\nforces: {x: u}\n"
        "simulation: {scheme: event-driven, step: 0.05, end: 1}\n");
    put("top.yaml", "carom: 1\ncoordinates: {a: 0}\nenergy: {kinetic: \"1/2*a'^2\", potential: cos(a)}\nforces: {a: "
                    "\"-0.1*a'\"}\n");
    put("block.yaml", "carom: 1\nparameters: {m: 1}\ncoordinates: {x: 0, y: 0}\nenergy: {kinetic: \"1/2*m*(x'^2 + "
                      "y'^2)\", potential: m*9.81*y + 0.1*x}\ncontacts: {floor: {gap: y, slip: x, friction: 0.5}}\n");
}

// Each with its sentence and exit status.
static void wrong_words(void **state) {
    (void)state;
    models();
    assert_int_equal(carom("orbit ball.yaml --period 2*pi/w --transient 10 -o ball.h5 -q"), 0);
    put("sweep.csv", "run,A,status,message,y\n0,0.01,0,,0.1\n");
    put("branch.csv", "branch,A,period,stable,multiplier,event,y,y',min(y),max(y)\n1,0.01,0.2,1,0.5,,0.1,0,0,1\n");
    static const struct { int code; const char *line, *says; } cases[] = {
        {2, "orbit ball.yaml", "give --period EXPR, or --period free"},
        {2, "orbit ball.yaml --period free --end 5",
         "replace --period free by the excitation period, --period 0.2094395"},
        {2, "orbit ball.yaml --period 0.3", "the model does not repeat itself after 0.3"},
        {2, "orbit ball.yaml --period -1", "must be positive, got -1"},
        {2, "orbit ball.yaml --period y", "depends on the state or on time"},
        {2, "orbit ball.yaml --period yy", "--period yy: unknown name 'yy'"},
        {2, "orbit ball.yaml --period 2*pi/w -o x.txt", "ends neither in .h5 nor in .csv"},
        {2, "orbit ball.yaml --period 2*pi/w --segments 1.5", "--segments: expected an integer"},
        {2, "orbit ball.yaml --period 2*pi/w --exchange y=z", "--exchange y=z: write A=B with two coordinates"},
        {2, "orbit ball.yaml --period 2*pi/w --scheme moreau-midpoint", "a scheme that locates events to rounding"},
        {2, "orbit ball.yaml --period 2*pi/w --guess 3", "--guess belongs to --period free"},
        {2, "orbit ball.yaml --period 2*pi/w --end 3", "--end belongs to --period free"},
        {1, "orbit damped.yaml --period free", "converged to an equilibrium, not a periodic orbit"},
        {1, "orbit block.yaml --period free --end 5", "the motion is at rest from t = 0 on"},
        {2, "follow ball.yaml --by A=0.002:0.015", "give --orbit FILE or --equilibrium FILE"},
        {2, "follow ball.yaml --orbit ball.h5", "give --by NAME=A:B"},
        {2, "follow ball.yaml --orbit ball.h5 --by A=1:x", "is not NAME=A:B with two numbers"},
        {2, "follow ball.yaml --orbit ball.h5 --by A=1:1", "two different numbers"},
        {2, "follow ball.yaml --orbit ball.h5 --by B=0:1", "no parameter, coordinate or rate 'B'"},
        {2, "follow ball.yaml --orbit ball.h5 --by y=0:1", "'y' is not a parameter"},
        {2, "follow beam.yaml --equilibrium initial --by 'L=1 kg:2 kg'",
         "'1 kg' is a quantity of another kind than 'L', which is in m"},
        {2, "sweep beam.yaml --vary 'L=1 kg:2 kg:3' --observe x",
         "'1 kg' is a quantity of another kind than 'L', which is in m"},
        {2, "sweep beam.yaml --vary 'L=normal:1 m:1 q:3:1' --observe x",
         "'1 q' is a number with a unit that is not known"},
        {2, "sweep beam.yaml --vary 'L=1 m:2 m:3 m' --observe x", "'3 m' is not a number"},
        {2, "sweep beam.yaml --vary L=1:2 --observe x", "a range has two ends and a number of values"},
        {2, "gradient beam.yaml --of x --by LL", "no parameter, coordinate or rate 'LL'; did you mean 'L'?"},
        {2, "follow ball.yaml --orbit ball.h5 --by A=0.02:0.03", "which does not lie between"},
        {2, "follow ball.yaml --orbit ball.h5 --by w=25:35", "give its period as an expression"},
        {2, "follow ball.yaml --orbit none.h5 --by A=0.002:0.015", "none.h5"},
        {2, "follow ball.yaml --orbit ball.h5 --by A=0.002:0.015 --points 1.5", "expected an integer"},
        {2, "follow ball.yaml --orbit ball.h5 --by A=0.002:0.015 --resume x.csv",
         "--resume: 'x.csv' does not end in .h5"},
        {2, "follow ball.yaml --orbit ball.h5 --by A=0.002:0.015 --scheme moreau-jean",
         "(event-driven, auto), not moreau-jean"},
        {2, "follow ball.yaml --orbit ball.h5 --by A=0.002:0.015 --resume none.h5", "cannot read none.h5"},
        {2, "follow spring.yaml --equilibrium initial --by k=1:2 --period 3", "--period belongs to orbits"},
        {2, "follow spring.yaml --equilibrium initial --by k=1:2 --switch", "--switch doubling belongs to orbits"},
        {2, "optimise ball.yaml", "give --minimise EXPR or --maximise EXPR"},
        {2, "optimise ball.yaml --minimise y --maximise y --by e=0:1", "give --minimise EXPR or --maximise EXPR"},
        {2, "optimise ball.yaml --minimise y", "give --by NAME=LOW:HIGH"},
        {2, "optimise ball.yaml --minimise y --by e", "write NAME=LOW:HIGH"},
        {2, "optimise ball.yaml --minimise y --by e=0:1 -o x.txt", "ends neither in .h5 nor in .csv"},
        {2, "optimise ball.yaml --minimise y --by e=0:1 --best ball.yaml", "is the model; give another name"},
        {2, "optimise ball.yaml --minimise y --by e=0:1 --tolerance 2", "below 1"},
        {2, "optimise ball.yaml --minimise y --by e=0:1 --subject-to y", "EXPRESSION <= VALUE"},
        {2, "optimise ball.yaml --minimise y --by e=0:1 --method gauss", "unknown method 'gauss'"},
        {2, "basins ball.yaml", "give --vary NAME=SPEC"},
        {2, "basins ball.yaml --vary q=0:1:2", "'q'"},
        {2, "basins ball.yaml --vary y=0.1:1:2 -o x.txt", "ends neither in .h5 nor in .csv"},
        {2, "basins ball.yaml --vary y=0.1:1:2 -o x.csv --plot x.png", "give -o FILE.h5"},
        {2, "gradient ball.yaml --of 'y at ground' --by e --end 1", "CONTACT.impact[N]"},
        {2, "lyapunov ball.yaml", "the end time is missing"},
        {2, "lyapunov ball.yaml --end 1 -o x.h5", "does not end in .csv"},
        {2, "lyapunov ball.yaml --end 1 --scheme moreau-jean", "a scheme that locates events to rounding"},
        {2, "lyapunov ball.yaml --end -1", "--end"},
        {2, "gradient spring.yaml --of yy --by k", "--of yy: unknown name 'yy'"},
        {2, "gradient spring.yaml --of x --by k --scheme mixed --option bracket=1e-3", "leave bracket=1e-3 out"},
        {2, "orbit ball.yaml --period 2*pi/w -o nowhere/o.h5", "cannot write nowhere/o.h5"},
        {2, "orbit damped.yaml --period free --save nowhere/o", "cannot write nowhere/o"},
        {2, "follow ball.yaml --orbit ball.h5 --by A=0.002:0.015 -o nowhere/b.h5", "cannot write nowhere/b.h5"},
        {2, "equilibrium block.yaml --save nowhere/e", "cannot write nowhere/e"},
        {2, "lyapunov ball.yaml --end 1 -o nowhere/l.csv", "cannot write nowhere/l.csv"},
        {2, "gradient spring.yaml --of x --by k -o nowhere/g.h5", "cannot write nowhere/g.h5"},
        {2, "sweep spring.yaml --vary k=1,2 --observe x -o nowhere/s.h5", "cannot write nowhere/s.h5"},
        {2, "sweep --resume ball.h5", "ball.h5 is a result, not a sweep"},
        {2, "plot ball.h5 -o nowhere/p.svg", "cannot write nowhere/p.svg"},
        {2, "view ball.h5 -o nowhere/p.html", "cannot write nowhere/p.html"},
        {2, "play ball.yaml -o nowhere/p.html", "cannot write nowhere/p.html"},
        {2, "export csv ball.h5 -o nowhere/p.csv", "cannot write nowhere/p.csv"},
        {2, "export vtk ball.h5 -o nowhere/p.pvd", "cannot write nowhere/p.pvd"},
        {2, "export c ball.yaml -o nowhere/p.c", "cannot write nowhere/p.c"},
        {2, "export fmu ball.yaml --step 0.01 --end 1 -o p.txt", "-o: 'p.txt' does not end in .fmu"},
        {2, "modes spring.yaml --mode 7 -o m.h5", "--mode 7: there is 1 mode"},
        {2, "orbit spring.yaml --period free --input k=2",
         "--input k=2: 'k' is a parameter of the model; give --set k=2"},
        {2, "modes spring.yaml --input kk=2", "--input kk=2: the model has no `inputs` section"},
        {2, "run pushed.yaml --input pusj=2 --out p.h5", "the model has no input 'pusj'; did you mean 'push'?"},
        {2, "equilibrium pushed.yaml --input push", "--input push: write NAME=SIGNAL"},
        {2, "orbit ball.yaml --period 2*pi/w --start sweep.csv", "sweep.csv is a sweep, which has many states"},
        {2, "orbit ball.yaml --period 2*pi/w --start branch.csv",
         "branch.csv is a branch of `carom follow`, which has many states"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const int code = carom("%s", cases[i].line);
        if (code != cases[i].code) fail_msg("carom %s: exit status %d; %s", cases[i].line, code, complaints);
        assert_says(complaints, cases[i].says);
        if (strncmp(cases[i].line, "follow", 6) == 0 &&
            (strstr(complaints, "--transient") || strstr(complaints, "--start")))
            fail_msg("follow has no such option: %s", complaints);
    }
}

// An orbit and what is written of it; neutral ones are neither stable nor unstable.
static void orbits(void **state) {
    (void)state;
    models();
    assert_int_equal(carom("orbit ball.yaml --period 2*pi/w --transient 10 -o ball.h5 --save ball.state"), 0);
    assert_says(out, "stable");
    assert_says(out, "table                impact");
    assert_int_equal(
        carom("run ball.yaml --start ball.state --scheme event-driven --step 0.01 --end 0.2 --out again.h5 -q"), 0);
    assert_int_equal(carom("orbit ball.yaml --period 2*pi/w --start ball.state --json"), 0);
    assert_says(out, "\"stable\": true, \"neutral\": false, \"isolated\": true");
    assert_int_equal(carom("orbit spring.yaml --period free --json"), 0);
    assert_says(out, "\"stable\": false, \"neutral\": true, \"isolated\": false");
    assert_says(out, "\"period\": 6.283185307");
    assert_int_equal(
        carom("follow ball.yaml --orbit ball.h5 --by A=0.009:0.0125 --period 2*pi/w --json --strict -o b.h5"), 0);
    assert_says(out, "\"event\": \"period-doubling\"");
    assert_says(out, "\"unlocated\": 0, \"whole\": true");
    assert_says(out, "\"mu1.re\": [");
    // The best state so far is kept.
    remove("best.state");
    assert_int_equal(carom("orbit damped.yaml --period free --save best.state"), 1);
    assert_says(complaints, "the best state so far is in best.state");
    assert_int_equal(carom("run damped.yaml --start best.state --end 1 --out best.h5 --force -q"), 0);
    assert_int_equal(carom("orbit pushed.yaml --period 2*pi --input 'push=cos(t)' --transient 30 -q"), 0); // x = sin t
    assert_string_equal(out, "");
}

// A branch that goes on does so with the same words; its pictures.
static void branches(void **state) {
    (void)state;
    models();
    assert_int_equal(carom("orbit ball.yaml --period 2*pi/w --transient 10 -o ball.h5 -q"), 0);
    assert_int_equal(carom("follow ball.yaml --orbit ball.h5 --by A=0.009:0.012 --period 2*pi/w --points 8 -o b.h5"),
                     0);
    assert_says(out, "8 points");
    assert_says(complaints, "stopped at 8 points; to continue, use --resume with more --points");
    assert_int_equal(carom("follow ball.yaml --orbit ball.h5 --by A=0.009:0.013 --period 2*pi/w --resume b.h5"), 2);
    assert_says(complaints, "b.h5 was made with another range of --by");
    assert_int_equal(
        carom("follow ball.yaml --orbit ball.h5 --by A=0.009:0.012 --period 2*pi/w --set e=0.7 --resume b.h5"), 2);
    assert_says(complaints, "b.h5 was made with another --set");
    assert_int_equal(carom("follow ball.yaml --orbit ball.h5 --by A=0.009:0.012 --period 2*pi/w --resume b.h5"), 0);
    assert_says(out, "period-doubling");
    assert_int_equal(carom("follow ball.yaml --orbit ball.h5 --by A=0.0095:0.0105 --period 2*pi/w -o b.csv -q"), 0);
    assert_int_equal(carom("plot b.csv"), 2);
    assert_says(complaints, "b.csv is a branch; plots are made from .h5 branches");
    assert_int_equal(carom("plot b.h5 --of 'max(x)' -o b.svg"), 2);
    assert_says(complaints, "b.h5 has no column 'max(x)'; did you mean 'max(y)'?");
    assert_int_equal(carom("plot b.h5 --phase y -o b.svg"), 2);
    assert_says(complaints, "--phase does not apply to the plot of a branch");
}

// A run of 2 s in two parts: the controller samples once where they meet.  Sweeps and fits start from there, too.
static double last_of(const char *file, int column) {
    static char text[200000];
    assert_true(get(file, text, sizeof text) > 20);
    char *line = strrchr(text, '\n');
    for (*line = 0; line > text && line[-1] != '\n';) --line;
    for (; column > 0; --column) line = strchr(line, ',') + 1;
    return strtod(line, NULL);
}

static void starts(void **state) {
    (void)state;
    models();
    assert_int_equal(carom("run integral.yaml --end 2 --out whole.csv -q"), 0);
    assert_int_equal(carom("run integral.yaml --out first.h5 -q"), 0);
    assert_int_equal(carom("run integral.yaml --start first.h5 --out second.csv -q"), 0);
    const double x = last_of("whole.csv", 1), s = last_of("whole.csv", 6);
    assert_true(fabs(last_of("second.csv", 1) - (x)) < 1e-9);
    assert_true(fabs(last_of("second.csv", 6) - (s)) < 1e-9);
    assert_int_equal(
        carom("sweep integral.yaml --start first.h5 --vary option.tol=1e-12 --observe x --observe s --out parts.csv"),
        0);
    assert_says(out, "1 run in parts.csv");
    assert_true(fabs(last_of("parts.csv", 4) - (x)) < 1e-9);
    assert_true(fabs(last_of("parts.csv", 5) - (s)) < 1e-9);
    // each run of --follow goes on with the states of the controller, as --start does: two of 1 s are one of 2 s
    assert_int_equal(
        carom("sweep integral.yaml --follow up --vary option.tol=1e-12,1e-11 --observe x --observe s --out chain.csv"),
        0);
    assert_true(fabs(last_of("chain.csv", 5) - (x)) < 1e-9);
    assert_true(fabs(last_of("chain.csv", 6) - (s)) < 1e-9);
    char data[200];
    snprintf(data, sizeof data, "t,z\n0.5,%.17g\n1,%.17g\n", 0.0, 2 * x);
    put("z.csv", data);
    put("scaled.yaml",
        "carom: 1\nparameters: {c: 1}\ncoordinates: {x: {at: 1}}\nenergy: {kinetic: \"1/2*x'^2\", potential: "
        "1/2*x^2}\ncontrollers: {pi: {sample: 0.1, states: {s: s + 0.1*x}, outputs: {u: \"-0.5*x' - s\"}}}\n"
        "forces: {x: u}\noutputs: {z: c*x*if(t < 0.75, 0, 1)}\nsimulation: {scheme: event-driven, step: 0.05, end: "
        "1}\n");
    // built without cminpack
    if (carom("fit scaled.yaml z.csv --start first.h5 --free c --match z=z --json") == 2) return;
    assert_true(fabs(strtod(strstr(out, "\"c\": ") + 5, NULL) - (2)) < 1e-7);
}

// A sweep goes on with what it began with; both ways of --follow are drawn apart.
static void sweeps(void **state) {
    (void)state;
    models();
    assert_int_equal(carom("sweep ball.yaml --vary A=0.009:0.011:3 --end 1 --scheme event-driven --step 0.1 --observe "
                           "y --follow both --out s.h5 -q"),
                     0);
    assert_int_equal(carom("sweep --resume s.h5 --step 0.2"), 2);
    assert_says(complaints, "leave --step out");
    assert_int_equal(carom("sweep --resume s.h5 -q"), 0);
    assert_says(complaints, "s.h5 is complete");
    assert_int_equal(carom("run spring.yaml --step 0.003 --out r.csv"), 0); // 6667 steps: a row after every third
    assert_says(out, "a record every 0.009, t = 0 .. 20, 2224 rows in r.csv");
    assert_int_equal(carom("sweep --resume r.csv"), 2);
    assert_says(complaints, "r.csv is a result, not a sweep");
    assert_int_equal(carom("export csv r.csv"), 2);
    assert_says(complaints, "output would overwrite the input r.csv");
    assert_int_equal(carom("plot s.h5 --of yy -o s.svg"), 2);
    assert_says(complaints, "s.h5 observes no 'yy'; did you mean 'y'?");
}

static void exponents(void **state) {
    (void)state;
    models();
    assert_int_equal(carom("lyapunov top.yaml --end 20"), 0); // a pendulum on its head: sqrt(1 + 0.05^2) - 0.05
    assert_says(out, "the trajectory is an unstable equilibrium");
    assert_int_equal(carom("lyapunov ball.yaml --end 5 --transient 10 --json -o l.csv"), 0);
    assert_says(out, "\"exponents\": [");
    char text[200];
    assert_true(get("l.csv", text, sizeof text) > 20);
    assert_int_equal(strncmp(text, "t,exponent1,exponent2\n", 22), 0);
}

// Both kinds of file hold the same rows: y = 0.8 - g t^2/2 until the impact, so y by y is 1, and the table of the run
// tells what it has cost.
static void gradients(void **state) {
    (void)state;
    static char csv[200000], h5[200000];
    put("drop.yaml", "carom: 1\nparameters: {e: 0.5}\ncoordinates: {y: {at: 0.8}}\nenergy: {kinetic: \"1/2*y'^2\", "
                     "potential: 9.81*y}\ncontacts: {ground: {gap: y, restitution: e}}\n"
                     "simulation: {scheme: moreau-midpoint, step: 1e-3, end: 0.4}\n");
    assert_int_equal(carom("gradient drop.yaml --of y --by e,y -o g.csv -q"), 0);
    assert_int_equal(carom("gradient drop.yaml --of y --by e,y -o g.h5 -q"), 0);
    assert_int_equal(carom("export csv g.h5 -o again.csv"), 0);
    assert_true(get("g.csv", csv, sizeof csv) > 20 && get("again.csv", h5, sizeof h5) > 20);
    assert_string_equal(csv, h5);
    int rows = -1;
    for (const char *c = csv; *c; ++c) rows += *c == '\n';
    assert_int_equal(rows, 501);
    assert_true(strstr(csv, ",y by e,y by y,") && fabs(last_of("g.csv", 11) - 1) < 1e-12);
    assert_int_equal(carom("info g.h5"), 0);
    assert_says(out, "500 (0 rejected)");
    assert_true(!strstr(out, " 0 s of CPU time"));
}

// LAPACK is loaded when it is needed: a run does not notice that it is damaged, modes say so.
static void damaged_library(void **state) {
    (void)state;
    models();
    put("liblapack.so.3", "");
    assert_int_equal(setenv("LD_LIBRARY_PATH", folder, 1), 0);
    const int run = carom("run spring.yaml -o spring.h5"), modes = carom("modes spring.yaml");
    unsetenv("LD_LIBRARY_PATH");
    remove("liblapack.so.3");
    assert_int_equal(run, 0);
    assert_int_equal(modes, 2);
    assert_says(complaints, "LAPACK, which finds modes and multipliers, cannot be loaded");
    assert_int_equal(carom("modes spring.yaml"), 0);
}

// A curve in two parameters that is stopped prints what it has, as a branch does.
static void stopped_curve(void **state) {
    (void)state;
    put("duffing.yaml", "carom: 1\nparameters: {w: 1.2, a: 0.3}\ncoordinates: {x: 0.1}\n"
                        "energy: {kinetic: \"1/2*x'^2\", potential: 1/2*x^2 + 1/4*x^4}\n"
                        "forces: {x: \"a*cos(w*t) - 0.1*x'\"}\nsimulation: {step: 0.05, end: 100}\n");
    assert_int_equal(carom("orbit duffing.yaml --period 2*pi/w --transient 200 -o duffing.h5"), 0);
    assert_int_equal(carom("follow duffing.yaml --orbit duffing.h5 --period 2*pi/w --by w=1.19:1.9 -o fold.h5"), 0);
    bool some = false;
    for (double wait = 0.3; wait < 10 && !some; wait *= 3) { // others may have the processor
        char command[1000];
        snprintf(command, sizeof command,
                 "timeout --preserve-status -s INT %g " CAROM_BINARY_DIR "/carom follow fold.h5 --curve fold "
                 "--by w=0.1:50 --by a=0.1:30 --json >stdout.txt 2>stderr.txt",
                 wait);
        const int status = system(command);
        get("stdout.txt", out, sizeof out), get("stderr.txt", complaints, sizeof complaints);
        some = WIFEXITED(status) && WEXITSTATUS(status) == 130 && strstr(out, "\"columns\": {");
    }
    if (!some) fail_msg("%s; %.300s", complaints, out);
    assert_says(complaints, "interrupted");
    assert_says(out, "{\"curve\": \"fold\", \"by\": [\"w\", \"a\"], \"whole\": false");
    assert_true(strcmp(out + strlen(out) - 3, "}}\n") == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(wrong_words), cmocka_unit_test(damaged_library),
                                       cmocka_unit_test(orbits),      cmocka_unit_test(branches),
                                       cmocka_unit_test(starts),      cmocka_unit_test(sweeps),
                                       cmocka_unit_test(gradients),   cmocka_unit_test(exponents),
                                       cmocka_unit_test(stopped_curve)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
