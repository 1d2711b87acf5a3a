// soft.h: contacts of finite stiffness, see soft.c.
#pragma once
#include "derive/model.h"

bool carom_contact_soft(const carom_mech_contact *of);
/// Keys that exclude each other.
carom_status carom_check_soft(resolver *r, const carom_mech_contact *of);
/// Forces of a contact whose gap and slips are known; mu: its friction.
carom_status carom_derive_soft(resolver *r, const carom_mech_contact *of, const constraint *c, double mu);
