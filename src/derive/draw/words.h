// words.h: words for figures and colours.
#pragma once
#include <carom/draw.h>

const char *
carom_figure_word(carom_figure f); // "point", "segment", ...; "contact" for CAROM_CONTACT_MARKER; NULL outside
const char *carom_colour_name(int i);          // colours a model may name; NULL after the last
