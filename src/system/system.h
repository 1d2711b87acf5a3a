// system.h: what the library asks a system; users: <carom/system.h>.
#pragma once
#include <carom/system.h>

/// Local directions that constraint id brings into a contact problem (friction zero: normal only).
int carom_system_directions(const carom_system *sys, int id);
/// Does contact c (0 .. nc-1) close only while a function is positive?
bool carom_system_gated(const carom_system *sys, int c);
/// Is it a world: many bodies, which contacts of a list couple, and hardly any joints?  Then operators are made body by
/// body (contact/delassus_blocks.c), else as those of any mechanism.
static inline bool carom_world_size(int nv, int ne) {
    enum { WORLD_FROM = 64 }; // velocities
    return nv >= WORLD_FROM && 3 * ne < nv;
}
static inline bool carom_system_world(const carom_system *sys) {
    return sys->listed && sys->part && carom_world_size(sys->nv, sys->ne);
}
/// Is constraint id one on rates alone, without a gap that a position level could hold?
static inline bool carom_on_rates(const carom_system *sys, int id) {
    return id < sys->ne && id >= sys->ne - sys->nrates;
}
