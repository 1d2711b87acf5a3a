// system.h: what the library asks a system; users: <carom/system.h>.
#pragma once
#include <carom/system.h>

/// Local directions that constraint id brings into a contact problem (friction zero: normal only).
int carom_system_directions(const carom_system *sys, int id);
/// Does contact c (0 .. nc-1) close only while a function is positive?
bool carom_system_gated(const carom_system *sys, int c);
