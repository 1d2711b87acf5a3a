// leaks.c: reports heap blocks that a program loses, when it ends.
//
// Loaded before the program (LD_PRELOAD), it keeps the address of every heap block.  At the end it prints blocks that
// no pointer reaches to stderr and exits with status 23.  It looks for pointers in the variables of the program and its
// libraries, in the stack and the thread-local variables of the main thread, and in blocks that are reached.  A pointer
// into the middle of a block counts, so a number that looks like an address hides a leak, but a block in use is never
// reported.  The leak sanitizer does the same, but takes three seconds per program on aarch64.
//
// Programs outside the folder CAROM_LEAKS_IN (compilers, gnuplot, shells) inherit LD_PRELOAD and are left alone.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);
extern void *__libc_stack_end;

struct block {
    uintptr_t at;
    size_t size;
    uintptr_t by; // who asked for it
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *table; // open addressing; `at` 0: free, 1: it was there
static size_t room, used;   // used: also of those that were there
static pid_t of = -1;       // the process that is watched; 0: none; -1: not known yet, before its start

static size_t slot(uintptr_t at) { return (at >> 4) * 0x9E3779B97F4A7C15u >> 20 & (room - 1); }

static void put(struct block b) {
    size_t i = slot(b.at);
    while (table[i].at > 1) i = (i + 1) & (room - 1);
    used += table[i].at == 0;
    table[i] = b;
}

static void grow(void) {
    struct block *old = table;
    size_t n = room, live = 0;
    for (size_t i = 0; i < n; i++) live += old[i].at > 1;
    room = n == 0 ? 1 << 14 : live > n / 4 ? 2 * n : n;
    table = mmap(NULL, room * sizeof *table, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (table == MAP_FAILED) _exit(23);
    used = 0;
    for (size_t i = 0; i < n; i++)
        if (old[i].at > 1) put(old[i]);
    if (old) munmap(old, n * sizeof *old);
}

static void *keep(void *at, size_t size, void *by) {
    if (!of || !at) return at;
    pthread_mutex_lock(&lock);
    if (2 * used >= room) grow();
    put((struct block){(uintptr_t)at, size, (uintptr_t)by});
    pthread_mutex_unlock(&lock);
    return at;
}

static struct block drop(void *at) {
    struct block found = {0, 0, 0};
    if (!of || !at) return found;
    pthread_mutex_lock(&lock);
    if (room)
        for (size_t i = slot((uintptr_t)at); table[i].at; i = (i + 1) & (room - 1))
            if (table[i].at == (uintptr_t)at) {
                found = table[i];
                table[i].at = 1;
                break;
            }
    pthread_mutex_unlock(&lock);
    return found;
}

void *malloc(size_t size) { return keep(__libc_malloc(size), size, __builtin_return_address(0)); }
void *calloc(size_t n, size_t size) { return keep(__libc_calloc(n, size), n * size, __builtin_return_address(0)); }
void *memalign(size_t by, size_t size) { return keep(__libc_memalign(by, size), size, __builtin_return_address(0)); }
void *aligned_alloc(size_t by, size_t size) {
    return keep(__libc_memalign(by, size), size, __builtin_return_address(0));
}
int posix_memalign(void **at, size_t by, size_t size) {
    void *new = keep(__libc_memalign(by, size), size, __builtin_return_address(0));
    if (new) *at = new;
    return new ? 0 : ENOMEM;
}
void free(void *at) {
    int error = errno;
    drop(at);
    __libc_free(at);
    errno = error;
}
void *realloc(void *at, size_t size) {
    struct block old = drop(at);
    void *new = __libc_realloc(at, size);
    if (new) return keep(new, size, __builtin_return_address(0));
    if (size && old.at) keep(at, old.size, (void *)old.by);
    return NULL;
}

/* -- the end -- */

static struct block *blocks; // by address
static unsigned char *reached;
static size_t count, *queue, queued;

static int by_address(const void *a, const void *b) {
    uintptr_t x = ((const struct block *)a)->at, y = ((const struct block *)b)->at;
    return (x > y) - (x < y);
}

// Words of [from, to) that point into blocks.
__attribute__((no_sanitize_address)) static void scan(uintptr_t from, uintptr_t to) {
    for (uintptr_t p = (from + sizeof p - 1) & ~(sizeof p - 1); p + sizeof p <= to; p += sizeof p) {
        uintptr_t w = *(const uintptr_t *)p;
        if (count == 0 || w < blocks[0].at) continue;
        size_t low = 0, high = count;
        while (high - low > 1) {
            size_t middle = low + (high - low) / 2;
            if (blocks[middle].at <= w) low = middle;
            else high = middle;
        }
        if (w - blocks[low].at <= blocks[low].size && !reached[low]) { // also one behind the last
            reached[low] = 1;
            queue[queued++] = low;
        }
    }
}

static int segments(struct dl_phdr_info *o, size_t size, void *use) {
    (void)size, (void)use;
    for (int i = 0; i < o->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &o->dlpi_phdr[i];
        uintptr_t from = o->dlpi_addr + h->p_vaddr;
        if (h->p_type == PT_TLS && o->dlpi_tls_data)
            scan((uintptr_t)o->dlpi_tls_data, (uintptr_t)o->dlpi_tls_data + h->p_memsz);
        if (h->p_type != PT_LOAD || !(h->p_flags & PF_W)) continue;
        // this library knows every block
        if ((uintptr_t)&table >= from && (uintptr_t)&table < from + h->p_memsz) continue;
        scan(from, from + h->p_memsz);
    }
    return 0;
}

__attribute__((destructor, noinline)) static void look(void) {
    if (!of || of != getpid()) return;
    of = 0;
    for (size_t i = 0; i < room; i++) count += table[i].at > 1;
    size_t bytes = count * (sizeof *blocks + sizeof *queue + 1) + 64;
    blocks = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (blocks == MAP_FAILED) _exit(23);
    queue = (size_t *)(blocks + count);
    reached = (unsigned char *)(queue + count);
    for (size_t i = 0, n = 0; i < room; i++)
        if (table[i].at > 1) blocks[n++] = table[i];
    qsort(blocks, count, sizeof *blocks, by_address);
    for (size_t i = 0; i < count; i++) { // the loader's own, for threads, and those that HDF5 keeps
        Dl_info in;
        if (!dladdr((void *)blocks[i].by, &in)) continue;
        if (!strstr(in.dli_fname, "/ld-") && !strstr(in.dli_fname, "/libhdf5")) continue;
        reached[i] = 1;
        queue[queued++] = i;
    }
    jmp_buf registers;
    setjmp(registers);
    scan((uintptr_t)&registers, (uintptr_t)__libc_stack_end);
    dl_iterate_phdr(segments, NULL);
    while (queued) {
        struct block b = blocks[queue[--queued]];
        scan(b.at, b.at + b.size);
    }
    size_t lost = 0, told = 0;
    for (size_t i = 0; i < count; i++) lost += !reached[i];
    if (lost == 0) return;
    fflush(NULL);
    fprintf(stderr, "leaks: %zu of %zu blocks are lost:\n", lost, count);
    for (size_t i = 0; i < count && told < 20; i++)
        if (!reached[i]) {
            Dl_info in;
            int known = dladdr((void *)blocks[i].by, &in);
            fprintf(stderr, "  %zu bytes, asked for at %s+0x%zx\n", blocks[i].size, known ? in.dli_fname : "?",
                    (size_t)(blocks[i].by - (known ? (uintptr_t)in.dli_fbase : 0)));
            told++;
        }
    fprintf(stderr, "(addr2line -f -e PROGRAM ADDRESS, or ASAN_OPTIONS=detect_leaks=1 in a build with sanitizers, "
                    "says more)\n");
    _exit(23);
}

static void hold(void) { pthread_mutex_lock(&lock); }
static void let_go(void) { pthread_mutex_unlock(&lock); }

__attribute__((constructor)) static void begin(void) {
    const char *in = getenv("CAROM_LEAKS_IN");
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n < 0 ? 0 : n] = '\0';
    of = in && strncmp(path, in, strlen(in)) == 0 ? getpid() : 0;
    if (of) pthread_atfork(hold, let_go, let_go);
}
