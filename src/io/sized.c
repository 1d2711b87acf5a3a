// sized.c: records of programs that were compiled with another version (base/sized.h).
#include "base/sized.h"
#include <carom/record.h>
#include <carom/result.h>

CAROM_SIZED_VIEW(carom_record_default, carom_record_def, (void), ())
CAROM_SIZED_CREATE(carom_record_create, carom_record, carom_record_def)
CAROM_SIZED_CREATE(carom_record_resume, carom_record, carom_record_def)
