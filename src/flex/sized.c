// sized.c: members and structures of programs that were compiled with another version (base/sized.h).
#include "base/sized.h"
#include <carom/structure.h>

CAROM_SIZED_VIEW(carom_member_default, carom_member_def, (carom_member_kind kind), (kind))
CAROM_SIZED_CREATE(carom_member_create, carom_member, carom_member_def)
CAROM_SIZED_CREATE(carom_structure_create, carom_structure, carom_structure_def)
