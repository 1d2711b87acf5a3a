// native.h: the slider-crank without friction in C callbacks.
#pragma once
#include <carom/system.h>

carom_system native_slider(void);
