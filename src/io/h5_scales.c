// h5_scales.c: dimensions with names, as netCDF-4 and the HDF5 library's own dimension scales have them: attributes of
// the scale and of the set.
#include "io/h5.h"
#include <string.h>

static bool put_word(hid_t set, const char *name, const char *text) {
    const hid_t type = h5_text_type(strlen(text) + 1, H5T_STR_NULLTERM), space = H5Screate(H5S_SCALAR);
    const hid_t a = H5Acreate2(set, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool good = a >= 0 && H5Awrite(a, type, text) >= 0;
    h5_close(a);
    h5_close(space);
    h5_close(type);
    return good;
}

bool h5_make_scale(hid_t set, const char *name) {
    return put_word(set, "CLASS", "DIMENSION_SCALE") && put_word(set, "NAME", name);
}

hid_t h5_bare_scale(hid_t at, const char *name, hsize_t size, hsize_t chunk) {
    const hsize_t most = H5S_UNLIMITED;
    const hid_t space = H5Screate_simple(1, &size, chunk ? &most : NULL), dcpl = H5Pcreate(H5P_DATASET_CREATE);
    if (chunk) H5Pset_chunk(dcpl, 1, &chunk);
    H5Pset_obj_track_times(dcpl, false);
    const hid_t set = H5Dcreate2(at, name, H5T_IEEE_F32BE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    char text[80]; // netCDF's own words: a dimension without values
    snprintf(text, sizeof text, "This is a netCDF dimension but not a netCDF variable.%10llu",
             (unsigned long long)size);
    const bool good = set >= 0 && h5_make_scale(set, text);
    h5_close(dcpl);
    h5_close(space);
    if (good) return set;
    h5_close(set);
    return -1;
}

// On the scale: which sets use it, and as which dimension.
typedef struct use {
    hobj_ref_t set;
    int dimension;
} use;

static bool put_use(hid_t scale, hid_t set, int dimension) {
    use u = {.dimension = dimension};
    const hsize_t n = 1;
    const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof u), space = H5Screate_simple(1, &n, NULL);
    bool good = type >= 0 && H5Tinsert(type, "dataset", HOFFSET(use, set), H5T_STD_REF_OBJ) >= 0 &&
                H5Tinsert(type, "dimension", HOFFSET(use, dimension), H5T_NATIVE_INT) >= 0 &&
                H5Rcreate(&u.set, set, ".", H5R_OBJECT, -1) >= 0;
    if (H5Aexists(scale, "REFERENCE_LIST") > 0) return h5_close(type), h5_close(space), good; // the first user is named
    const hid_t a = good ? H5Acreate2(scale, "REFERENCE_LIST", type, space, H5P_DEFAULT, H5P_DEFAULT) : -1;
    good = a >= 0 && H5Awrite(a, type, &u) >= 0;
    h5_close(a);
    h5_close(space);
    h5_close(type);
    return good;
}

bool h5_attach_scales(hid_t set, const hid_t *scale, int rank) {
    hobj_ref_t ref[2];
    hvl_t list[2];
    bool good = rank <= 2;
    for (int i = 0; i < rank && good; ++i) {
        good = H5Rcreate(&ref[i], scale[i], ".", H5R_OBJECT, -1) >= 0 && put_use(scale[i], set, i);
        list[i] = (hvl_t){1, &ref[i]};
    }
    const hsize_t n = (hsize_t)rank;
    const hid_t type = H5Tvlen_create(H5T_STD_REF_OBJ), space = H5Screate_simple(1, &n, NULL);
    const hid_t a = good ? H5Acreate2(set, "DIMENSION_LIST", type, space, H5P_DEFAULT, H5P_DEFAULT) : -1;
    good = a >= 0 && H5Awrite(a, type, list) >= 0;
    h5_close(a);
    h5_close(space);
    h5_close(type);
    return good;
}
