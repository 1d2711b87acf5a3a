// model.h: a model, made from text (docs/model-file.md) or from a mechanism: names, expressions, and the system made of
// them.
#pragma once
#include <carom/flex.h>
#include <carom/mech.h>
#include <carom/sim.h>
#include <carom/system.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct carom_model carom_model;

/// Overrides of parameters ("name=expression"), as typed with --set.
typedef struct carom_model_def {
    const char *text;            // YAML
    size_t length;
    const char *file;            // for messages
    const char *const *set;      // NULL-terminated; NULL: none
    const carom_matrix_text *matrices; // nmatrices of them; copied
    int nmatrices;
    const char *const *observe;  // expressions for carom_model_observe(), NULL-terminated; NULL: none
    bool pairs;                  // pairs of shapes are written, all of them, however many; else many of them come and
                                 // go.  For equilibria, modes, derivatives and orbits, which need equations at a point
} carom_model_def;

/// NULL on failure: err->text is `file:line:column: what; what to do`.
carom_model *carom_model_create(const carom_model_def *def, carom_error *err);
/// The same of a mechanism, of which it keeps a copy; observe as above.
carom_model *carom_model_of(const carom_mech *mech, const char *const *observe, carom_error *err);
bool carom_model_lists(const carom_model *m); // do contacts come and go?  carom_model_def.pairs
void carom_model_destroy(carom_model *m);

/// The model as one self-contained C17 file: functions PREFIX_mass, PREFIX_force, PREFIX_gaps, ... of (t, q, v,
/// parameters), with the same bits as the tape.  text: the model's own, for a comment.  CAROM_BAD_INPUT: it has parts
/// that have no C text.
carom_status carom_model_write_c(const carom_model *m, const char *prefix, const char *text, size_t length,
                                 carom_write_text *write, void *user, carom_error *err);

/// Texts of the files that a model's text names: tables, meshes, heights.  They lie in the directory of `file` or below
/// it; links are followed where they end there.  Names that the list has already are left alone.  *list (NULL, or from
/// malloc) grows; carom_model_files_free() when the model is made.
carom_status carom_model_files(const char *text, size_t length, const char *file, carom_matrix_text **list, int *n,
                               carom_error *err);
void carom_model_files_free(carom_matrix_text *list, int n);

const carom_system *carom_model_system(const carom_model *m);
const char *carom_model_name(const carom_model *m);
const double *carom_model_q0(const carom_model *m);
const double *carom_model_v0(const carom_model *m);
/// May the model start at q (nq) instead?  Says which contact overlaps or which constraint is violated; where the model
/// has `settle: yes`, q is moved.
carom_status carom_model_start_at(carom_model *m, double *q, carom_error *err);

typedef struct carom_model_sizes {
    int parameters, inputs, coordinates, velocities, lets, constraints, contacts, outputs, checks, members;
    bool exact;
} carom_model_sizes;
carom_model_sizes carom_model_count(const carom_model *m);
const char *carom_model_coordinate(const carom_model *m, int i); // of nq
const char *carom_model_velocity(const carom_model *m, int i);   // of nv: "x'", "body.vx"
/// Whether position (velocity) i is a column of results.  Unknowns of flexible members are columns only where the model
/// asks for them.
bool carom_model_recorded(const carom_model *m, int i);
bool carom_model_velocity_recorded(const carom_model *m, int i);
/// Coordinate i, and velocity i, belong to a contact that is friction alone: they stay 0, and have no columns.
bool carom_model_presses(const carom_model *m, int i);
/// Is velocity i a first-order state?  Its position, which has the same number, is in no expression.
bool carom_model_state(const carom_model *m, int i);
/// Has position i no meaning for people: carom_model_presses(), or that of a state?
bool carom_model_hidden(const carom_model *m, int i);
/// v: velocities at rest, zero but for first-order states: their values, which equilibria have in place of positions.
void carom_model_at_rest(const carom_model *m, const double *q, double *v);
const char *carom_model_parameter(const carom_model *m, int i, double *value);
/// Other values of n parameters, numbered as above; parameters given by expressions of these follow.  The model is
/// then, bit for bit, the one that is created with these values: mostly by writing numbers, and where one goes into the
/// structure by deriving it again (*derived, may be NULL).  What was made from it before (work blocks, simulations,
/// drawings) has to be made again, names and texts be asked for again.  On failure it stays as it was.
carom_status carom_model_set(carom_model *m, int n, const int *index, const double *value, bool *derived,
                             carom_error *err);
/// The SI unit of a parameter, input, coordinate or rate by its usual name ("N s"; fmi: "N.s"), where the model gives
/// one with a unit; also of t, of energies and of columns of bodies and of contacts between shapes, where it has units
/// at all.  False: not known.
bool carom_model_unit(const carom_model *m, const char *name, bool fmi, char *text, size_t size);
/// A number ("0.003"), or one with a unit ("3 mm") of the kind that the model gives `name`, in SI.  False: it is
/// neither, and err says why.  m NULL: of any kind.  `t` is a time in every model.
bool carom_model_quantity(const carom_model *m, const char *name, const char *text, size_t length, double *x,
                          carom_error *err);
/// Input i, as carom_sim_input() counts them, and its value at the start; NULL after the last.  Inputs that follow a
/// signal are not among them.
const char *carom_model_input(const carom_model *m, int i, double *value);
/// Input i of those that follow a signal of the model; NULL after the last.
const char *carom_model_following(const carom_model *m, int i);
/// The name of signal i of the system's ni: inputs, then the states and outputs of controllers; NULL after the last.
const char *carom_model_signal(const carom_model *m, int i);
const double *carom_model_signals(const carom_model *m); // their values at the start
/// The number of the input of this name; -1: none, and err says so.
int carom_model_find_input(const carom_model *m, const char *name, carom_error *err);
/// Does the structure hold the value of parameter i, so that another one derives the model again?
bool carom_model_fixed(const carom_model *m, int i);
/// Radius of the smaller of the two shapes that touch at contact id; 0: its gap is not that of shapes.
double carom_model_contact_size(const carom_model *m, long long id);
/// What `settle: yes` did: a sentence; NULL: nothing overlapped, or it was not asked for.
const char *carom_model_settled(const carom_model *m);
/// Time between snapshots of contacts, as the model's `record` says; 0: none.
double carom_model_snapshots(const carom_model *m);
/// Where contact id between shapes acts at (t, q): the point, the normal from the second shape to the first, and the
/// directions in which components of friction act.  work: of the simulation, whose list of contacts is in use.  False:
/// it is no contact of two shapes.
typedef struct carom_touch { double point[3], normal[3], tangent[2][3]; } carom_touch;
bool carom_model_touch(const carom_model *m, void *work, double t, const double *q, int id, carom_touch *x);
/// The number by which events know contact NAME, or all contacts of one entry of `contacts` (NAME.1, NAME.2, ..., and
/// those that come and go); of pairs that come and go also one pair A-B.
enum { CAROM_NO_CONTACT = -1 };
long long carom_model_contact(const carom_model *m, const char *name);
// bilateral first (joints, constraints), then contacts
const char *carom_model_constraint(const carom_model *m, long long id);
int carom_model_part(const carom_model *m, int id); // of a joint with several constraints: which, from 1; else 0
int carom_model_parts(const carom_model *m, int id); // of a contact, the first of several of one gap (NAME.1, NAME.2,
                                                     // ...): how many; else 0
const char *carom_model_output(const carom_model *m, int i);
/// Joints and constraints that follow from others at the start: "hinge, strut (2)"; NULL: none.
const char *carom_model_redundant(const carom_model *m);

/// The matrices that it was created with.
const carom_matrix_text *carom_model_matrices(const carom_model *m, int *n);

/// The `simulation` section; NAN or NULL where the file says nothing.
typedef struct carom_model_run {
    const char *scheme;
    const char *const *options; // "key=value", NULL-terminated
    double step, end;
    const char *scheme_place;   // file:line:column of the scheme's name, for messages
    const char *const *option_places; // the same of each option
} carom_model_run;
carom_model_run carom_model_simulation(const carom_model *m);

/// Springs, motors and loads: their names and kinds ("spring", "motor", "load"), numbered like carom_sim_works(); and
/// the energy that each stores at a state.
int carom_model_elements(const carom_model *m);
const char *carom_model_element(const carom_model *m, int i, const char **kind);
void carom_model_stored(const carom_model *m, void *work, double t, const double *q, const double *v, double *energy);

/// Outputs at a state, carom_model_count().outputs of them: those that are written, forces of contacts that yield,
/// signals, coordinates of joints, points of members; `work` is carom_sim_work() of a simulation of this model's
/// system.
void carom_model_outputs(const carom_model *m, void *work, double t, const double *q, const double *v, double *out);

/// Observed expressions (carom_model_def.observe): the language of checks, and mean(x), rms(x) and integral(x) over
/// time besides min(x) and max(x).
int carom_model_observed(const carom_model *m);
/// Value of a ledger name ("energy.balance"); false when there is no such name.  names: i-th name, NULL after the last.
bool carom_ledger_value(const carom_ledger *l, const char *name, double *value);
const char *carom_ledger_name(int i);

/// Is the model sound?  Findings are reported one by one: derivatives against differences, mass matrix, initial
/// constraints, degrees of freedom, unused names.  Returns the number of faults (warnings do not count).
typedef enum carom_finding { CAROM_FINE, CAROM_WARNING, CAROM_FAULT } carom_finding;
int carom_model_examine(const carom_model *m, void (*report)(void *user, carom_finding kind, const char *sentence),
                        void *user, carom_error *err);

#ifdef __cplusplus
}
#endif
