// exit.h: for programs that close every result themselves.
#pragma once

/// HDF5 tidies up when a program ends, and complains then about files that it could not open properly.  Call this
/// before anything else of this layer to leave that out.
void h5_no_tidying_at_exit(void);
