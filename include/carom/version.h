// version.h: the version of carom.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#define CAROM_VERSION "0.2.0"

/// Version of the loaded library; may differ from that of this header.
const char *carom_version(void);

#ifdef __cplusplus
}
#endif
