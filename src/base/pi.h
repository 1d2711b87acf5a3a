// pi.h: pi, which C has as an extension only.
#pragma once

static const double PI = 3.14159265358979323846;
