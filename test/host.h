// host.h: what a host program has set is as before when carom returns: the locale of its thread, and what HDF5 does
// with errors.
#pragma once
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <hdf5.h>
#include <locale.h>

static struct { locale_t locale; H5E_auto2_t report; void *data; } host;

static int host_begin(void **state) {
    (void)state;
    host.locale = uselocale((locale_t)0);
    return H5Eget_auto2(H5E_DEFAULT, &host.report, &host.data) < 0;
}

// The last test of a program.
static void the_host_is_as_before(void **state) {
    (void)state;
    H5E_auto2_t report;
    void *data;
    assert_true(uselocale((locale_t)0) == host.locale);
    assert_true(H5Eget_auto2(H5E_DEFAULT, &report, &data) >= 0 && report == host.report && data == host.data);
}
