// member.h: what models, results and exporters ask of a flexible member; users: <carom/flex.h>.
#pragma once
#include <carom/flex.h>

int carom_member_components(carom_member_kind kind);
carom_member_kind carom_member_kind_of(const carom_member *m);
/// Arc length of a node.
double carom_member_arc(const carom_member *m, int node);
bool carom_member_linear(const carom_member *m);
int carom_member_mass_band(const carom_member *m); // sub-diagonals of M; of K and C:
int carom_member_band(const carom_member *m);
/// Reports every place at which M (mass), or M, K and C together, may have an entry; a place may come twice.
void carom_member_entries(const carom_member *m, bool mass, void *user, void (*entry)(void *user, int i, int j));
/// f += (FLX-1).  f, q and v start at the member's first unknown.
void carom_member_force(const carom_member *m, const double *q, const double *v, double *f);
/// Is (FLX-1) a single pass over q?  So it is for bars without loads and damping: f = (FLX-1), whatever f holds on
/// entry.
bool carom_member_streams(const carom_member *m);
void carom_member_stream(const carom_member *m, const double *q, double *f);
/// K += -df/dq, C += -df/dv, at rows and columns from `at` on.
void carom_member_tangent(const carom_member *m, const double *q, const double *v, carom_matrix K, carom_matrix C,
                          int at);
/// Kinetic and potential energy; that of loads counts from q = 0.
void carom_member_energy(const carom_member *m, const double *q, const double *v, double *kinetic, double *potential);
/// Power taken by damping.
double carom_member_dissipation(const carom_member *m, const double *q, const double *v);
/// As carom_member_point(), for a place: axis 0, 1, 2 for x, y, z.
int carom_member_position(const carom_member *m, double s, int axis, int *index, double *weight, double *constant);
/// Fields.  Displacement: components of all nodes, node by node.  Stress: per element, in its middle: normal stress of
/// a bar; section forces N, V, moment of planar beams; N, Vv, Vw, torque, moments about y and z of spatial ones (a
/// shaft has no N).
typedef enum carom_field { CAROM_FIELD_DISPLACEMENT, CAROM_FIELD_VELOCITY, CAROM_FIELD_STRESS } carom_field;
int carom_member_field_rows(const carom_member *m, carom_field field);   // nodes or elements
int carom_member_field_width(const carom_member *m, carom_field field);  // values in each
double carom_member_field_place(const carom_member *m, carom_field field, int row); // arc length
void carom_member_field(const carom_member *m, carom_field field, const double *q, const double *v, double *x);
/// As carom_member_frequencies(), with the modes phi, unknowns x most by columns, phi'M phi = 1; NULL: not wanted.
int carom_member_modes(const carom_member *m, int most, double *omega, double *phi);
/// An upper bound of all circular frequencies; infinite with massless nodes, NaN where matrices tell none.
double carom_member_fastest(const carom_member *m);
