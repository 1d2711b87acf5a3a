// h5.c: errors, links and attributes of HDF5.
#define _POSIX_C_SOURCE 200809L
#include "base/number.h"
#include "io/exit.h"
#include "io/h5.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// The most specific entry of the error stack.
static herr_t deepest(unsigned n, const H5E_error2_t *e, void *user) {
    if (n == 0 && e->desc) snprintf(user, 200, "%s", e->desc);
    return 0;
}

// Called by HDF5 when one of its functions fails: the stack is gone after the next call.
static herr_t collect(hid_t stack, void *user) {
    return H5Ewalk2(stack, H5E_WALK_UPWARD, deepest, ((h5_hush *)user)->reason);
}

void h5_hush_begin(h5_hush *h) {
    *h = (h5_hush){.function = NULL};
    H5Eget_auto2(H5E_DEFAULT, &h->function, &h->data);
    H5Eset_auto2(H5E_DEFAULT, collect, h);
}

void h5_hush_end(h5_hush *h) {
    H5Eset_auto2(H5E_DEFAULT, h->function, h->data);
}

carom_status h5_fail(carom_error *err, const char *format, ...) {
    char what[640];
    H5E_auto2_t function = NULL;
    void *data = NULL;
    H5Eget_auto2(H5E_DEFAULT, &function, &data);
    const char *reason = function == collect ? ((h5_hush *)data)->reason : "";
    va_list args;
    va_start(args, format);
    carom_vformat(what, sizeof what, format, args);
    va_end(args);
    return carom_fail(err, CAROM_IO, "%s%s%s", what, reason[0] ? ": " : "", reason);
}

void h5_no_tidying_at_exit(void) {
    H5dont_atexit();
}

void h5_close(hid_t id) {
    if (id < 0) return;
    switch (H5Iget_type(id)) {
    case H5I_FILE: H5Fclose(id); break;
    case H5I_GROUP: H5Gclose(id); break;
    case H5I_DATATYPE: H5Tclose(id); break;
    case H5I_DATASPACE: H5Sclose(id); break;
    case H5I_DATASET: H5Dclose(id); break;
    case H5I_ATTR: H5Aclose(id); break;
    case H5I_GENPROP_LST: H5Pclose(id); break;
    default: break;
    }
}

// Is every part of the path there and, if `hard`, a hard link?
static bool path_is(hid_t at, const char *path, bool hard) {
    char part[256];
    for (const char *end = path; *end;) {
        end = strchr(end, '/') ? strchr(end, '/') : end + strlen(end);
        H5L_info_t info;
        if ((size_t)(end - path) >= sizeof part) return false;
        snprintf(part, sizeof part, "%.*s", (int)(end - path), path);
        if (H5Lexists(at, part, H5P_DEFAULT) <= 0 || H5Lget_info(at, part, &info, H5P_DEFAULT) < 0) return false;
        if (info.type != H5L_TYPE_HARD) return !hard;
        if (*end) ++end;
    }
    return true;
}

bool h5_has(hid_t at, const char *path) {
    return path_is(at, path, false);
}

hid_t h5_open_group(hid_t at, const char *path) {
    return path_is(at, path, true) ? H5Gopen2(at, path, H5P_DEFAULT) : -1;
}

// Do all parts of a type lie inside it?  HDF5 converts without looking.
static bool type_fits(hid_t type) {
    const size_t size = H5Tget_size(type), bits = 8 * size;
    const H5T_class_t class = H5Tget_class(type);
    size_t sign = 0, exponent = 0, exponents = 0, mantissa = 0, mantissas = 0;
    if (class == H5T_STRING) return H5Tis_variable_str(type) == 0;
    if (class == H5T_FLOAT && (H5Tget_fields(type, &sign, &exponent, &exponents, &mantissa, &mantissas) < 0 ||
                               sign >= bits || exponent + exponents > bits || mantissa + mantissas > bits))
        return false;
    if (class == H5T_FLOAT || class == H5T_INTEGER)
        return size <= 16 && H5Tget_offset(type) >= 0 && (size_t)H5Tget_offset(type) + H5Tget_precision(type) <= bits;
    bool good = class == H5T_COMPOUND;
    for (int i = 0; good && i < H5Tget_nmembers(type); ++i) {
        const hid_t member = H5Tget_member_type(type, (unsigned)i);
        good = member >= 0 && H5Tget_class(member) != H5T_COMPOUND && H5Tget_size(member) <= size &&
               H5Tget_member_offset(type, (unsigned)i) <= size - H5Tget_size(member) && type_fits(member);
        h5_close(member);
    }
    return good;
}

hid_t h5_open_packed(hid_t at, const char *path) {
    const hid_t set = path_is(at, path, true) ? H5Dopen2(at, path, H5P_DEFAULT) : -1,
                dcpl = set >= 0 ? H5Dget_create_plist(set) : -1, type = set >= 0 ? H5Dget_type(set) : -1;
    const H5D_layout_t layout = dcpl >= 0 ? H5Pget_layout(dcpl) : H5D_LAYOUT_ERROR;
    const bool plain = (layout == H5D_COMPACT || layout == H5D_CONTIGUOUS || layout == H5D_CHUNKED) &&
                       H5Pget_external_count(dcpl) == 0 && type >= 0 && type_fits(type);
    h5_close(type);
    h5_close(dcpl);
    if (plain) return set;
    h5_close(set);
    return -1;
}

hid_t h5_open_set(hid_t at, const char *path) {
    const hid_t set = h5_open_packed(at, path), dcpl = set >= 0 ? H5Dget_create_plist(set) : -1;
    bool plain = dcpl >= 0;
    for (int i = 0; plain && i < H5Pget_nfilters(dcpl); ++i) {
        unsigned flags, config;
        size_t n = 0;
        const H5Z_filter_t filter = H5Pget_filter2(dcpl, (unsigned)i, &flags, &n, NULL, 0, NULL, &config);
        plain = filter == H5Z_FILTER_DEFLATE || filter == H5Z_FILTER_SHUFFLE;
    }
    h5_close(dcpl);
    if (plain) return set;
    h5_close(set);
    return -1;
}

static bool put(hid_t at, const char *name, hid_t type, const void *value) {
    hid_t a = -1;
    if (H5Aexists(at, name) > 0) {
        a = H5Aopen(at, name, H5P_DEFAULT);
    } else {
        const hid_t space = H5Screate(H5S_SCALAR);
        a = H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
        h5_close(space);
    }
    const bool good = a >= 0 && H5Awrite(a, type, value) >= 0;
    h5_close(a);
    return good;
}

bool h5_put_real(hid_t at, const char *name, double x) {
    return put(at, name, H5T_NATIVE_DOUBLE, &x);
}

bool h5_put_integer(hid_t at, const char *name, long long x) {
    const int64_t value = x;
    return put(at, name, H5T_NATIVE_INT64, &value);
}

hid_t h5_text_type(size_t size, H5T_str_t pad) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 && H5Tset_size(type, size ? size : 1) >= 0 && H5Tset_strpad(type, pad) >= 0 &&
        H5Tset_cset(type, H5T_CSET_UTF8) >= 0)
        return type;
    h5_close(type);
    return -1;
}

hid_t h5_record_type(size_t size, const h5_member *member, int n, H5T_str_t pad) {
    const hid_t type = H5Tcreate(H5T_COMPOUND, size);
    bool good = type >= 0;
    for (const h5_member *m = member; good && m < member + n; ++m) {
        const hid_t text = m->text ? h5_text_type(m->text, pad) : -1;
        good = H5Tinsert(type, m->name, m->at, m->text ? text : H5T_NATIVE_DOUBLE) >= 0;
        h5_close(text);
    }
    if (good) return type;
    h5_close(type);
    return -1;
}

bool h5_put_text(hid_t at, const char *name, const char *text, size_t room) {
    if (room == 0) room = 1;
    char *value = calloc(1, room);
    const hid_t type = h5_text_type(room, H5T_STR_NULLPAD);
    bool good = value && type >= 0;
    if (good) {
        const size_t length = text ? strlen(text) : 0;
        if (length) memcpy(value, text, length < room ? length : room);
        good = put(at, name, type, value);
    }
    h5_close(type);
    free(value);
    return good;
}

bool h5_get(hid_t at, const char *name, size_t most, double *number, char **text) {
    *text = NULL;
    if (H5Aexists(at, name) <= 0) return false;
    const hid_t a = H5Aopen(at, name, H5P_DEFAULT), type = H5Aget_type(a), space = H5Aget_space(a);
    bool good = a >= 0 && type >= 0 && space >= 0 && H5Sget_simple_extent_npoints(space) == 1;
    const H5T_class_t class = good ? H5Tget_class(type) : H5T_NO_CLASS;
    if (class == H5T_STRING) {
        const size_t size = H5Tget_size(type);
        good = H5Tis_variable_str(type) == 0 && size >= 1 && size <= most && (*text = calloc(1, size + 1)) != NULL &&
               H5Aread(a, type, *text) >= 0;
    } else {
        good = (class == H5T_FLOAT || class == H5T_INTEGER) && type_fits(type) &&
               H5Aread(a, H5T_NATIVE_DOUBLE, number) >= 0;
    }
    if (!good) {
        free(*text);
        *text = NULL;
    }
    h5_close(space);
    h5_close(type);
    h5_close(a);
    return good;
}
