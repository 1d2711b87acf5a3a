// more.h: what other parts of carom need of a model, and programs do not.
#pragma once
#include <carom/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct carom_ledger carom_ledger;

/// Where contact id between shapes acts at (t, q): the point, the normal from the second shape to the first, and the
/// directions in which components of friction act.  work: of the simulation, whose list of contacts is in use.  False:
/// it is no contact of two shapes.
typedef struct carom_touch { double point[3], normal[3], tangent[2][3]; } carom_touch;
bool carom_model_touch(const carom_model *m, void *work, double t, const double *q, int id, carom_touch *x);

/// May the model start at q (nq) instead?  Says which contact overlaps or which constraint is violated; where the model
/// has `settle: yes`, q is moved.
carom_status carom_model_start_at(carom_model *m, double *q, carom_error *err);

/// Whether position (velocity) i is a column of results.  Unknowns of flexible members are columns only where the model
/// asks for them.
bool carom_model_recorded(const carom_model *m, int i);
bool carom_model_velocity_recorded(const carom_model *m, int i);

/// What `settle: yes` did: a sentence; NULL: nothing overlapped, or it was not asked for.
const char *carom_model_settled(const carom_model *m);

/// Time between snapshots of contacts, as the model's `record` says; 0: none.
double carom_model_snapshots(const carom_model *m);
int carom_model_part(const carom_model *m, int id); // of a joint with several constraints: which, from 1; else 0
int carom_model_parts(const carom_model *m, int id); // of a contact, the first of several of one gap (NAME.1, NAME.2,
                                                     // ...): how many; else 0

/// Joints and constraints that follow from others at the start: "hinge, strut (2)"; NULL: none.
const char *carom_model_redundant(const carom_model *m);

/// The matrices that it was created with.
const carom_matrix_text *carom_model_matrices(const carom_model *m, int *n);

/// Observed expressions (carom_model_def.observe): the language of checks, and mean(x), rms(x) and integral(x) over
/// time besides min(x) and max(x).
int carom_model_observed(const carom_model *m);

/// Value of a ledger name ("energy.balance"); false when there is no such name.  names: i-th name, NULL after the last.
bool carom_ledger_value(const carom_ledger *l, const char *name, double *value);
const char *carom_ledger_name(int i);

#ifdef __cplusplus
}
#endif
