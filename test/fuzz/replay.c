// replay.c: a driver for fuzz targets where libFuzzer is not: inputs of a folder, then random changes of them.
//
//     replay FOLDER [CHANGES [SEED]]
#include "fuzz.h"
#include <dirent.h>
#include <signal.h>
#include <unistd.h>

enum { MOST = 256, LONGEST = 1 << 20 };
static struct { uint8_t *data; size_t size; char name[256]; } input[MOST];
static int inputs;
static uint64_t state = 88172645463325252u;
static uint8_t *present; // what is tried now, for a crash to write
static size_t present_size;

static uint64_t next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void load(const char *folder) {
    DIR *d = opendir(folder);
    if (!d) {
        fprintf(stderr, "cannot open %s\n", folder);
        exit(2);
    }
    char *names[MOST];
    int n = 0;
    for (struct dirent *e; n < MOST && (e = readdir(d));)
        if (e->d_name[0] != '.') names[n++] = strcpy(malloc(strlen(e->d_name) + 1), e->d_name);
    closedir(d);
    qsort(names, (size_t)n, sizeof *names, by_name);
    for (int i = 0; i < n; ++i) {
        char path[1200];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        FILE *f = fopen(path, "rb");
        uint8_t *data = malloc(LONGEST);
        input[inputs].size = f && data ? fread(data, 1, LONGEST, f) : 0;
        if (f) fclose(f);
        input[inputs].data = data;
        snprintf(input[inputs].name, sizeof input[inputs].name, "%s", names[i]);
        ++inputs;
        free(names[i]);
    }
}

static void died(int signal_) {
    FILE *f = fopen("finding", "wb");
    if (f) fwrite(present, 1, present_size, f), fclose(f);
    static const char text[] = "the input is in the file `finding`\n";
    if (write(2, text, sizeof text - 1) < 0) _exit(99);
    signal(signal_, SIG_DFL);
    raise(signal_);
}

static void try(const uint8_t *data, size_t size) {
    uint8_t *exact = malloc(size + !size); // no byte more, so that sanitizers see the end
    if (!exact) exit(2);
    memcpy(exact, data, size);
    present = exact, present_size = size;
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

// A few changes: bytes, pieces that are left out, doubled, or come from another input.
static size_t change(uint8_t *data, size_t size) {
    for (uint64_t n = 1 + next() % 6; n > 0; --n) {
        const size_t at = size ? next() % size : 0, most = size - at,
                     length = most ? 1 + next() % (most < 24 ? most : 24) : 0;
        const int other = (int)(next() % (uint64_t)inputs);
        switch (next() % 6) {
        case 0: if (size) data[at] ^= (uint8_t)(1u << next() % 8); break;
        case 1: if (size) data[at] = (uint8_t)next(); break;
        case 2: memmove(data + at, data + at + length, most - length), size -= length; break;
        case 3: if (size + length < LONGEST / 2) memmove(data + at + length, data + at, most), size += length; break;
        case 4: if (size) data[at] = (uint8_t)"0123456789.eE+-*/^(){}[]:,'\" \n#&*!|>%@`"[next() % 40]; break;
        default:
            if (input[other].size > 0 && size > 0) {
                const size_t from = next() % input[other].size,
                             fits = input[other].size - from < length ? input[other].size - from : length;
                memcpy(data + at, input[other].data + from, fits);
            }
        }
    }
    return size;
}

int main(int argc, char **argv) {
    if (argc < 2) return fprintf(stderr, "usage: %s FOLDER [CHANGES [SEED]]\n", argv[0]), 2;
    const long changes = argc > 2 ? atol(argv[2]) : 0;
    if (argc > 3) state += (uint64_t)atol(argv[3]) * 2654435761u;
    load(argv[1]);
    if (inputs == 0) return fprintf(stderr, "%s holds no input\n", argv[1]), 2;
    signal(SIGSEGV, died), signal(SIGABRT, died), signal(SIGFPE, died), signal(SIGBUS, died), signal(SIGALRM, died);
    for (int i = 0; i < inputs; ++i) {
        alarm(20);
        try(input[i].data, input[i].size);
    }
    uint8_t *data = malloc(LONGEST);
    for (long i = 0; i < changes && data; ++i) {
        const int from = (int)(next() % (uint64_t)inputs);
        memcpy(data, input[from].data, input[from].size);
        alarm(20);
        try(data, change(data, input[from].size));
    }
    free(data);
    for (int i = 0; i < inputs; ++i) free(input[i].data);
    printf("%d inputs and %ld changes of them\n", inputs, changes);
    return 0;
}
