// system.h: what the library asks a system; users: <carom/system.h>.
#pragma once
#include <carom/system.h>

/// Extensions of a system that is made or changed here.
typedef struct carom_extensions {
    carom_system_speed speed;
    carom_system_accounts accounts;
    carom_system_events events;
    carom_system_signals signals;
    carom_system_conditions conditions;
    carom_system_list list;
    carom_system_checks checks;
} carom_extensions;

/// sys has the extensions `own` from now on, which begin as those that it has had.  `own` must stay where it is while
/// sys is in use.
static inline void carom_system_extend(carom_system *sys, carom_extensions *own) {
    *own = (carom_extensions){*sys->speed,      *sys->accounts, *sys->events, *sys->signals,
                              *sys->conditional, *sys->contact_list, *sys->checks};
    sys->speed = &own->speed;
    sys->accounts = &own->accounts;
    sys->events = &own->events;
    sys->signals = &own->signals;
    sys->conditional = &own->conditions;
    sys->contact_list = &own->list;
    sys->checks = &own->checks;
}

/// Local directions that constraint id brings into a contact problem (friction zero: normal only).
int carom_system_directions(const carom_system *sys, int id);
/// Does contact c (0 .. nc-1) close only while a function is positive?
bool carom_system_closes_while(const carom_system *sys, int c);
/// What function i of its kinks belongs to; see carom_system_events.kink_of.
static inline int carom_system_kink_of(const carom_system *sys, int i) {
    const carom_system_events *e = sys->events;
    return e->kink_of && i < e->nk - e->kinks_per_slot * sys->listed ? e->kink_of[i] : -1;
}
/// Is it a world: many bodies, which contacts of a list couple, and hardly any joints?  Then operators are made body by
/// body (contact/delassus_blocks.c), else as those of any mechanism.  forces: all contacts of the list are compliant.
/// Then derivatives between two bodies, which a world does without, save Newton's method iterations up to more
/// velocities.
static inline bool carom_world_size(int nv, int ne, bool forces) {
    enum { WORLD_FROM = 30, SOFT_WORLD_FROM = 100 }; // velocities, from which on a step costs less
    return nv >= (forces ? SOFT_WORLD_FROM : WORLD_FROM) && 3 * ne < nv;
}
static inline bool carom_system_world(const carom_system *sys) {
    return sys->listed && sys->part && carom_world_size(sys->nv, sys->ne, sys->contact_list->forces);
}
/// Is constraint id one on rates alone, without a gap that a position level could hold?
static inline bool carom_on_rates(const carom_system *sys, int id) {
    return id < sys->ne && id >= sys->ne - sys->nrates;
}
