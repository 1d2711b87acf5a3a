// laws.h (private): the law of a contact in the making, as a contact, a material or the defaults give it.
#pragma once
#include "derive/shapes/shapes.h"

typedef struct law { // what is known of a contact before its gap, and levers of rolling and spinning resistance
    carom_contact c;
    int bounce; // where restitution varies: which of the model's bounces it is
    double roll, spin;
    const carom_datum *rub; // friction that varies; NULL: it is a number
    const carom_datum *mu;  // friction as it was said; NULL: it was not
    carom_node press;       // normal force of a contact that is friction alone; else CAROM_NONE
    carom_node share;       // the same over the load that it carries
    const ellipse *ellipse; // of friction in space with two coefficients; NULL: it has one
    bool mu_here; // friction was said here, not in the defaults
    const carom_datum *from[3]; // restitution, tangential restitution, friction: numbers given by parameters; NULL: not
                                // so
} law;

/// What the record says goes into l; the rest of l stays.
carom_status carom_law_read(resolver *r, const carom_mech_law *of, law *l);
carom_status carom_law_of(resolver *r, const carom_mech_contact *of, law *l);
/// What the contact itself says, else the materials of its shapes, else the defaults.
carom_status carom_law_between(resolver *r, const pair *p, law *l);
/// (FV-6)  Slips times the factors of its coefficients, where there are two.
void carom_law_scale(resolver *r, const law *l, constraint *c);
/// Contact i obeys law l with so many tangents.
carom_status carom_law_put(resolver *r, int i, const law *l, constraint *c, int tangents);
/// Parameters that are in its numbers belong to the structure.
carom_status carom_law_fix(resolver *r, const law *l);
/// Its restitution, tangential restitution and friction are those of `first` and the two kinds behind it, of number i.
carom_status carom_law_bind(resolver *r, const law *l, bound_kind first, int i);
/// `with` names materials, and a pair once.
carom_status carom_materials_check(resolver *r);

/// A number from 0 to high, where it is given; one of some words; a curve of friction.
carom_status carom_law_coefficient(resolver *r, const carom_datum *n, double high, double *value);
carom_status carom_law_word(resolver *r, const carom_datum *n, const char *const *words, int *which);
carom_status carom_law_curve(resolver *r, carom_graph *g, const carom_datum *n, carom_node speed, carom_node *slip,
                             carom_node *stick);
