// sized.c: functions of programs that were compiled with another version (base/sized.h).
#include "base/sized.h"
#include <carom/functions.h>

CAROM_SIZED_CREATE(carom_functions_create, carom_functions, carom_functions_def)
