// soft_gaps.h (private): gaps of written contacts of finite stiffness, as carom_model_compliant() numbers and names
// them.
#pragma once
#include <carom/model.h>

int carom_model_soft_count(const carom_model *m);
/// At t and positions q, to g; work: a work block of the model.
void carom_model_soft_gaps(const carom_model *m, void *work, double t, const double *q, double *g);
