// test_fit.c: carom fit: fits with known answers, and what is said about data that do not allow one.
#define _DEFAULT_SOURCE // mkdtemp
#include "model_text.h"
#include "own_folder.h"
#include "program.h"

// The number behind the i-th `words` in the output.
static double after(const char *words) {
    const char *at = strstr(out, words);
    if (!at) fail_msg("'%s' is not in: %s", words, out);
    return strtod(at + strlen(words), NULL);
}

// A free particle: x = a + b t at t = 0 .. 4 with the data 1, 3, 2, 5, 4: regression by hand.  Mean of t 2, of the data
// 3; S_tt = 10, S_tx = 8: b = 0.8, a = 1.4; the squares left sum up to 3.6, s^2 = 3.6/3 = 1.2; var b = s^2/10, var a =
// s^2 (1/5 + 4/10), cov = -2 s^2/10.
static void line(void **state) {
    (void)state;
    put("line.yaml", "carom: 1\ncoordinates: {x: {at: 0.3, rate: 0.1}}\nenergy: {kinetic: \"x'^2\"}\n");
    // in any order; entries that are missing; no end of the last line
    put("line.csv", "t, where\n4,4\n0,1\n1,3\n2,2\n3,5\n2.5,nan");
    assert_int_equal(carom("fit line.yaml line.csv --free x,\"x'\" --match where=x --json -o points.csv"), 0);
    assert_close(after("\"x\": "), 1.4, 1e-7);
    assert_close(after("\"x'\": "), 0.8, 1e-7);
    assert_close(after("\"covariance\": [["), 1.2 * 0.6, 1e-5);
    assert_close(after("], ["), -1.2 * 0.2, 1e-5);
    assert_close(after("\"residual\": "), sqrt(3.6 / 5), 1e-9);
    assert_says(out, "\"points\": 5");
    assert_says(out, "\"derivatives\": \"exact\"");
    get("points.csv", out, sizeof out);
    assert_close(after("file,column,t,data,model\n1,where,0,1,"), 1.4, 1e-7);
    // twice as many, errors given
    assert_int_equal(carom("fit line.yaml line.csv line.csv --free x,\"x'\" --match where=x --sigma where=2 --json"),
                     0);
    assert_close(after("\"covariance\": [["), 4 * 0.6 / 2, 1e-4);
}

// Impacts of a ball: t_1 = sqrt(2 h/g), then 2 e^k t_1 more each time.  The model's scheme does not locate impacts:
// event-driven does.
static void impacts(void **state) {
    (void)state;
    put("ball.yaml",
        "carom: 1\nparameters: {e: 0.5}\ncoordinates: {y: {at: 0.8}}\nenergy: {kinetic: \"1/2*y'^2\", potential: "
        "9.81*y}\n"
        "contacts: {ground: {gap: y, restitution: e}}\nsimulation: {scheme: moreau-jean, step: 1e-3, end: 2}\n");
    char text[400] = "hit\n";
    double t = sqrt(2 / 9.81), flight = 2 * t;
    for (int k = 0; k < 8; ++k, t += flight) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%.14g\n", t);
        flight *= 0.75;
    }
    put("ball.csv", text);
    assert_int_equal(
        carom("fit ball.yaml ball.csv --free e,y --match 'hit=impact ground' --bounds e=0:1 --bounds y=0: --json"), 0);
    assert_close(after("\"e\": "), 0.75, 1e-8);
    assert_close(after("\"y\": "), 1, 1e-8);
    assert_says(out, "\"scheme\": \"event-driven\"");
    assert_says(out, "\"derivatives\": \"exact\"");
    assert_int_equal(carom("fit ball.yaml ball.csv --free e,y --match 'hit=impact ground' --scheme mixed --json"), 0);
    assert_close(after("\"e\": "), 0.75, 1e-6);
    assert_says(out, "\"derivatives\": \"exact\"");
}

// To and fro between two walls a metre apart: those of one wall alone, with the speed cut by e at each.
static void impacts_of_one_of_two(void **state) {
    (void)state;
    put("corridor.yaml",
        "carom: 1\nparameters: {e: 0.8}\ncoordinates: {x: {at: 0.2, rate: 1.5}}\nenergy: {kinetic: \"1/2*x'^2\"}\n"
        "contacts: {near: {gap: x, restitution: e}, far: {gap: 1 - x, restitution: e}}\n"
        "simulation: {scheme: event-driven, step: 0.1, end: 8}\n");
    static const double e = 0.9, v = 2;
    for (int far = 0; far < 2; ++far) {
        char text[400] = "hit\n";
        double t = 0.8 / v, speed = v;
        for (int k = 0; k < 8; ++k, speed *= e, t += 1 / speed)
            if (k % 2 == !far) snprintf(text + strlen(text), sizeof text - strlen(text), "%.14g\n", t);
        put("corridor.csv", text);
        assert_int_equal(carom("fit corridor.yaml corridor.csv --free \"e,x'\" --match 'hit=impact %s' --bounds e=0:1 "
                               "--json",
                               far ? "far" : "near"),
                         0);
        assert_close(after("\"e\": "), e, 1e-8);
        assert_close(after("\"x'\": "), v, 1e-8);
    }
}

// An impact that nobody heard is one: the ball again, without the time of the third.
static void unheard(void **state) {
    (void)state;
    char text[400] = "hit\n";
    double t = sqrt(2 / 9.81), flight = 2 * t;
    for (int k = 0; k < 7; ++k, t += flight) {
        snprintf(text + strlen(text), sizeof text - strlen(text), k == 2 ? "nan\n" : "%.14g\n", t);
        flight *= 0.75;
    }
    put("unheard.csv", text);
    assert_int_equal(
        carom("fit ball.yaml unheard.csv --free e,y --match 'hit=impact ground' --json -o unheard.points.csv"), 0);
    assert_close(after("\"e\": "), 0.75, 1e-8);
    assert_close(after("\"y\": "), 1, 1e-8);
    assert_says(out, "\"points\": 6");
}

// The line with a slope of 0.5 at most: it is 0.5, the rest follows with a = mean - 0.5*2, residuals -1, 0.5, -1, 1.5,
// 0 and var a = s^2/5, s^2 = 4.5/3, as if the slope were known.
static void bounded(void **state) {
    (void)state;
    assert_int_equal(
        carom("fit line.yaml line.csv --free x,\"x'\" --match where=x --bounds \"x'=0:0.5\" --bounds x=:2.1 --json"),
        0);
    assert_close(after("\"x\": "), 2, 1e-5);
    assert_close(after("\"x'\": "), 0.5, 1e-6);
    assert_close(after("\"covariance\": [["), 1.5 / 5, 1e-4);
    const char *at = strstr(out, "\"confidence\": ");
    double low, high, slow, fast;
    assert_int_equal(sscanf(at, "\"confidence\": {\"x\": [%lf, %lf], \"x'\": [%lf, %lf]}", &low, &high, &slow, &fast),
                     4);
    assert_close(low, 2 - 3.182446305 * sqrt(0.3), 1e-3); // Student's quantile of three degrees of freedom
    assert_close(high, 2.1, 1e-12);
    assert_true(slow >= 0 && fast <= 0.5);
}

// One mass, three experiments: m x'' = F with F and the initial rate as they were set.  x = x0 + v t + F t^2/(2 m), m =
// 0.4.
static void experiments(void **state) {
    (void)state;
    static const double F[] = {1, -2, 1}, v[] = {0, 0, 3};
    put("push.yaml",
        "carom: 1\nparameters: {F: 1, m: 1}\ncoordinates: {x: 0}\nenergy: {kinetic: \"m/2*x'^2\"}\nforces: {x: F}\n");
    for (int i = 0; i < 3; ++i) {
        char text[300] = "t,where\n", name[20];
        for (int k = 1; k < 6; ++k)
            snprintf(text + strlen(text), 50, "%.2f,%.14g\n", 0.2 * k,
                     0.3 + v[i] * 0.2 * k + F[i] * 0.04 * k * k / 0.8);
        snprintf(name, sizeof name, "push%d.csv", i);
        put(name, text);
    }
    static const char words[] = "fit push.yaml push0.csv push1.csv push2.csv --free m,x --match where=x --experiment "
                                "push1.csv:F=-2 --experiment \"push2.csv:x'=3, F=1\" --json%s";
    assert_int_equal(carom(words, ""), 0);
    assert_close(after("\"m\": "), 0.4, 1e-8);
    assert_close(after("\"x\": "), 0.3, 1e-8);
    assert_says(out, "\"derivatives\": \"exact\"");
    assert_int_equal(carom(words, " --scheme moreau-midpoint --step 1e-3"), 0); // by differences
    assert_close(after("\"m\": "), 0.4, 1e-3);
    assert_int_equal(carom("fit push.yaml push0.csv --free m --match where=x --experiment push9.csv:F=2"), 2);
    assert_says(complaints, "--experiment push9.csv:F=2: write DATA.csv:NAME=VALUE");
    assert_int_equal(carom("fit push.yaml push0.csv --free m --match where=x --experiment push0.csv:m=2"), 2);
    assert_says(complaints, "'m' is free and cannot be set");
    assert_int_equal(carom("fit push.yaml push0.csv --free m --match where=x --experiment push0.csv:G=2"), 2);
    assert_says(complaints, "'G'");
}

// m x'' = F(t) in three experiments, each with a signal of its own: a number, an expression with a comma, a file, which
// is joined linearly: 3, 2 t until t = 1 and 2 from there on, 4 t.  x = 3 t^2/(2 m); t^3/(3 m), then (1/3 + (t - 1) +
// (t - 1)^2)/m; 2 t^3/(3 m).
static void signals(void **state) {
    (void)state;
    put("pushed.yaml", "carom: 1\nparameters: {m: 1, d: 0}\ninputs: {F: 0}\ncoordinates: {x: 0}\nenergy: {kinetic: "
                       "\"m/2*x'^2\"}\nforces: {x: F + d}\n");
    put("ramp.csv", "t,F\n0,0\n1,4\n2,8\n");
    put("other.csv", "t,F\n0,0\n1,9\n2,1\n");
    for (int i = 0; i < 3; ++i) {
        char text[400] = "t,where\n", name[20];
        for (int k = 1; k < 8; ++k) {
            const double t = 0.25 * k, s = t - 1;
            const double y[] = {1.5 * t * t, s < 0 ? t * t * t / 3 : 1.0 / 3 + s + s * s, 2 * t * t * t / 3};
            snprintf(text + strlen(text), 40, "%.2f,%.15g\n", t, (y[i] + 0.05 * t * t) / 0.4);
        }
        snprintf(name, sizeof name, "pushed%d.csv", i);
        put(name, text);
    }
    static const char words[] =
        "fit pushed.yaml pushed0.csv pushed1.csv pushed2.csv --free m,d --match where=x --experiment pushed0.csv:F=3 "
        "--experiment 'pushed1.csv:F=2*min(1,t), x=0' --experiment pushed2.csv:F=ramp.csv --json%s";
    static const char *const more[] = {"", " --input F=other.csv", " --scheme moreau-midpoint --step 1e-3"};
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(carom(words, more[i]), 0);
        assert_close(after("\"m\": "), 0.4, i < 2 ? 1e-8 : 1e-3);
        assert_close(after("\"d\": "), 0.1, i < 2 ? 1e-7 : 1e-2);
        if (i < 2) assert_says(out, "\"derivatives\": \"exact\"");
    }
    static const char wrong[] = "fit pushed.yaml pushed0.csv --free m --match where=x --experiment pushed0.csv:%s";
    assert_int_equal(carom(wrong, "F=none.csv"), 2);
    assert_says(complaints, "cannot read none.csv");
    assert_int_equal(carom(wrong, "F=2*u"), 2);
    assert_says(complaints, "--input F=2*u: unknown name 'u'");
    assert_int_equal(carom(wrong, "F=1 --experiment pushed0.csv:d=1"), 2);
    assert_says(complaints, "pushed0.csv has settings already; join them with commas");
}

// A point between two walls, the two contacts of one gap: it strikes one of them at t = (2 k - 1)/u.
static void impacts_of_a_gap_with_several_parts(void **state) {
    (void)state;
    put("walls.yaml", "carom: 1\ncoordinates: {x: {at: 0, rate: 1.1}}\nenergy: {kinetic: \"x'^2\"}\ncontacts: {walls: "
                      "{gap: 1 - abs(x), restitution: 1}}\nsimulation: {step: 0.01, end: 5}\n");
    put("walls.csv", "hit\n0.8\n2.4\n4.0\n");
    assert_int_equal(carom("fit walls.yaml walls.csv --free \"x'\" --match 'hit=impact walls' --json"), 0);
    assert_close(after("\"x'\": "), 1.25, 1e-8);
    assert_says(out, "\"derivatives\": \"exact\"");
}

// Rows on both sides of an impact, in two files, one of them with another column: the ball again, and its height behind
// the first impact.
static void files(void **state) {
    (void)state;
    char text[2][600] = {"t,height\n", "t,height\n"};
    const double h = 0.9, e = 0.6, T = sqrt(2 * h / 9.81), u = sqrt(2 * 9.81 * h);
    for (int i = 0; i < 20; ++i) {
        const double t = 0.04 * i, s = t - T;
        snprintf(text[i % 2] + strlen(text[i % 2]), 40, "%.6f,%.14g\n", t,
                 s < 0 ? h - 9.81 * t * t / 2 : e * u * s - 9.81 * s * s / 2);
    }
    put("even.csv", text[0]), put("odd.csv", text[1]);
    assert_int_equal(carom("fit ball.yaml even.csv odd.csv --free e,y --match height=y --json"), 0);
    assert_close(after("\"e\": "), e, 1e-9);
    assert_close(after("\"y\": "), h, 1e-9);
    assert_says(out, "\"points\": 20");
    assert_says(out, "\"derivatives\": \"exact\"");
    // a scheme that does not locate events has differences, and says why
    assert_int_equal(carom("fit ball.yaml even.csv odd.csv --free y --match height=y --scheme moreau-jean --step 1e-3"),
                     0);
    assert_says(out, "derivatives by differences");
    assert_says(out, "does not locate events");
}

static void complaint(const char *arguments, int status, const char *words) {
    assert_int_equal(carom("%s", arguments), status);
    assert_says(complaints, words);
}

static void refused(void **state) {
    (void)state;
    put("osc.yaml", "carom: 1\nparameters: {k: 4, m: 1, p: 3}\ncoordinates: {x: 1}\nenergy: {kinetic: \"m/2*x'^2\", "
                    "potential: k/2*x^2 + 0*p}\n");
    put("osc.csv", "t,a\n0,1\n0.1,0.98\n0.2,0.9\n");
    put("one.csv", "t,a\n0.1,1\n");
    complaint("fit walls.yaml walls.csv --free \"x'\" --match 'hit=impact wall.1'", 2,
              "no contact 'wall.1'; did you mean 'walls.1'?");
    complaint("fit osc.yaml one.csv --free k,x --match a=x", 2, "too few data: 1 point for 2 free names");
    complaint("fit osc.yaml osc.csv --free k,m --match a=x", 1, "not identifiable");
    complaint("fit osc.yaml osc.csv --free k,p --match a=x", 1, "'p' does not influence");
    complaint("fit osc.yaml osc.csv --free kk --match a=x", 2, "no parameter, coordinate or rate 'kk'");
    complaint("fit osc.yaml osc.csv --free k --match b=x", 2, "osc.csv has no column 'b'");
    complaint("fit osc.yaml osc.csv --free k --match a=y", 2, "y");
    complaint("fit osc.yaml osc.csv --free k --match 'a=impact wall'", 2, "no contact 'wall'");
    complaint("fit osc.yaml osc.csv --free k --match a=x --bounds k=5:6", 2, "starts with 4, outside");
    complaint("fit osc.yaml osc.csv --free k --match a=x --bounds m=0:", 2, "--bounds m=0:");
    complaint("fit osc.yaml missing.csv --free k --match a=x", 2, "cannot read missing.csv");
    complaint("fit osc.yaml osc.csv --match a=x", 2, "give --free");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line),        cmocka_unit_test(impacts), cmocka_unit_test(impacts_of_a_gap_with_several_parts),
        cmocka_unit_test(files),       cmocka_unit_test(unheard), cmocka_unit_test(bounded),
        cmocka_unit_test(impacts_of_one_of_two),
        cmocka_unit_test(experiments), cmocka_unit_test(signals), cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
