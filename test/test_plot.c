// test_plot.c: pictures and sketches of results: what is in them, and what is said about what is not.
#define _XOPEN_SOURCE 700 // mkdtemp, posix_openpt
#include "program.h"
#include <carom/carom.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

static char folder[64], script[1 << 22];

static const char ball[] =
    "carom: 1\nname: Ball\ncoordinates: {y: {at: 1}}\nenergy: {kinetic: 1/2*y'^2, potential: 2*y}\n"
    "contacts: {ground: {gap: y, restitution: 0.5}}\noutputs: {twice: 2*y}\nsimulation: {scheme: half-explicit, step: "
    "1e-2, end: 4}\n";

static const char pendulum[] =
    "carom: 1\nname: Pendulum\ncoordinates: {phi: {at: 1}}\nenergy: {kinetic: 1/2*phi'^2, potential: -cos(phi)}\n"
    "simulation: {scheme: half-explicit, step: 1e-2, end: 4}\n";

static int count(const char *text, const char *words) {
    int n = 0;
    for (const char *at = text; (at = strstr(at, words)); at += strlen(words)) ++n;
    return n;
}

static bool gnuplot(void) {
    return system("command -v gnuplot >/dev/null 2>&1") == 0;
}

// The script of `carom plot ARGUMENTS`.
static void plot(const char *arguments) {
    char line[2000];
    snprintf(line, sizeof line, "plot %s -o p.svg --keep-script p.gp", arguments);
    if (carom("%s", line) != 0) fail_msg("%s: %s", line, complaints);
    get("p.gp", script, sizeof script);
}

// -- pictures -------------------------------------------------------------------------------------------------

static void a_kept_script_makes_the_picture_again(void **state) {
    (void)state;
    if (!gnuplot()) skip();
    static char first[1 << 20], again[1 << 20];
    assert_int_equal(carom("plot ball.h5 -o ball.png --keep-script ball.gp"), 0);
    const size_t n = get("ball.png", first, sizeof first);
    remove("ball.png");
    assert_int_equal(system("gnuplot ball.gp"), 0);
    assert_int_equal(get("ball.png", again, sizeof again), n);
    assert_memory_equal(first, again, n);
}

static void put_tuned(void) {
    put("tuned.yaml", "carom: 1\nparameters: {k: 4 N/m, c: 1, d: 2}\ncoordinates: {x: {at: 1 m}}\nenergy: {kinetic: "
                      "1/2*x'^2, potential: 1/2*k*x^2}\nforces: {x: cos(3*t) - c*x'}\nsimulation: {scheme: "
                      "event-driven, step: 1e-2, end: 1}\n");
}

// A branch and a sweep: what is over what, of which model, in the style of the others.
static void pictures_of_branches_and_sweeps_have_titles(void **state) {
    (void)state;
    static char svg[1 << 20];
    if (!gnuplot()) skip();
    put("snap.yaml", "carom: 1\nname: \"Shallow arch\" # snaps\nparameters: {P: 0, h: 0.3, k: 100}\ncoordinates: {y: "
                     "{at: 0.3}}\nenergy: {kinetic: 1/2*y'^2, potential: \"k*(sqrt(1 + y^2) - sqrt(1 + h^2))^2 + "
                     "P*y\"}\nforces: {y: -y'}\nsimulation: {scheme: half-explicit, step: 1e-2, end: 1}\n");
    assert_int_equal(carom("follow snap.yaml --equilibrium initial --by P=-3:3 -o snap.h5"), 0);
    plot("snap.h5 --of y");
    assert_says(script, "set label 1 \"Shallow arch: y over P\"");
    assert_says(script, "set border 3");
    assert_int_equal(carom("sweep snap.yaml --vary P=0:1:3 --observe y -o swept.h5 --plot swept.svg"), 0);
    get("swept.svg", svg, sizeof svg);
    assert_says(svg, "Shallow arch: y over P");
    assert_int_equal(
        carom("sweep snap.yaml --vary P=0:1:3 --vary h=0.2,0.3 --observe y -o map.h5 --plot map.svg"), 0);
    get("map.svg", svg, sizeof svg);
    assert_says(svg, "Shallow arch: y over h and P");
    put_tuned();
    assert_int_equal(carom("orbit tuned.yaml --period '2*pi/3' --transient 20 -o round.h5"), 0);
    assert_int_equal(carom("follow tuned.yaml --orbit round.h5 --period '2*pi/3' --by k=4:5 -o branch.h5"), 0);
    plot("branch.h5");
    assert_says(script, "set xlabel \"k (N/m)\"");
    assert_says(script, "set ylabel \"max(x) (m)\"");
}

// What gnuplot is given, by a gnuplot that keeps it: the numbers of the tables, and edges of cells half-way to their
// neighbours, the outer ones as far beyond.
static void pictures_of_sweeps_hold_their_tables(void **state) {
    (void)state;
    static const struct { const char *sweep, *data[7]; } pictures[] = {
        {"lines.yaml --vary a=1,2,4 --observe x",
         {"$d0 << EOD\n1 1\n2 2\n4 4\nEOD\n", "$d1 << EOD\nEOD\n", "linespoints"}},
        {"lines.yaml --vary a=1,2,4 --vary b=0,1 --observe x",
         {"set xlabel \"b\"", "set ylabel \"a\"", "set cblabel \"x\"",
          "$d << EOD\n0 1 -0.5 0.5 0.5 1.5 1\n1 1 0.5 1.5 0.5 1.5 11\n0 2 -0.5 0.5 1.5 3 2\n1 2 0.5 1.5 1.5 3 12\n"
          "0 4 -0.5 0.5 3 5 4\n1 4 0.5 1.5 3 5 14\nEOD\n",
          "using 1:2:3:4:5:6:7 with boxxyerror"}},
        {"lines.yaml --vary a=1,2,4 --observe '2*a' --follow both",
         {"$d0 << EOD\n1 2\n2 4\n4 8\nEOD\n", "$d1 << EOD\n4 8\n2 4\n1 2\nEOD\n", "title 'up'", "title 'down'"}},
        {"turns.yaml --vary a=1,2 --observe \"x'\" --section 'x = 0 rising'",
         {"$d0 << EOD\n1 1\n1 1\n2 2\n2 2\nEOD\n", "with points"}},
        // units of the model, also of what is computed of one of its names
        {"tuned.yaml --vary k=1,2 --vary c=1,2 --observe 'max(abs(x))'",
         {"set xlabel \"c\"", "set ylabel \"k (N/m)\"", "set cblabel \"max(abs(x)) (m)\""}},
        {"tuned.yaml --vary k=1,2 --observe 'd*x'", {"set xlabel \"k (N/m)\"", "set ylabel \"d*x\""}},
    };
    put_tuned();
    put("lines.yaml", "carom: 1\nparameters: {a: 1, b: 0}\ncoordinates: {x: {at: a + 10*b}}\nenergy: {kinetic: "
                      "1/2*x'^2}\nsimulation: {scheme: moreau-jean, step: 0.1, end: 0.2}\n");
    put("turns.yaml", "carom: 1\nparameters: {a: 1}\ncoordinates: {x: {at: a}}\nenergy: {kinetic: 1/2*x'^2, potential: "
                      "1/2*x^2}\nsimulation: {scheme: event-driven, step: 0.1, end: 14}\n");
    put("gnuplot", "#!/bin/sh\ncat >p.gp\necho '<svg></svg>'\n");
    char path[4000], *const before = strdup(getenv("PATH"));
    snprintf(path, sizeof path, "%s:%s", folder, before);
    assert_int_equal(chmod("gnuplot", 0755) + setenv("PATH", path, 1), 0);
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; ++i) {
        remove("sweep.h5");
        if (carom("sweep %s -q -o sweep.h5 --plot sweep.svg", pictures[i].sweep) != 0)
            fail_msg("%s: %s", pictures[i].sweep, complaints);
        get("p.gp", script, sizeof script);
        for (int k = 0; pictures[i].data[k]; ++k)
            if (!strstr(script, pictures[i].data[k]))
                fail_msg("%s: no '%s' in\n%s", pictures[i].sweep, pictures[i].data[k], script);
    }
    assert_int_equal(setenv("PATH", before, 1) + remove("gnuplot"), 0);
    free(before);
}

// Three results of three energies: the legend has every column once and every result once.
static void the_legend_of_several_results_stays_whole(void **state) {
    (void)state;
    if (!gnuplot()) skip();
    plot("ball.h5 second.h5 third.h5");
    static const char *const column[] = {"title \"kinetic\"", "title \"potential\"", "title \"sum\""};
    for (int i = 0; i < 3; ++i) assert_int_equal(count(script, column[i]), 1);
    assert_null(strstr(script, " curves'"));
    static const char *const result[] = {"\"ball.h5: half-explicit\"", "\"second.h5: moreau-jean\"",
                                         "\"third.h5: ggl-alpha\""};
    for (int i = 0; i < 3; ++i) assert_int_equal(count(script, result[i]), 1);
    assert_string_equal(complaints, "");
    plot("ball.h5"); // alone it needs no name
    assert_null(strstr(script, "\"ball.h5"));
    assert_int_equal(count(script, "title \"kinetic\""), 1);
}

// Nine columns: a legend of eight and a line that counts them would begin a second column, outside the picture.
static void a_long_legend_stays_in_the_picture(void **state) {
    (void)state;
    if (!gnuplot()) skip();
    put("nine.csv", "t,a,b,c,d,e,f,g,h,i\n0,1,2,3,4,5,6,7,8,9\n1,2,3,4,5,6,7,8,9,1\n");
    plot("nine.csv --of a+b+c+d+e+f+g+h");
    assert_int_equal(count(script, "with lines lw"), 8);
    assert_int_equal(count(script, " title \""), 8);
    plot("nine.csv --of a+b+c+d+e+f+g+h+i");
    assert_int_equal(count(script, "with lines lw"), 9);
    assert_int_equal(count(script, " title \""), 6);
    assert_says(script, "title '9 curves'");
}

static void rates_of_points_of_members_are_drawn_when_asked_for(void **state) {
    (void)state;
    if (!gnuplot()) skip();
    put("bar.yaml", "carom: 1\nflexible: {rod: {type: bar, length: 1, elements: 4, density: 1, modulus: 1, area: 1, "
                    "fix: start, rate: s}}\n"
                    "simulation: {scheme: moreau-jean, step: 1e-2, end: 1}\n");
    assert_int_equal(carom("run bar.yaml --quiet"), 0);
    plot("bar.h5");
    assert_says(script, "rod.end.u");
    assert_null(strstr(script, "rod.end.u'\""));
    plot("bar.h5 --of \"rod.end.u,rod.end.u'\"");
    assert_says(script, "rod.end.u'\"");
}

// Many columns: colours tell them apart, and dashes the results.
static void with_many_columns_results_have_dashes(void **state) {
    (void)state;
    if (!gnuplot()) skip();
    put("many.csv", "t,a,b,c,d\n0,1,2,3,4\n1,2,3,4,5\n");
    put("more.csv", "t,a,b,c,d\n0,2,3,4,5\n1,3,4,5,6\n");
    plot("many.csv more.csv --of a+b+c+d");
    assert_int_equal(count(script, "title \""), 4);
    assert_int_equal(count(script, "dt 2 lc rgb"), 4 + 1); // the second result, and its name
}

static void what_a_result_lacks_is_said(void **state) {
    (void)state;
    if (!gnuplot()) skip();
    plot("ball.h5 pendulum.h5");
    assert_says(complaints, "ball.h5 has no column 'phi'; shown without it");
    assert_says(complaints, "pendulum.h5 has no columns 'y', 'twice', 'ground.gap', 'ground.gap'', 'ground.force' and "
                            "1 more; shown without them");
    assert_says(script, "title \"phi\""); // what only the second has is there
    assert_says(script, "title \"y\"");
    assert_says(script, "\"2 results\"");
    plot("ball.h5 pendulum.h5 --of y,energy");
    assert_says(complaints, "pendulum.h5 has no column 'y'; shown without it");
    assert_int_equal(carom("plot pendulum.h5 --of \"phi:phi'\" -o p.svg"), 2);
    assert_says(complaints, "--phase NAME");
    assert_int_equal(carom("plot ball.h5 pendulum.h5 --of nothing"), 2);
}

static void phase_portraits_have_axes_of_their_own(void **state) {
    (void)state;
    if (!gnuplot()) skip();
    plot("pendulum.h5 --phase phi");
    assert_says(script, "set xlabel \"phi\"");
    assert_says(script, "set label 2 \"phi'\"");
    double x = 0, y = 0;
    const char *data = strstr(script, "<< EOD\n");
    assert_non_null(data);
    assert_int_equal(sscanf(data + 7, "%lf %lf", &x, &y), 2);
    assert_true(x == 1 && y == 0); // released at rest at 1
    assert_int_equal(carom("plot pendulum.h5 --phase psi -o p.svg"), 2);
    assert_says(complaints, "did you mean 'phi'");
    assert_int_equal(carom("plot pendulum.h5 --phase energy -o p.svg"), 2);
    assert_says(complaints, "no column 'energy''");
    assert_int_equal(carom("plot pendulum.h5 --phase phi --vs phi -o p.svg"), 2);
}

// A body's rates have names of their own, and its quaternion none that one could look at.
static void bodies_have_positions_and_portraits(void **state) {
    (void)state;
    if (!gnuplot()) skip();
    put("body.csv", "t,b.x,b.y,b.z,b.qw,b.qx,b.qy,b.qz,b.vx,b.vy,b.vz,b.wx,b.wy,b.wz,kinetic,potential,energy\n"
                    "0,1,2,3,1,0,0,0,4,5,6,0,0,0,1,2,3\n1,2,3,4,1,0,0,0,4,5,6,0,0,0,1,2,3\n");
    plot("body.csv");
    assert_int_equal(count(script, "title \"b."), 3);
    plot("body.csv --phase b.y");
    assert_says(script, "set label 2 \"b.vy\"");
    put("disc.csv",
        "t,d.x,d.y,d.angle,d.vx,d.vy,d.wz,kinetic,potential,energy\n0,1,2,3,4,5,6,1,2,3\n1,2,3,4,5,6,7,1,2,3\n");
    plot("disc.csv");
    assert_int_equal(count(script, "title \"d."), 3);
    plot("disc.csv --phase d.angle");
    assert_says(script, "set label 2 \"d.wz\"");
}

// The least gap of many contacts is a gap, and what holds a joint together is none.
static void gaps_of_many_contacts_are_no_constraints(void **state) {
    (void)state;
    if (!gnuplot()) skip();
    put("many.csv", "t,x,x',kinetic,potential,energy,hit.gap,hit.force,hit.closed,one.gap,one.gap',pin.gap\n"
                    "0,1,2,1,2,3,0.1,0,0,0.2,1,1e-9\n1,3,2,1,2,3,0.3,0,1,0.4,2,2e-9\n");
    plot("many.csv");
    const char *gap = strstr(script, "\"gap\""), *rate = strstr(script, "\"gap velocity\"");
    const char *constraint = strstr(script, "\"constraint\""), *energy = strstr(script, "\"energy (J)\"");
    const char *hit = strstr(script, "title \"hit\""), *pin = strstr(script, "title \"pin\"");
    assert_true(gap && rate && constraint && energy && hit && pin);
    assert_true(gap < hit && hit < rate);
    assert_true(constraint < pin && pin < energy);
}

// A brake has friction and no gap; the contact behind it has one colour all the same.  States have a panel.
static void a_contact_has_one_colour(void **state) {
    (void)state;
    if (!gnuplot()) skip();
    put("brake.yaml", "carom: 1\ncoordinates: {x: 0, y: {at: 1e-3, rate: -1}}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), "
                      "potential: 9*y}\nstates: {i: {at: 0 A, rate: 1 - i}}\nforces: {x: 3*i}\ncontacts:\n"
                      "  brake: {normal force: 2, slip: x, friction: 1}\n"
                      "  floor: {gap: y, slip: x, friction: 0.3}\nsimulation: {scheme: mixed, step: 0.01, end: 1}\n");
    assert_int_equal(carom("run brake.yaml -q -o brake.h5 --force"), 0);
    plot("brake.h5");
    assert_says(script, "\"state (A)\"");
    assert_says(script, "title \"i\"");
    const char *end = script, *colour = NULL;
    int panels = 0;
    for (const char *at; (at = strstr(end, "title \"floor\"")); ++panels) {
        end = at + 1;
        while (at > script && strncmp(at, "lc rgb '", 8) != 0) --at;
        if (colour && strncmp(at, colour, 15) != 0) fail_msg("%.15s and %.15s", colour, at);
        colour = at;
    }
    assert_true(panels >= 4);
}

static void a_window_of_time_is_cut_out(void **state) {
    (void)state;
    if (!gnuplot()) skip();
    plot("ball.h5 --of y --from 1 --to 1.5");
    assert_says(script, "set xrange [1:1.5]");
    const char *data = strstr(script, "<< EOD\n");
    int rows = 0;
    for (const char *at = data + 7; strncmp(at, "EOD", 3) != 0; at = strchr(at, '\n') + 1) ++rows;
    assert_int_equal(rows, 51); // every step of 0.01
}

// With outputs, a dozen coordinates and more are left out of the standard picture; without, they are all there is.
static void outputs_stand_for_many_coordinates(void **state) {
    (void)state;
    if (!gnuplot()) skip();
    char text[2000] = "t", row[400] = "\n0";
    for (int pass = 0; pass < 2; ++pass)
        for (int i = 0; i < 15; ++i) sprintf(text + strlen(text), ",u%d%s", i, pass ? "'" : ""), strcat(row, ",1");
    strcat(text, ",kinetic,potential,energy,centre");
    strcat(row, ",1,2,3,4");
    put("wide.csv", strcat(strcat(strcat(text, row), row), "\n"));
    char *last = strrchr(text, '\n');
    while (last > text && last[-1] != '\n') --last;
    *last = '1'; // the second row is at t = 1
    put("wide.csv", text);
    plot("wide.csv");
    assert_says(script, "title \"centre\"");
    assert_null(strstr(script, "\"u3\""));
    plot("wide.csv --of u3");
    assert_says(script, "set label 2 \"u3\"");
}

// -- sketches -------------------------------------------------------------------------------------------------

// A falling line from (0, 1) to (1, -1): from the upper left to the lower right, through the dotted zero.
static void a_sketch_shows_the_course(void **state) {
    (void)state;
    put("line.csv", "t,x\n0,1\n1,-1\n");
    assert_int_equal(carom("plot line.csv -o - --of x"), 0);
    char *line[40];
    int n = 0;
    for (char *at = strtok(out, "\n"); at && n < 40; at = strtok(NULL, "\n")) line[n++] = at;
    assert_int_equal(n, 1 + 1 + 12 + 1); // title, legend, rows, axis
    assert_says(line[1], "x: * x");
    int before = -1;
    for (int r = 2; r < 14; ++r) {
        assert_true(strlen(line[r]) <= 80);
        const char *star = strchr(line[r], '*');
        if (!star) continue;
        assert_true(star - line[r] > before); // down and to the right
        before = (int)(strrchr(line[r], '*') - line[r]);
    }
    assert_int_equal(before, 78); // the last of 68 columns behind 11 letters
    assert_says(line[2], "1.12 |"); // 6 % of room
    assert_says(line[13], "-1.12 |");
    assert_says(line[14], "time (s)");
}

static void a_sketch_says_nothing_twice(void **state) {
    (void)state;
    assert_int_equal(carom("plot ball.h5 -o -"), 0);
    assert_says(out, "position: * y");
    assert_says(out, "output: * twice");
    assert_null(strstr(out, "gap: ")); // it is the position
    assert_says(out, "energy (J): * kinetic  o potential  + sum");
    assert_int_equal(carom("plot ball.h5 pendulum.h5 -o - --of energy"), 0);
    assert_says(out, "* energy (ball.h5)  o energy (pendulum.h5)");
    assert_int_equal(carom("plot ball.h5 -o - --keep-script x.gp"), 2);
}

static void names_cannot_write_to_the_terminal(void **state) {
    (void)state;
    put("evil.csv", "t,\x1b[2Jx\n0,1\n1,2\n");
    assert_int_equal(carom("plot evil.csv -o - --of '\x1b[2Jx'"), 0);
    assert_null(strchr(out, '\x1b'));
    assert_says(out, "\\u001b[2Jx");
}

// `carom plot ball.h5` on a terminal: a sketch as wide as it, and no file.
static void on_a_terminal_a_sketch_is_the_default(void **state) {
    (void)state;
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) skip();
    const char *name = ptsname(master);
    remove("ball.svg");
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const int slave = open(name, O_RDWR | O_NOCTTY);
        dup2(slave, 1);
        setenv("COLUMNS", "60", 1);
        execl(CAROM_BINARY_DIR "/carom", "carom", "plot", "ball.h5", (char *)NULL);
        _exit(99);
    }
    size_t n = 0;
    const int slave = open(name, O_RDWR | O_NOCTTY); // keeps the terminal open while the program is not there yet or no
                                                     // more
    int status = 0;
    fcntl(master, F_SETFL, O_NONBLOCK);
    for (bool ended = false, last = false; !last;
         last = ended, ended = ended || waitpid(pid, &status, WNOHANG) == pid) {
        ssize_t got;
        while (n < sizeof out - 1 && (got = read(master, out + n, sizeof out - 1 - n)) > 0) n += (size_t)got;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    out[n] = 0;
    close(slave);
    close(master);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_says(out, "Ball, half-explicit");
    assert_says(out, "position: * y");
    for (char *at = strtok(out, "\r\n"); at; at = strtok(NULL, "\r\n")) assert_true(strlen(at) <= 60);
    assert_int_equal(access("ball.svg", F_OK), -1);
}

static int set_up(void **state) {
    (void)state;
    strcpy(folder, "/tmp/carom-plot-XXXXXX");
    if (!mkdtemp(folder) || chdir(folder) != 0) return -1;
    put("ball.yaml", ball);
    put("pendulum.yaml", pendulum);
    return carom("run ball.yaml -q") + carom("run ball.yaml -q --scheme moreau-jean --out second.h5") +
           carom("run ball.yaml -q --scheme ggl-alpha --out third.h5") + carom("run pendulum.yaml -q");
}

static int tear_down(void **state) {
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return chdir("/") + system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kept_script_makes_the_picture_again),
        cmocka_unit_test(pictures_of_branches_and_sweeps_have_titles),
        cmocka_unit_test(pictures_of_sweeps_hold_their_tables),
        cmocka_unit_test(the_legend_of_several_results_stays_whole),
        cmocka_unit_test(a_long_legend_stays_in_the_picture),
        cmocka_unit_test(rates_of_points_of_members_are_drawn_when_asked_for),
        cmocka_unit_test(with_many_columns_results_have_dashes),
        cmocka_unit_test(what_a_result_lacks_is_said),
        cmocka_unit_test(phase_portraits_have_axes_of_their_own),
        cmocka_unit_test(bodies_have_positions_and_portraits),
        cmocka_unit_test(gaps_of_many_contacts_are_no_constraints),
        cmocka_unit_test(a_contact_has_one_colour),
        cmocka_unit_test(a_window_of_time_is_cut_out),
        cmocka_unit_test(outputs_stand_for_many_coordinates),
        cmocka_unit_test(a_sketch_shows_the_course),
        cmocka_unit_test(a_sketch_says_nothing_twice),
        cmocka_unit_test(names_cannot_write_to_the_terminal),
        cmocka_unit_test(on_a_terminal_a_sketch_is_the_default),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
