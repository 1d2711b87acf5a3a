// groups.h (private): contacts that results show under one name: those of an entry of pairs, those between two shapes,
// and, where contacts come and go, one contact of two shapes.
//
// A group has the same values whether its contacts are always there or come and go:
//   gap      the least of its contacts, of pairs that are far away, too
//   closed   how many of them are closed
//   rates    of the contact with the least gap: of the gap, then of slips
//   forces, impulses  sums: along the normal, then along tangents
// Rates and tangents of entries, and of shapes with several contacts, are not columns.
#pragma once
#include "base/column.h"
#include "model/pairs.h"
#include <carom/sim.h>

enum { CAROM_GROUP_ROWS = 1 + CAROM_TANGENTS }; // the normal and its tangents

typedef enum carom_group_kind { CAROM_GROUP_ENTRY, CAROM_GROUP_PAIR, CAROM_GROUP_CONTACT } carom_group_kind;

typedef struct contact_group {
    carom_group_kind kind;
    char *name;
    int entry;              // of an entry: which
    int a, b;               // else: numbers of the two shapes; of a contact in the order of the list
    int rule, part;         // of a contact: its rule, and which one of the pair
    bool single;            // it is one contact: all parts of a contact are columns
    bool numbered;          // that has a number under the name of its entry on request alone
    int tangents;           // then
    double scale[CAROM_GROUP_ROWS]; // of a tangent of an ellipse: the slip is u/scale, the force scale lambda; 1: none
} contact_group;

typedef struct group_place { double x; int row, column, shape; } group_place;

typedef struct contact_groups {
    const carom_model *model;
    contact_group *list;
    int n;
    int *of_entry;          // by entry of the model's: its group; -1: none
    int *owner;             // by shape: the first piece or part of what it belongs to
    struct group_key { long long key; int part, group; } *key; // of pairs and contacts, sorted
    int nkeys;
    struct group_key *written; // pairs that are always there, once somebody asks: key, contacts, the first of them
    int nwritten;
    bool pairs, contacts;   // there are groups of these
    int *entry_of, *pair_of; // by contact that is always there: the groups; -1: none
    double *gap, *closed, *nu; // n each; nu: of contacts
    double *rate, *force, *impulse; // CAROM_GROUP_ROWS n each
    group_place *order;     // scratch of the search for the least gap: shapes in columns,
    double *centre;         // and the middle of each
} contact_groups;

/// Groups of all entries, and of single contacts that come and go between shapes that the file names one by one.  NULL:
/// no memory.  model NULL: none.
contact_groups *carom_groups_create(const carom_model *m);
void carom_groups_destroy(contact_groups *g);
/// Groups of those pairs of shapes A-B that have a column which the pattern matches, or of all pairs (pattern NULL).
/// CAROM_BAD_INPUT: there are more than `most`.
carom_status carom_groups_request(contact_groups *g, const char *pattern, int most);
/// The group of the contact that has this column under its number, where that is not its name; none: nothing is done.
carom_status carom_groups_request_number(contact_groups *g, const char *column);
/// Before the first of the following calls.  False: no memory.
bool carom_groups_ready(contact_groups *g);
/// sum += the impulses of a step; CAROM_GROUP_ROWS n numbers.
void carom_groups_add(const contact_groups *g, const void *work, const carom_now *now, const carom_system *sys,
                      double *sum);
/// All values at now.  gap, u: exact ones of contacts that are always there; lasting NULL: forces are not known; sum
/// NULL: impulses are not known.
void carom_groups_fill(contact_groups *g, void *work, const carom_now *now, const carom_system *sys, const double *gap,
                       const double *u, const double *lasting, const double *sum);
