// responses.h: products W'X W of constant directions (contact/responses.h), filled by a step.
#pragma once
#include "contact/responses.h"
#include "scheme/step.h"

/// Before anything else of a step: the directions of all constraints are there.
carom_status carom_responses_begin(carom_responses *k, carom_step *s);
