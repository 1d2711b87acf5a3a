// sized.c: models of programs that were compiled with another version (base/sized.h).
#include "base/sized.h"
#include <carom/draw.h>
#include <carom/model.h>

CAROM_SIZED_CREATE(carom_model_create, carom_model, carom_model_def)
CAROM_SIZED_VIEW(carom_model_count, carom_model_sizes, (const carom_model *m), (m))
CAROM_SIZED_VIEW(carom_model_simulation, carom_model_run, (const carom_model *m), (m))
CAROM_SIZED_VIEW(carom_drawing_shape, carom_drawn, (const carom_drawing *d, int i), (d, i))
