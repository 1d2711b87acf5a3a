// words.h: words for figures.
#pragma once
#include <carom/draw.h>

/// "point", "segment", ...; "contact" for CAROM_CONTACT_MARKER; NULL outside.
const char *carom_figure_word(carom_figure f);
