// test_cli_files.c: files of the program as a person uses it: pictures, hostile names, lost output, full disks, files
// that are replaced, damaged results.
#define _DEFAULT_SOURCE // mkdtemp
#include "cli_rig.h"
#include <sys/stat.h>

static long rows_of(const char *file) {
    carom_result *r = load(file);
    const long rows = carom_result_rows(r);
    carom_result_close(r);
    return rows;
}

static bool starts(const char *file, const char *bytes) {
    char head[64] = "";
    get(file, head, sizeof head);
    return strncmp(head, bytes, strlen(bytes)) == 0;
}

static void pictures_are_made(void **state) {
    (void)state;
    if (system("command -v gnuplot >/dev/null 2>&1") != 0) skip();
    put("ball.yaml", ball);
    assert_int_equal(carom("run ball.yaml --out b.h5 -q"), 0);
    assert_int_equal(carom("run ball.yaml --out b.csv -q --scheme moreau-jean"), 0);
    assert_int_equal(carom("plot b.h5"), 0);
    assert_true(starts("b.svg", "<?xml"));
    assert_int_equal(carom("plot b.h5 -o b.png --of y+height,ground.impulse --from 0.2 --to=0.6 --keep-script b.gp"),
                     0);
    assert_true(starts("b.png", "\x89PNG"));
    assert_true(starts("b.gp", "# Made by carom"));
    assert_int_equal(remove("b.png") + system("gnuplot -d b.gp"), 0); // the kept script stands on its own
    assert_true(starts("b.png", "\x89PNG"));
    assert_int_equal(carom("plot b.h5 b.csv -o b.pdf --of y --vs x"), 0);
    assert_true(starts("b.pdf", "%PDF"));
    assert_int_equal(carom("plot b.h5 --of ground.gpa"), 2);
    assert_says(complaints, "did you mean 'ground.gap'");
    assert_int_equal(carom("plot b.h5 -o b.gif"), 2);
    assert_int_equal(carom("plot b.h5 --from 7"), 2);
    assert_int_equal(carom("plot nowhere.h5"), 2);
}

static void hostile_names_run_nothing(void **state) {
    (void)state;
    if (system("command -v gnuplot >/dev/null 2>&1") != 0) skip();
    put("evil.csv", "t,`touch owned`,'; system('touch owned') #,\"a\"\"b{x}_y^z@m\",%s%n\n0,1,2,3,4\n1,2,3,4,5\n");
    assert_int_equal(carom("plot evil.csv -o evil.svg --of '`touch owned`+'\\''; system('\\''touch owned'\\'') "
                           "#+a\"b{x}_y^z@m+%%s%%n'"),
                     0);
    assert_false(there("owned"));
    assert_int_equal(carom("plot evil.csv -o '|touch owned.svg' --of %s", "'%s%n'"), 0);
    assert_false(there("owned.svg"));
    assert_true(there("|touch owned.svg"));
}

// The script that is kept is run by somebody, some day.
static void kept_scripts_run_nothing(void **state) {
    (void)state;
    if (system("command -v gnuplot >/dev/null 2>&1") != 0) skip();
    put("plain.csv", "t,x\n0,1\n1,2\n");
    assert_int_equal(carom("plot plain.csv -o '|touch owned.svg' --of x --keep-script kept.gp"), 0);
    assert_int_equal(system("gnuplot kept.gp >/dev/null 2>&1"), 0);
    assert_false(there("owned.svg"));
    assert_true(there("|touch owned.svg"));
}

static int carom_into_full(const char *arguments) {
    char command[1000];
    snprintf(command, sizeof command, CAROM_BINARY_DIR "/carom %s >/dev/full 2>stderr.txt", arguments);
    const int status = system(command);
    get("stderr.txt", complaints, sizeof complaints);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void output_that_is_lost_is_a_failure(void **state) {
    (void)state;
    if (!there("/dev/full")) skip();
    static const char *const verbs[] = {"run ball.yaml --out full.h5",
                                        "run ball.yaml --out full.h5 --json",
                                        "run ball.yaml --out - -q",
                                        "compare ball.yaml --schemes moreau-jean --steps 1e-2,5e-3",
                                        "check ball.yaml",
                                        "info ball.yaml",
                                        "schemes",
                                        "schemes auto",
                                        "examples",
                                        "help",
                                        "help run",
                                        "--version"};
    put("ball.yaml", ball);
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; ++i) {
        if (carom_into_full(verbs[i]) != 1) fail_msg("%s", verbs[i]);
        assert_says(complaints, "cannot write");
    }
}

// A file that reaches its limit is like a full disk: the run ends with exit 1 and leaves a result, or none, and no
// part.
static void a_limit_of_file_sizes_is_a_full_disk(void **state) {
    (void)state;
    put("ball.yaml", ball);
    assert_int_equal(carom("run ball.yaml --step 1e-5 --every 1 --out whole.h5 -q"), 0);
    static const int limits[] = {0, 10, 64, 700, 2000, 5000}; // kB
    for (int csv = 0; csv < 2; ++csv)
        for (size_t i = 0; i < sizeof limits / sizeof *limits; ++i) {
            char command[400];
            const char *name = csv ? "limit.csv" : "limit.h5";
            unlink(name);
            snprintf(command, sizeof command,
                     "bash -c 'ulimit -f %d; " CAROM_BINARY_DIR
                     "/carom run ball.yaml --step 1e-5 --every 1 --out %s -q 2>said'",
                     limits[i], name);
            const int status = system(command);
            assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 1 || WEXITSTATUS(status) == 2));
            assert_true(system("ls *.part >/dev/null 2>&1") != 0);
            if (!there(name)) continue;
            carom_result *r = load(name);
            double t = 0;
            if (carom_result_rows(r) > 0)
                assert_int_equal(carom_result_read(r, 0, carom_result_rows(r) - 1, 1, &t, NULL), CAROM_OK);
            carom_result_close(r);
            snprintf(command, sizeof command, "grep -q '^carom: partial result up to t = %.9g saved in limit' said", t);
            if (csv) assert_int_equal(system(command), 0); // an .h5 file may hold a last row behind that
            if (csv) continue;
            assert_int_equal(carom("run --resume limit.h5 -q"), 0);
            assert_int_equal(rows_of("limit.h5"), 100001);
        }
}

// Files that are written at once get their name when they are whole: after a failed write the older one is there.  A
// pipe stays a pipe.
static void files_are_replaced_whole(void **state) {
    (void)state;
    static const struct { const char *verb, *file; } cases[] = {{"export c ball.yaml -o", "old.c"},
                 {"export fmu ball.yaml -o", "old.fmu"},
                 {"view shown.h5 -o", "old.html"},
                 {"equilibrium spring.yaml --save", "old.csv"},
                 {"solve tiny.txt --problem 1 --out", "old.txt"}};
    put("ball.yaml", ball);
    put("spring.yaml", "carom: 1\ncoordinates: {x: 0.1}\nenergy: {kinetic: 1/2*x'^2, potential: x^2}\n");
    assert_int_equal(carom("run ball.yaml --out shown.h5 -q"), 0);
    assert_int_equal(carom("run ball.yaml --out other.h5 --dump-problems tiny.txt -q --force"), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char command[400], text[10];
        put(cases[i].file, "older\n");
        snprintf(command, sizeof command, "bash -c 'ulimit -f 0; " CAROM_BINARY_DIR "/carom %s %s >/dev/null 2>&1'",
                 cases[i].verb, cases[i].file);
        const int status = system(command);
        get(cases[i].file, text, sizeof text);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 1 || strcmp(text, "older\n") != 0)
            fail_msg("%s: status %d, the file holds %s", cases[i].verb, status, text);
        assert_true(system("ls *.part >/dev/null 2>&1") != 0);
        assert_int_equal(carom("%s %s", cases[i].verb, cases[i].file), 0);
        get(cases[i].file, text, sizeof text);
        assert_string_not_equal(text, "older\n");
    }
    struct stat pipe;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(system("cat pipe >got.c & " CAROM_BINARY_DIR "/carom export c ball.yaml -o pipe >/dev/null; wait"),
                     0);
    assert_true(lstat("pipe", &pipe) == 0 && S_ISFIFO(pipe.st_mode));
    assert_int_equal(system("cmp got.c old.c"), 0);
}

static void a_run_that_is_not_done_keeps_the_older_result(void **state) {
    (void)state;
    put("ball.yaml", ball);
    put("fails.yaml",
        "carom: 1\ncoordinates: {x: {at: 1, rate: -1}}\nenergy: {kinetic: 1/2*x'^2}\nforces: {x: -sqrt(x)}\n"
        "simulation: {scheme: moreau-midpoint, step: 1e-2, end: 9}\n");
    static const char *const names[] = {"keep.h5", "keep.csv"};
    for (int i = 0; i < 2; ++i) {
        char before[40];
        snprintf(before, sizeof before, "%s.before", names[i]);
        assert_int_equal(carom("run ball.yaml --out %s -q", names[i]), 0);
        assert_false(there(before));
        const long good = rows_of(names[i]);
        for (int k = 0; k < 2; ++k) { // a second failure does not take the first for good
            assert_int_equal(carom("run fails.yaml --out %s -q", names[i]), 1);
            assert_says(complaints, "the result of an earlier run is kept in");
            snprintf(before, sizeof before, "cp %s.before kept%s", names[i], names[i] + 4);
            assert_int_equal(system(before), 0);
            assert_int_equal(rows_of(i ? "kept.csv" : "kept.h5"), good);
        }
        snprintf(before, sizeof before, "%s.before", names[i]);
        assert_int_equal(carom("run ball.yaml --out %s -q", names[i]), 0);
        assert_false(there(before)); // it is done, and replaces the older one
        assert_int_equal(rows_of(names[i]), good);
        assert_int_equal(carom("run fails.yaml --out %s -q --force", names[i]), 1);
        assert_false(there(before));
    }
    assert_int_equal(carom("run nothing.yaml --out keep.h5 -q"), 2); // and one that never begins touches nothing
    assert_true(there("keep.h5"));
}

static void without_gnuplot_the_package_is_named(void **state) {
    (void)state;
    put("ball.yaml", ball);
    assert_int_equal(carom("run ball.yaml --out b.h5 -q"), 0);
    assert_int_equal(system("PATH=/nowhere " CAROM_BINARY_DIR "/carom plot b.h5 2>stderr.txt"), 256);
    get("stderr.txt", complaints, sizeof complaints);
    assert_says(complaints, "gnuplot-nox");
}

static void damaged_results_end_no_verb_by_a_signal(void **state) {
    (void)state;
    put("ball.yaml", ball);
    assert_int_equal(carom("run ball.yaml --out good.h5 --every 20 -q"), 0);
    static unsigned char bytes[1 << 20], bad[1 << 20];
    FILE *f = fopen("good.h5", "rb");
    const size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    unsigned long seed = 7;
    for (int trial = 0; trial < 20; ++trial) {
        memcpy(bad, bytes, size);
        for (int k = 0; k < 6; ++k) {
            seed = seed * 6364136223846793005ul + 1442695040888963407ul;
            bad[(seed >> 33) % (trial % 4 ? 12000 : size)] ^= (unsigned char)(1 + (seed >> 20) % 255);
        }
        f = fopen("bad.h5", "wb");
        fwrite(bad, 1, size, f);
        fclose(f);
        const int info = carom("info bad.h5");
        assert_true(info == 0 || info == 2);
        const int go = carom("run --resume bad.h5 --end 1.1 -q");
        assert_true(go == 0 || go == 1 || go == 2 || go == 3);
    }
}

// A model reads the files of its directory; links are followed where they end there.
static void links_stay_inside(void **state) {
    (void)state;
    const char obj[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    assert_int_equal(mkdir("own", 0777) | mkdir("own/parts", 0777) | mkdir("outside", 0777), 0);
    put("own/parts/t.obj", obj);
    put("outside/t.obj", obj);
    put("own/m.yaml", "carom: 1\nbodies: {b: {density: 1, shape: {hull: link.obj}}}\nsimulation: {scheme: moreau-jean, "
                      "step: 1e-2, end: 0.02}\n");
    static const struct { const char *to; int code; const char *says; } of[] = {{"parts/t.obj", 0, "steps"},
              {"../own/parts/t.obj", 0, "steps"},
              {"../outside/t.obj", 2, "it is a link out of the directory of the model"},
              {"nowhere", 2, "No such file"},
              {"parts", 2, "it is no file"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; ++i) {
        unlink("own/link.obj");
        assert_int_equal(symlink(of[i].to, "own/link.obj"), 0);
        const int code = carom("run own/m.yaml --out x.h5");
        if (code != of[i].code || !(strstr(out, of[i].says) || strstr(complaints, of[i].says)))
            fail_msg("%s: %d, %s%s", of[i].to, code, out, complaints);
    }
    put("own/m.yaml", "carom: 1\nbodies: {b: {density: 1, shape: {hull: there/t.obj}}}\nsimulation: {scheme: "
                      "moreau-jean, step: 1e-2, end: 0.02}\n");
    assert_int_equal(symlink("../outside", "own/there"), 0);
    assert_int_equal(carom("run own/m.yaml --out x.h5"), 2);
}

// Meshes of a robot: by package, in the directories above, scaled, outside of the model's directory, missing, flat.
static void meshes_of_robots(void **state) {
    (void)state;
    const char obj[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    char text[4000];
    assert_int_equal(system("mkdir -p ros/arm/urdf ros/arm/meshes ros/hand/m else/tool models"), 0);
    put("ros/arm/meshes/a.obj", obj), put("ros/hand/m/h.obj", obj), put("else/tool/t.obj", obj),
        put("ros/arm/urdf/near.obj", obj), put("ros/arm/meshes/flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    put("ros/arm/urdf/r.urdf",
        "<robot name='r'><link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
        "<collision><geometry><mesh filename='package://arm/meshes/a.obj' scale='1 2 "
        "-3'/></geometry></collision><collision><geometry><mesh "
        "filename='package://hand/m/h.obj'/></geometry></collision>"
        "<collision><geometry><mesh filename='package://tool/t.obj'/></geometry></collision><collision><geometry><mesh "
        "filename='near.obj'/></geometry></collision>\n"
        "<collision><geometry><mesh "
        "filename='package://arm/meshes/flat.obj'/></geometry></collision>\n<collision><geometry><mesh "
        "filename='package://arm/meshes/none.stl'/></geometry></collision></link></robot>");
    assert_int_equal(carom("import urdf ros/arm/urdf/r.urdf -o models/r.yaml"), 0);
    assert_non_null(strstr(
        complaints, "the mesh 't.obj' is left out: the file is not found; name its package: --package tool=DIR"));
    assert_non_null(strstr(complaints, "r.urdf:2: the mesh 'meshes/flat.obj' is left out: it is flat"));
    assert_non_null(strstr(complaints, "r.urdf:3: the mesh 'meshes/none.stl' is left out: the file is not found"));
    assert_int_equal(carom("import urdf ros/arm/urdf/r.urdf -o models/r.yaml --force --package tool=else/tool"), 0);
    assert_null(strstr(complaints, "'t.obj'"));
    get("models/r.yaml", text, sizeof text);
    assert_non_null(strstr(text, "c1: {hull: \"r-meshes/a.obj\", scale: [1, 2, -3], at: [0, 0, 0]}"));
    assert_non_null(strstr(text, "c3: {hull: \"r-meshes/t.obj\""));
    assert_non_null(strstr(text, "c4: {hull: \"r-meshes/near.obj\""));
    assert_true(there("models/r-meshes/h.obj"));
    assert_int_equal(carom("run models/r.yaml --end 0.01 --out r.h5"), 0);
    assert_int_equal(carom("import urdf ros/arm/urdf/r.urdf -o ros/r.yaml"), 0); // inside of it: no copies
    put("victim", "keep"); // a link gives way, and what it names stays
    assert_int_equal(symlink("victim", "link.yaml"), 0);
    assert_int_equal(carom("import urdf ros/arm/urdf/r.urdf -o link.yaml --package tool=else/tool"), 2);
    assert_int_equal(carom("import urdf ros/arm/urdf/r.urdf -o link.yaml --force --package tool=else/tool"), 0);
    assert_int_equal(system("test \"$(cat victim)\" = keep -a ! -h link.yaml"), 0);
    get("ros/r.yaml", text, sizeof text);
    assert_non_null(strstr(text, "hull: \"arm/meshes/a.obj\""));
    assert_false(there("ros/r-meshes"));
    // two meshes of one name
    put("ros/hand/m/a.obj", "v 0 0 0\nv 2 0 0\nv 0 2 0\nv 0 0 2\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n");
    put("ros/arm/urdf/two.urdf",
        "<robot name='t'><link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
        "<collision><geometry><mesh filename='package://arm/meshes/a.obj'/></geometry></collision>"
        "<collision><geometry><mesh filename='package://hand/m/a.obj'/></geometry></collision>"
        "<collision><geometry><mesh filename='package://hand/m/a.obj' scale='2 2 2'/></geometry></collision>"
        "</link></robot>");
    for (int again = 0; again < 2; ++again) {
        assert_int_equal(carom("import urdf ros/arm/urdf/two.urdf -o models/two.yaml --force"), 0);
        get("models/two.yaml", text, sizeof text);
        assert_non_null(strstr(text, "hull: \"two-meshes/a.obj\""));
        assert_non_null(strstr(text, "c2: {hull: \"two-meshes/a-2.obj\""));
        assert_non_null(strstr(text, "hull: \"two-meshes/a-2.obj\", scale: [2, 2, 2]"));
        assert_false(there("models/two-meshes/a-3.obj"));
    }
    put("models/r-meshes/a.obj", "another");
    assert_int_equal(carom("import urdf ros/arm/urdf/r.urdf -o models/s.yaml --package tool"), 2);
    assert_int_equal(system("mv models/r.yaml models/r.old"), 0);
    assert_int_equal(carom("import urdf ros/arm/urdf/r.urdf -o models/r.yaml"), 0);
    assert_non_null(strstr(complaints, "exists and is another file; use --force to replace it"));
    setenv("ROS_PACKAGE_PATH", "/nowhere:else", 1);
    assert_int_equal(carom("import urdf ros/arm/urdf/r.urdf -o - --floor --at 0,0,5"), 0);
    unsetenv("ROS_PACKAGE_PATH");
    assert_null(strstr(complaints, "'t.obj'"));
    put("ros/in.xml", "<mujoco><compiler meshdir='arm/meshes'/><asset><mesh file='a.obj' scale='2 2 "
                      "2'/></asset><worldbody><include file='part.xml'/></worldbody></mujoco>");
    put("ros/part.xml",
        "<mujocoinclude><body name='b'><freejoint/><geom type='mesh' mesh='a' density='600'/></body></mujocoinclude>");
    assert_int_equal(carom("import mjcf ros/in.xml -o ros/in.yaml"), 0);
    get("ros/in.yaml", text, sizeof text);
    const char *found = strstr(text, "mass: "); // 8/6 m^3 of 600 kg/m^3
    assert_non_null(found);
    if (!(atof(found + 6) > 799.999 && atof(found + 6) < 800.001)) fail_msg("%s", text);
    assert_non_null(strstr(text, "hull: \"arm/meshes/a.obj\", scale: [2, 2, 2]"));
    // corners in the description: a brick of 0.2 x 0.4 x 0.6 m, with a point inside of it
    put("brick.xml", "<mujoco><asset><mesh name='a/b' scale='0.1 0.2 0.3' vertex='-1 -1 -1  1 -1 -1  1 1 -1  -1 1 -1  "
                     "-1 -1 1  1 -1 1  1 1 1  -1 1 1  0 0 0.5'/><mesh name='flat' vertex='0 0 0 1 0 0 1 1 0 0 1 0'/>"
                     "</asset><worldbody><geom type='plane' pos='0 0 -1' size='1 1 1'/><body name='b'><freejoint/>"
                     "<geom mesh='a/b' density='1000'/><geom mesh='flat'/></body></worldbody></mujoco>");
    assert_int_equal(carom("import mjcf brick.xml -o models/brick.yaml"), 0);
    assert_non_null(strstr(complaints, "the mesh 'flat' is left out: it is flat"));
    get("models/brick.yaml", text, sizeof text);
    found = strstr(text, "mass: ");
    assert_non_null(found);
    if (!(fabs(atof(found + 6) - 48) < 1e-9)) fail_msg("%s", text);
    assert_non_null(strstr(text, "hull: \"brick-meshes/a_b.obj\", scale: [0.1, 0.2, 0.3]"));
    assert_int_equal(carom("run models/brick.yaml --end 0.01 --out b.h5"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_are_made),
        cmocka_unit_test(hostile_names_run_nothing),
        cmocka_unit_test(kept_scripts_run_nothing),
        cmocka_unit_test(output_that_is_lost_is_a_failure),
        cmocka_unit_test(a_limit_of_file_sizes_is_a_full_disk),
        cmocka_unit_test(files_are_replaced_whole),
        cmocka_unit_test(a_run_that_is_not_done_keeps_the_older_result),
        cmocka_unit_test(without_gnuplot_the_package_is_named),
        cmocka_unit_test(links_stay_inside),
        cmocka_unit_test(meshes_of_robots),
        cmocka_unit_test(damaged_results_end_no_verb_by_a_signal),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
