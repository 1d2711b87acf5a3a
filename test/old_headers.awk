# old_headers.awk: a public header as an older version might have had it: the structs named below without their last
# field.  Definitions that others contain (carom_model_def, carom_run_given, carom_sweep_def) have reserved room
# instead, and results whose last field owns memory stay: a later version adds none of these.
#
#     awk -f old_headers.awk include/carom/sim.h >old/carom/sim.h
BEGIN {
    n = split("sim_def now run record_def compare_def compare_watch compare_row sweep_watch modes modes_def fit_def fit " \
              "gradient_def gradient orbit_def orbit lyapunov_def lyapunov planar_def joint_def", word, " ")
    for (i = 1; i <= n; i++) shorter["carom_" word[i]] = 1
}
inside {
    line = $0
    sub(/\/\/.*/, "", line)
    if (line !~ /^} /) { body = body " " line; next }
    fields = split(body, field, ";") - 1 # behind the last semicolon there is nothing
    for (i = 1; i < fields; i++) print field[i] ";"
    inside = 0
}
{ print }
/^typedef struct carom_[a-z_]+ \{$/ && ($3 in shorter) { inside = 1; body = "" }
