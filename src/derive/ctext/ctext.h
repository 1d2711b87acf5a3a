// ctext.h (private): a model as one C file: `carom export c`.
//
//   ctext.c     the file: the functions of expressions, controllers, how positions move
//   write.c     names of inputs, lists of numbers, a group of a tape as a function
//   members.c  flexible members, bodies that no expression knows: their tables, and what they add to mass, forces,
//   tangents, energies
//   pairs.c  contacts between shapes: functions of each kind of pair, and tables of pairs; near.c: those that come and
//   go
//
// What the library computes with C code of its own stands in files NAME.inc, which it includes and which are printed
// here (carom_NAME_text).  The search of contacts (collide/) is printed as it is.
#pragma once
#include "base/escape.h"
#include "expr/expr.h"
#include "expr/native.h"
#include "model/pairs.h"
#include <stdio.h>
#include <string.h>

extern const char carom_scalar_text[], carom_libm_text[];
extern const char carom_turn_text[], carom_free_text[], carom_ring_text[], carom_rotation_text[], carom_touch_text[],
    carom_meet_text[];
extern const char carom_three_h_text[], carom_hull_text[], carom_patch_h_text[], carom_posed_h_text[],
    carom_choose_text[], carom_thin_text[], carom_surface_text[], carom_smooth_text[], carom_place_text[],
    carom_patch_text[];
extern const char carom_types_text[], carom_fields_text[], carom_rest_text[], carom_bar_text[], carom_exact_beam_text[],
    carom_shaft_text[], carom_matrices_text[], carom_elements_text[];

typedef struct ctext {
    const carom_model *m;
    const char *prefix;
    carom_write_text *write;
    void *user;
    bool energies; // expressions may ask for the energies of members, as `potential` and `kinetic`
} ctext;

static inline void put(const ctext *c, const char *text) { c->write(c->user, text, strlen(text)); }
/// A text of the model's, in a comment or a string.
static inline void put_escaped(const ctext *c, carom_target target, const char *text) {
    carom_escape(target, text, strlen(text), c->write, c->user);
}

// write.c
void carom_ctext_member_name(const ctext *c, int k, char text[CAROM_SLOT_NAME]);
void carom_ctext_doubles(const ctext *c, const char *begin, const double *x, size_t n); // begin{x, ...};
void carom_ctext_ints(const ctext *c, const char *begin, const int *x, size_t n);
/// A number in an initialiser.
void carom_ctext_number(const ctext *c, double x);
/// head { group of the tape }, with out[] for its outputs.
carom_status carom_ctext_function(const ctext *c, const carom_tape *tape, int group, carom_slot_name *names,
                                  const char *head, carom_error *err);
/// How the model's tape names its inputs; user: the ctext.
void carom_ctext_input(void *user, carom_input kind, int i, char text[CAROM_SLOT_NAME]);
void carom_ctext_enum(const ctext *c, carom_input kind); // the names
/// Factors of tangents of n laws: PREFIX_OF_factor.
void carom_ctext_ellipses(const ctext *c, const char *of, const carom_contact *law, int n);
/// Arguments of every function.
#define CTEXT_ARGUMENTS "(double t, const double *q, const double *v, const double *p, double *out)"

// members.c
bool carom_ctext_has_parts(const ctext *c); // are there members or such bodies?
void carom_ctext_parts(const ctext *c);    // their tables and code
int carom_ctext_mass_entries(const ctext *c); // that they add to the lower triangle of M
int carom_ctext_tangent_entries(const ctext *c, bool damping); // that they add to -df/dq, -df/dv
/// Do they add to function NAME?  Then static own_NAME computes the expressions' part, and (write) this writes NAME.
bool carom_ctext_with_parts(const ctext *c, const char *name, bool write);

// pairs.c
/// The functions of a kind of pairs.
carom_status carom_ctext_kind(const ctext *c, int k, const char *name, carom_error *err);
int carom_ctext_pair_entries(const ctext *c); // of W, of pairs that share functions; they stand behind those of the
                                              // model
void carom_ctext_pair_subscripts(const ctext *c, int which, int n); // of those; n: numbers that stand before
carom_status carom_ctext_pairs(const ctext *c, carom_error *err); // functions of all kinds, and a table of pairs
bool carom_ctext_with_pairs(const ctext *c, const char *name, bool write);

// near.c
carom_status carom_ctext_refuse_pairs(const carom_model *m, carom_error *err);
carom_status carom_ctext_near(const ctext *c, carom_error *err); // functions for pairs that come and go
