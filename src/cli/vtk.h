// vtk.h: a result as a series of files that ParaView opens (docs/view.md).
#pragma once
#include "cli/page.h"

typedef struct vtk_def {
    const char *out;  // NAME.pvd: beside it NAME.contacts.pvd and the folder NAME.vtk
    double from, to;  // rows with these times
    long rows;        // at most so many, evenly chosen; 0: 500, fewer where there are many shapes
} vtk_def;

/// The exit status; complained where it is not CLI_DONE.
int vtk_write(page_view *v, const vtk_def *def);
