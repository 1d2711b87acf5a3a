// inspect.h: details of a model, for programs that show it, edit it or pass it on: bindings, user interfaces, FMUs.
#pragma once
#include <carom/mech.h>
#include <carom/model.h>
#include <carom/system.h>

#ifdef __cplusplus
extern "C" {
#endif

/// As carom_model_create(), from a mechanism, which is copied; observe: as in carom_model_def.
carom_model *carom_model_of(const carom_mech *mech, const char *const *observe, carom_error *err);
bool carom_model_lists(const carom_model *m); // has it a dynamic contact list?  See carom_model_def.pairs

/// The model as one self-contained C17 file: functions PREFIX_mass, PREFIX_force, PREFIX_gaps, ... of (t, q, v,
/// parameters), with the same bits as the tape.  text: the model's own, for a comment.  CAROM_BAD_INPUT: it has parts
/// that have no C text.
carom_status carom_model_write_c(const carom_model *m, const char *prefix, const char *text, size_t length,
                                 carom_write_text *write, void *user, carom_error *err);

/// Coordinate i, and velocity i, belong to a contact that is friction alone: they stay 0, and have no columns.
bool carom_model_presses(const carom_model *m, int i);

/// Is velocity i a first-order state?  Its position, which has the same number, is in no expression.
bool carom_model_state(const carom_model *m, int i);

/// Has position i no meaning for people: carom_model_presses(), or that of a state?
bool carom_model_hidden(const carom_model *m, int i);

/// v: velocities at rest, zero but for first-order states: their values, which equilibria have in place of positions.
void carom_model_at_rest(const carom_model *m, const double *q, double *v);

/// The SI unit of a parameter, input, coordinate or rate by its usual name ("N s"; fmi: "N.s"), where the model gives
/// one with a unit; also of t, of energies and of columns of bodies and of contacts between shapes, where it has units
/// at all.  False: unknown.
bool carom_model_unit(const carom_model *m, const char *name, bool fmi, char *text, size_t size);

/// A number ("0.003"), or one with a unit ("3 mm") of the kind that the model gives `name`, in SI.  False: it is
/// neither, and err gives the reason.  m NULL: of any kind.  `t` is a time in every model.
bool carom_model_quantity(const carom_model *m, const char *name, const char *text, size_t length, double *x,
                          carom_error *err);

/// Input i of those that follow a signal of the model; NULL after the last.
const char *carom_model_following(const carom_model *m, int i);

/// The name of signal i of the system's ni: inputs, then the states and outputs of controllers; NULL after the last.
const char *carom_model_signal(const carom_model *m, int i);
const double *carom_model_signals(const carom_model *m); // their values at the start

/// The number of the input of this name; -1: none, and err gives the reason.
int carom_model_find_input(const carom_model *m, const char *name, carom_error *err);

/// Does the structure depend on parameter i, so that another value derives the model again?
bool carom_model_fixed(const carom_model *m, int i);

/// Radius of the smaller of the two shapes that touch at contact id; 0: its gap is not that of shapes.
double carom_model_contact_size(const carom_model *m, long long id);

/// The number of contact NAME in events, or all contacts of one entry of `contacts` (NAME.1, NAME.2, ..., and
/// those of a dynamic contact list), or of two shapes of such a list, A-B.  A number for several contacts is that of no
/// event: compare names of contacts then.
enum { CAROM_NO_CONTACT = -1 };
long long carom_model_contact(const carom_model *m, const char *name);

/// The `simulation` section; NAN or NULL where the file has none.
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

// -- calls between versions: see carom/carom.h --------------------------------------------------------------------

const carom_model_run *carom_model_simulation_view(const carom_model *m);
#ifndef CAROM_INSIDE
#define carom_model_simulation(...) (*carom_model_simulation_view(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
