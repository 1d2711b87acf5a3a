// version.h: which carom this is.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#define CAROM_VERSION "0.1.0"

/// That of the library in use, which may be another than that of this header.
const char *carom_version(void);

#ifdef __cplusplus
}
#endif
