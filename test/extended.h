// extended.h: members of a system by the extension that has them, for tests that replace its functions one by one.
#pragma once
#include "system/system.h"

// Where the function `name` of a group is called, and where it is set: in the system, or in extensions of the test.
#define CALLED_SYSTEM(name) name
#define CALLED_SPEED(name) speed->name
#define CALLED_ACCOUNTS(name) accounts->name
#define CALLED_EVENTS(name) events->name
#define CALLED_SIGNALS(name) signals->name
#define CALLED_LIST(name) contact_list->name
#define SET_SYSTEM(sys, own, name) (sys).name
#define SET_SPEED(sys, own, name) (own).speed.name
#define SET_ACCOUNTS(sys, own, name) (own).accounts.name
#define SET_EVENTS(sys, own, name) (own).events.name
#define SET_SIGNALS(sys, own, name) (own).signals.name
#define SET_LIST(sys, own, name) (own).list.name
