// lanes_text.h (private): what the text of lanes is made of, for the three files that write a model: what runs in lanes
// (lanes_model.c), groups of statements with the names of their results (lanes_names.c), all functions (lanes_parts.c).
#pragma once
#include "expr/native.h"
#include "expr/tape.h"
#include "model/pairs.h"
#include "sweep/lanes_members.h"
#include "sweep/lanes_model.h"
#include <math.h>
#include <string.h>

// text that compiles in seconds, memory of a thread: docs/limits.md
enum { MOST_V = 60, MOST_E = 60, MOST_C = 320, MOST_CLOSED = 32 };
enum { LEDGER_IMPACTS, LEDGER_PENETRATION };

typedef struct text {
    const carom_model *m;
    const carom_lane_request *r;
    carom_write_text *write;
    void *user;
    carom_lane_value *value; // nvalues
    int nvalues;
    bool *moves;     // by input of the check tape: it differs between systems
    int *place;      // by parameter: in k
    bool *law_moves; // 3 nc: restitution, tangential, friction
    int *law_place;
    int *range_place; // by bound: where the number is whose range the model has assumed; -1: it is a constant
    carom_lane_mass mass;
    int *gate_place; // by condition: where 1 is while its contact must not close
    double *jump;    // times at which forces jump, where steps begin and end beside them
    int njumps;
    int nk;
    bool starts;                          // initial values differ
    carom_lane lane, check, rub, bounce;  // of the model, of what is observed, of friction and restitution that vary
    carom_lane *pair, *kind;              // of each pair of shapes, of each kind
    int row[MOST_C + MOST_E + 1];         // by constraint
    // while a group is written: what its results are called, and of which pair they are, from 1
    int mode, of_pair, of_kind;
    bool of_rub;                          // inputs beyond the parameters are reactions
} text;

enum { OUT_ALL, OUT_MOTION, OUT_ROWS, OUT_DIRECTIONS, OUT_JOINTS, OUT_GRADIENT, OUT_KC, OUT_OBSERVE, OUT_ONE };

static inline void put(const text *x, const char *s) { x->write(x->user, s, strlen(s)); }

static inline int first_value(const text *x) { return x->r->nobserve + (x->r->section != CAROM_LANES_PLAIN); }
static inline carom_node node_of(const text *x, int value) { return x->m->observed[first_value(x) + value]; }

static inline double steps_of(const text *x, double t) { return round(t / x->r->h); }

/// Are there bodies that come and go?
bool lane_bodies_come(const carom_model *m);
/// Does a parameter differ between systems, and as which of what varies?  Does a value depend on such parameters?
bool lane_varied(const text *x, int parameter, int *which);
bool lane_depends(const text *x, int value);
/// Tapes and tables of m and r; fails where lanes do not support the model.  lane_shut() in either case.
carom_status lane_open(text *x, carom_error *err);
void lane_shut(text *x);

/// Names in statements: of inputs, and of results of the group that is being written.
bool lane_input_name(void *user, carom_input kind, int i, char s[CAROM_SLOT_NAME]);
bool lane_output_name(void *user, int i, char s[CAROM_SLOT_NAME]);
/// Entry (i, j) of M; the row of direction d, -1: it takes no part.
int lane_mass_entry(const text *x, int i, int j);
int lane_row_of(const text *x, int d);
/// One function of the model with what its pairs and members add.
carom_status lane_put_group(text *x, const char *head, int group, int mode);
/// Pairs of shapes that share the functions of their kind.
bool lane_pair_shares(const carom_model *m);
int lane_shared_gradient(const carom_model *m, const pair *p);
carom_status lane_put_kinds(text *x, bool typed);
void lane_put_classes(const text *x);
