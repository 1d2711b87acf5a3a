// hdf5.h: the types of HDF5 that carom's headers name, for programs without it (no_files.c).
#pragma once
#include <stdint.h>

typedef int64_t hid_t;
typedef int herr_t;
typedef unsigned long long hsize_t;
typedef uint64_t haddr_t;
typedef void *H5E_auto2_t;
typedef int H5T_str_t;
