// version.h: which carom this is.
#pragma once

#define CAROM_VERSION "0.1.0"
