// h5_driver.c: see h5_driver.h.
//
// The log of a commit: the changed pages, their numbers, and a footer at the very end of the file.
#define _DEFAULT_SOURCE // flock
#include "io/h5_driver.h"
#include "base/pages.h"
#include "io/publish.h"
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#if H5_VERSION_GE(1, 13, 2)
#include <H5FDdevelop.h>
#endif

enum { PAGE = 4096 }; // bytes: a page of the system

typedef struct page {
    uint64_t number;
    unsigned char *byte; // NULL: this place of the table is free
    bool changed;        // it differs from the file's
} page;

typedef struct driver {
    H5FD_t pub; // HDF5's part, first
    int fd;
    bool writable, failed;
    int reason;        // errno of the failure
    haddr_t eoa;       // end of what HDF5 has allocated
    haddr_t eof;       // end of what has been written
    haddr_t committed; // (1): pages that begin below are held
    haddr_t opened;    // size at the opening,
    struct timespec written; // and when it had been written last
    page *table;       // open addressing; size is a power of two
    size_t size, used, changed;
    dev_t device;
    ino_t inode;
} driver;

typedef struct footer {
    uint64_t magic, pages, eoa, checksum; // checksum over pages, numbers and the fields before it
} footer;

static const uint64_t log_magic = UINT64_C(0x32676f6c6d726163); // "carmlog2", read on a machine of this byte order

// -- bytes ----------------------------------------------------------------------------------------------

static bool fail(driver *d, int reason) { // (3)
    if (!d->failed) d->reason = reason;
    d->failed = true;
    return false;
}

static bool write_all(driver *d, const void *bytes, size_t size, haddr_t at) {
    const unsigned char *from = bytes;
    while (size > 0) {
        const ssize_t n = pwrite(d->fd, from, size, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            return fail(d, n == 0 ? ENOSPC : errno);
        }
        from += n, at += (haddr_t)n, size -= (size_t)n;
    }
    return true;
}

// Bytes behind the end of the file are zero.
static bool read_all(int fd, void *bytes, size_t size, haddr_t at) {
    unsigned char *to = bytes;
    while (size > 0) {
        const ssize_t n = pread(fd, to, size, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        if (n == 0) return memset(to, 0, size), true;
        to += n, at += (haddr_t)n, size -= (size_t)n;
    }
    return true;
}

// FNV-1a by words of eight bytes, turned, so that all bits of a word reach all of the sum; sizes are multiples of
// eight.
static uint64_t sum(uint64_t s, const void *bytes, size_t size) {
    for (size_t i = 0; i + 8 <= size; i += 8) {
        uint64_t word;
        memcpy(&word, (const unsigned char *)bytes + i, sizeof word);
        s = ((s ^ word) << 29 | (s ^ word) >> 35) * UINT64_C(0x100000001b3);
    }
    return s;
}

static const uint64_t sum_start = UINT64_C(0xcbf29ce484222325);

// -- held pages ------------------------------------------------------------------------------------------

// The place of this page in the table, or the free one where it belongs.
static page *place_of(page *table, size_t size, uint64_t number) {
    size_t i = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (size - 1);
    while (table[i].byte && table[i].number != number) i = (i + 1) & (size - 1);
    return &table[i];
}

static bool make_room(driver *d) {
    if (2 * d->used < d->size) return true;
    const size_t size = d->size ? 2 * d->size : 64;
    page *table = calloc(size, sizeof *table);
    if (!table) return false;
    for (size_t i = 0; i < d->size; ++i)
        if (d->table[i].byte) *place_of(table, size, d->table[i].number) = d->table[i];
    free(d->table);
    d->table = table;
    d->size = size;
    return true;
}

static unsigned char *held(const driver *d, uint64_t number) {
    return d->used ? place_of(d->table, d->size, number)->byte : NULL;
}

// The page in memory, with the bytes of the file unless `fresh`.
static page *hold(driver *d, uint64_t number, bool fresh) {
    if (!make_room(d)) return NULL;
    page *place = place_of(d->table, d->size, number);
    if (place->byte) return place;
    unsigned char *byte = malloc(PAGE);
    if (!byte || (!fresh && !read_all(d->fd, byte, PAGE, number * PAGE))) return free(byte), NULL;
    *place = (page){number, byte, false};
    ++d->used;
    return place;
}

// Bytes that are those of the file leave it as it is: HDF5 writes much again when a file is closed.
static bool change(driver *d, haddr_t at, const unsigned char *bytes, size_t size) {
    page *p = hold(d, at / PAGE, size == PAGE);
    if (!p) return false;
    unsigned char *to = p->byte + at % PAGE;
    if (!p->changed && size < PAGE && memcmp(to, bytes, size) == 0) return true;
    memcpy(to, bytes, size);
    d->changed += !p->changed;
    p->changed = true;
    return true;
}

// Is a whole page what the file has already?  Much of a saved state is: it need not be held, nor written.
static bool unchanged(const driver *d, haddr_t at, size_t size, const unsigned char *bytes) {
    unsigned char now[PAGE];
    return size == PAGE && !held(d, at / PAGE) && read_all(d->fd, now, PAGE, at) && memcmp(now, bytes, PAGE) == 0;
}

static void drop_pages(driver *d) {
    enum { MANY = 256 }; // pages, 1 MB: fewer are not worth giving back
    for (size_t i = 0; i < d->size; ++i) free(d->table[i].byte);
    if (d->size) memset(d->table, 0, d->size * sizeof *d->table);
    if (d->used > MANY) carom_forget_freed();
    d->used = d->changed = 0;
}

static size_t part_of(haddr_t at, size_t size) { // bytes until the end of the page
    const size_t left = PAGE - (size_t)(at % PAGE);
    return size < left ? size : left;
}

// -- locks -----------------------------------------------------------------------------------------------

enum { PATIENCE = 2 }; // of writers and readers with each other, in seconds: nobody stops a run for good

// One writer; readers by way of HDF5 (h5py, h5dump), which lock the file as a whole, may share it.
static bool lock_for_writing(int fd) {
    const bool taken =
        !file_lock(fd, FILE_WRITER, F_WRLCK, 0) || (flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK);
    if (taken) errno = ETXTBSY;
    return !taken;
}

// -- the log ---------------------------------------------------------------------------------------------

static uint64_t sum_footer(uint64_t s, const footer *f) {
    return sum(s, f, offsetof(footer, checksum));
}

static int by_number(const void *x, const void *y) {
    const uint64_t a = ((const page *)x)->number, b = ((const page *)y)->number;
    return (a > b) - (a < b);
}

// The changed pages in order; NULL: no memory.
static page *sort_pages(const driver *d) {
    page *sorted = malloc(d->changed * sizeof *sorted);
    size_t k = 0;
    for (size_t i = 0; i < d->size && sorted; ++i)
        if (d->table[i].byte && d->table[i].changed) sorted[k++] = d->table[i];
    if (sorted) qsort(sorted, k, sizeof *sorted, by_number);
    return sorted;
}

enum { TOGETHER = 16 }; // pages, or so many bytes, of one call of the system

// n pages one after the other.
static bool write_pages(driver *d, const page *p, size_t n, haddr_t at) {
    unsigned char buffer[TOGETHER * PAGE];
    for (size_t i = 0, k; i < n; i += k, at += k * PAGE) {
        for (k = 0; k < TOGETHER && i + k < n; ++k) memcpy(buffer + k * PAGE, p[i + k].byte, PAGE);
        if (!write_all(d, buffer, k * PAGE, at)) return false;
    }
    return true;
}

static bool write_numbers(driver *d, const page *p, size_t n, haddr_t at) {
    uint64_t buffer[TOGETHER * PAGE / sizeof(uint64_t)];
    for (size_t i = 0, k; i < n; i += k, at += k * sizeof *buffer) {
        for (k = 0; k < sizeof buffer / sizeof *buffer && i + k < n; ++k) buffer[k] = p[i + k].number;
        if (!write_all(d, buffer, k * sizeof *buffer, at)) return false;
    }
    return true;
}

// The changed pages, their numbers and the footer.
static bool write_log(driver *d, const page *p, size_t n, haddr_t at) {
    footer f = {.magic = log_magic, .pages = n, .eoa = d->eoa};
    uint64_t s = sum_start;
    for (size_t i = 0; i < n; ++i) s = sum(s, p[i].byte, PAGE);
    for (size_t i = 0; i < n; ++i) s = sum(s, &p[i].number, sizeof p[i].number);
    f.checksum = sum_footer(s, &f);
    return write_pages(d, p, n, at) && write_numbers(d, p, n, at + n * PAGE) &&
           write_all(d, &f, sizeof f, at + n * (PAGE + sizeof(uint64_t)));
}

// Pages to their places, neighbours together.
static bool copy_pages(driver *d, const page *p, size_t n) {
    bool good = true;
    for (size_t i = 0, k; i < n && good; i = k) {
        for (k = i + 1; k < n && p[k].number == p[i].number + (k - i);) ++k;
        good = write_pages(d, p + i, k - i, p[i].number * PAGE);
    }
    return good;
}

static bool cut(driver *d, haddr_t size) {
    while (ftruncate(d->fd, (off_t)size) != 0)
        if (errno != EINTR) return fail(d, errno);
    return true;
}

static bool commit_pages(driver *d) {
    const haddr_t end = d->eoa > d->eof ? d->eoa : d->eof;
    page *const p = sort_pages(d);
    if (!p || !write_log(d, p, d->changed, (end + PAGE - 1) / PAGE * PAGE)) { // back to the last commit
        fail(d, ENOMEM);
        cut(d, d->committed);
        free(p);
        return false;
    }
    file_lock(d->fd, FILE_COMMIT, F_WRLCK, PATIENCE);
    // else the log is whole: opening the file finishes this
    const bool copied = copy_pages(d, p, d->changed) && cut(d, d->eoa);
    file_lock(d->fd, FILE_COMMIT, F_UNLCK, 0);
    free(p);
    return copied;
}

static bool commit(driver *d) {
    const bool same = d->committed == d->eoa && d->eof == d->eoa; // it has this size
    if (d->failed || !(d->changed ? commit_pages(d) : same || cut(d, d->eoa))) return false;
    drop_pages(d);
    d->committed = d->eof = d->eoa;
    return true;
}

// The log of a commit that was cut short; NULL: there is no whole one.
static unsigned char *read_log(const driver *d, footer *f) {
    if (d->eof < sizeof *f || !read_all(d->fd, f, sizeof *f, d->eof - sizeof *f) || f->magic != log_magic) return NULL;
    const uint64_t most = (d->eof - sizeof *f) / (PAGE + sizeof(uint64_t));
    if (f->pages < 1 || f->pages > most) return NULL;
    const size_t n = (size_t)f->pages, size = n * (PAGE + sizeof(uint64_t));
    const haddr_t at = d->eof - sizeof *f - size;
    unsigned char *log = f->eoa <= at ? malloc(size) : NULL;
    bool whole = log && read_all(d->fd, log, size, at) && sum_footer(sum(sum_start, log, size), f) == f->checksum;
    for (size_t i = 0; i < n && whole; ++i) {
        uint64_t number;
        memcpy(&number, log + n * PAGE + i * sizeof number, sizeof number);
        whole = number <= f->eoa / PAGE;
    }
    if (whole) return log;
    free(log);
    return NULL;
}

// Finish a commit that was cut short: in the file, or in memory if it is only read.
static bool recover(driver *d) {
    footer f;
    unsigned char *log = read_log(d, &f);
    if (!log) return true;
    bool good = true;
    for (size_t i = 0, n = (size_t)f.pages; i < n && good; ++i) {
        page p = {.byte = log + i * PAGE};
        memcpy(&p.number, log + n * PAGE + i * sizeof p.number, sizeof p.number);
        good = d->writable ? copy_pages(d, &p, 1) : change(d, p.number * PAGE, p.byte, PAGE);
    }
    if (d->writable && good) good = cut(d, f.eoa);
    free(log);
    d->eof = f.eoa;
    return good;
}

// -- what HDF5 calls -------------------------------------------------------------------------------------

static herr_t driver_close(H5FD_t *file) {
    driver *d = (driver *)file;
    if (d->writable && !d->failed) commit(d);
    drop_pages(d);
    free(d->table);
    close(d->fd);
    free(d);
    return 0;
}

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t fapl, haddr_t most) {
    (void)fapl, (void)most;
    const bool writable = (flags & H5F_ACC_RDWR) != 0, create = (flags & H5F_ACC_CREAT) != 0;
    // a pipe is refused below, not waited for
    const int how = (writable ? O_RDWR : O_RDONLY) | (create ? O_CREAT : 0) |
                    (flags & H5F_ACC_EXCL ? O_EXCL | O_NOFOLLOW : 0) | O_CLOEXEC | O_NONBLOCK;
    struct stat st;
    driver *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->fd = open(name, how, 0666);
    d->writable = writable;
    bool good = d->fd >= 0 && (!writable || lock_for_writing(d->fd));
    if (good && !writable) file_lock(d->fd, FILE_COMMIT, F_RDLCK, PATIENCE);
    good = good && (!(flags & H5F_ACC_TRUNC) || cut(d, 0)) && fstat(d->fd, &st) == 0;
    if (good && !S_ISREG(st.st_mode)) errno = EINVAL, good = false;
    if (good) {
        d->device = st.st_dev, d->inode = st.st_ino;
        d->eof = d->opened = (haddr_t)st.st_size;
        d->written = st.st_mtim;
        good = recover(d);
        d->committed = d->eof;
        d->eoa = 0;
    }
    if (good) return &d->pub;
    const int reason = errno;
    drop_pages(d);
    free(d->table);
    if (d->fd >= 0) close(d->fd);
    free(d);
    H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_FILE, H5E_CANTOPENFILE, "%s",
             reason == ETXTBSY ? "another run is writing it" : strerror(reason));
    return NULL;
}

static herr_t refuse(const char *what) {
    H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_IO, H5E_READERROR, "%s", what);
    return -1;
}

static herr_t driver_read(H5FD_t *file, H5FD_mem_t type, hid_t dxpl, haddr_t at, size_t size, void *buffer) {
    (void)type, (void)dxpl;
    driver *d = (driver *)file;
    if (at + size < at || at + size > d->eoa) return refuse("a place outside the file");
    if (!read_all(d->fd, buffer, size, at)) return refuse(strerror(errno));
    for (unsigned char *to = buffer; d->used && size > 0;) {
        const size_t n = part_of(at, size);
        const unsigned char *byte = held(d, at / PAGE);
        if (byte) memcpy(to, byte + at % PAGE, n);
        to += n, at += n, size -= n;
    }
    return 0;
}

// HDF5 is not told of a failed write: it would not know what to do with what it has in memory.  carom asks
// h5_driver_failed().
static herr_t driver_write(H5FD_t *file, H5FD_mem_t type, hid_t dxpl, haddr_t at, size_t size, const void *buffer) {
    (void)type, (void)dxpl;
    driver *d = (driver *)file;
    if (at + size < at || at + size > d->eoa) return refuse("a place outside the file");
    const unsigned char *from = buffer;
    while (!d->failed && size > 0 && at / PAGE * PAGE < d->committed) { // (1)
        const size_t n = part_of(at, size);
        if (!unchanged(d, at, n, from) && !change(d, at, from, n)) return fail(d, ENOMEM), 0;
        from += n, at += n, size -= n;
    }
    if (!d->failed) write_all(d, from, size, at);
    if (at + size > d->eof) d->eof = at + size;
    return 0;
}

static haddr_t driver_eoa(const H5FD_t *file, H5FD_mem_t type) { return (void)type, ((const driver *)file)->eoa; }
static herr_t driver_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t at) {
    return (void)type, ((driver *)file)->eoa = at, 0;
}
static haddr_t driver_eof(const H5FD_t *file, H5FD_mem_t type) { return (void)type, ((const driver *)file)->eof; }
static herr_t driver_handle(H5FD_t *file, hid_t fapl, void **handle) { return (void)fapl, *handle = file, 0; }

static int driver_compare(const H5FD_t *x, const H5FD_t *y) {
    const driver *a = (const driver *)x, *b = (const driver *)y;
    if (a->device != b->device) return a->device < b->device ? -1 : 1;
    return a->inode == b->inode ? 0 : a->inode < b->inode ? -1 : 1;
}

// what the default driver of HDF5 has: the same layout
static herr_t driver_query(const H5FD_t *file, unsigned long *flags) {
    (void)file;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static const H5FD_class_t driver_class = {
#if H5_VERSION_GE(1, 13, 2)
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)(H5FD_RESERVED + 77),
#endif
    .name = "carom",
    .maxaddr = ((haddr_t)1 << 62) - 1,
    .fc_degree = H5F_CLOSE_STRONG,
    .open = driver_open,
    .close = driver_close,
    .cmp = driver_compare,
    .query = driver_query,
    .get_eoa = driver_eoa,
    .set_eoa = driver_set_eoa,
    .get_eof = driver_eof,
    .get_handle = driver_handle,
    .read = driver_read,
    .write = driver_write,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

// -- what carom calls ------------------------------------------------------------------------------------

// HDF5 gives a class free when its last file closes, and then calls its `close`.  So it stays registered for as long as
// HDF5 lives, which is the process.  Two threads that come first register it twice, which does no harm.
static hid_t registered(void) {
    static _Atomic(hid_t) kept;
    hid_t id = kept;
    if (id <= 0 || H5Iget_type(id) != H5I_VFL) kept = id = H5FDregister(&driver_class);
    return id;
}

hid_t h5_driver_access(void) {
    const hid_t id = registered(), fapl = H5Pcreate(H5P_FILE_ACCESS);
    if (id >= 0) H5Pset_driver(fapl, id, NULL);
    H5Pset_fclose_degree(fapl, H5F_CLOSE_STRONG);
    return fapl;
}

static driver *driver_of(hid_t file) {
    void *handle = NULL;
    return file >= 0 && H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) >= 0 ? handle : NULL;
}

bool h5_driver_fill(hid_t file, haddr_t at, const void *bytes, size_t size) {
    driver *d = driver_of(file);
    if (!d || d->failed || at + size < at || at + size > d->eoa || at + size > d->committed ||
        !write_all(d, bytes, size, at))
        return false;
    const unsigned char *from = bytes;
    for (size_t n; d->used && size > 0; from += n, at += n, size -= n) { // pages that something else has changed, too
        unsigned char *byte = held(d, at / PAGE);
        n = part_of(at, size);
        if (byte) memcpy(byte + at % PAGE, from, n);
    }
    return true;
}

bool h5_driver_commit(hid_t file) {
    driver *d = driver_of(file);
    return d && commit(d);
}

void h5_driver_abandon(hid_t file) {
    driver *d = driver_of(file);
    if (d) fail(d, 0);
}

const char *h5_driver_failed(hid_t file) {
    const driver *d = driver_of(file);
    return !d || !d->failed ? NULL : d->reason ? strerror(d->reason) : "an earlier write failed";
}

void h5_driver_share(hid_t file, bool on) {
    const driver *d = driver_of(file);
    if (d) file_lock(d->fd, FILE_COMMIT, on ? F_RDLCK : F_UNLCK, on ? PATIENCE : 0);
}

bool h5_driver_changed(hid_t file) {
    const driver *d = driver_of(file);
    struct stat st;
    return d && fstat(d->fd, &st) == 0 &&
           ((haddr_t)st.st_size != d->opened || st.st_mtim.tv_sec != d->written.tv_sec ||
            st.st_mtim.tv_nsec != d->written.tv_nsec);
}
