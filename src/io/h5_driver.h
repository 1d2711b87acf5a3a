// h5_driver.h: a file driver for HDF5 whose changes reach the file all at once or not at all.
//
// HDF5 rewrites its metadata in place.  A full disk, an I/O error or a kill in the middle of that leaves a file that is
// neither the old one nor the new one.  This driver stands between HDF5 and the file:
//
// (1) Bytes of the last commit are never overwritten outside h5_driver_commit(): writes to them stay in memory, page by
// page.
//     Other writes go straight to the file, behind the committed end or by h5_driver_fill(), where nothing refers to
//     them yet.
// (2) A commit appends the changed pages as a log with a checksum, then copies them to their places, then cuts the log
// off.
//     Without a whole log the file is that of the last commit; with one, opening the file finishes the copying (in
//     memory only, if the file is opened for reading).
// (3) After the first failed write nothing is written any more: the file stays as it was committed, and closing it does
// no harm.
//
// A file that is being written can be read.  Its writer excludes other writers by a lock, and readers only while pages
// are copied.
#pragma once
#include <hdf5.h>
#include <stdbool.h>

/// An access list: files that are opened with it use the driver, and closing one closes all that is open in it.
hid_t h5_driver_access(void);

/// Bytes inside the file that the last commit does not refer to, written straight to it.  HDF5 must not have them in
/// memory.
bool h5_driver_fill(hid_t file, haddr_t at, const void *bytes, size_t size);

/// All that HDF5 has written so far becomes the file; to be called after H5Fflush().
bool h5_driver_commit(hid_t file);

/// Nothing shall reach the file any more: it stays as it was committed.
void h5_driver_abandon(hid_t file);

/// Why nothing reaches the file any more; NULL: it does.  HDF5 itself does not notice.
const char *h5_driver_failed(hid_t file);

/// Readers: a file is opened with the lock that keeps its writer from committing; give it back, take it again.
void h5_driver_share(hid_t file, bool on);
/// Readers: has the file been written since it was opened?  Then HDF5 may remember parts of an older state of it.
bool h5_driver_changed(hid_t file);
