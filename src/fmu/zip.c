// zip.c: local headers and bytes, then the central directory (APPNOTE 6.3).  Dates are 1980-01-01, so equal contents
// make equal files.
#include "base/grow.h"
#include "fmu/deflate.h"
#include "fmu/zip.h"
#include <stdlib.h>
#include <string.h>

static uint32_t crc_of(const unsigned char *x, size_t n) { // of IEEE 802.3, a bit at a time by a table of 16
    static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                       0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                       0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    uint32_t crc = ~UINT32_C(0);
    for (size_t i = 0; i < n; ++i) {
        crc = table[(crc ^ x[i]) & 15] ^ crc >> 4;
        crc = table[(crc ^ (uint32_t)x[i] >> 4) & 15] ^ crc >> 4;
    }
    return ~crc;
}

static void put(zip *z, const void *bytes, size_t size) {
    z->used += size;
    z->failed = z->failed || z->used > UINT32_MAX || fwrite(bytes, 1, size, z->f) != size;
}

// Numbers of 2 and 4 bytes, the low byte first.
static void put2(zip *z, unsigned x) { put(z, (unsigned char[]){x & 255, x >> 8 & 255}, 2); }
static void put4(zip *z, uint32_t x) { put2(z, x & 0xffff), put2(z, x >> 16); }

// of the format; DATE: 1 January 1980, the same in all files
enum { VERSION = 20, UTF8 = 0x800, DATE = 33, UNIX = 3, DEFLATED = 8 };

static void put_about(zip *z, const zip_entry *e) {
    put2(z, VERSION);
    put2(z, UTF8);
    put2(z, e->packed < e->size ? DEFLATED : 0);
    put2(z, 0); // time
    put2(z, DATE);
    put4(z, e->crc);
    put4(z, e->packed);
    put4(z, e->size);
    put2(z, (unsigned)strlen(e->name));
    put2(z, 0); // extra
}

void carom_zip_add(zip *z, const char *name, const void *bytes, size_t size) {
    char *own = !z->failed && CAROM_GROW(z->list, z->n) ? malloc(strlen(name) + 1) : NULL;
    z->failed = !own || size > UINT32_MAX;
    if (!own) return;
    zip_entry *e = &z->list[z->n++];
    size_t packed = size;
    unsigned char *shorter = carom_deflate(bytes, size, &packed);
    *e = (zip_entry){.name = strcpy(own, name),
                     .crc = crc_of(bytes, size),
                     .size = (uint32_t)size,
                     .packed = (uint32_t)packed,
                     .at = (uint32_t)z->used};
    put4(z, 0x04034b50);
    put_about(z, e);
    put(z, name, strlen(name));
    put(z, shorter ? shorter : bytes, packed);
    free(shorter);
}

bool carom_zip_finish(zip *z) {
    const uint32_t start = (uint32_t)z->used;
    for (size_t i = 0; i < z->n; ++i) {
        const zip_entry *e = &z->list[i];
        put4(z, 0x02014b50);
        put2(z, UNIX << 8 | VERSION);
        put_about(z, e);
        put2(z, 0); // comment
        put2(z, 0); // disk
        put2(z, 0); // internal attributes
        put4(z, UINT32_C(0100644) << 16);
        put4(z, e->at);
        put(z, e->name, strlen(e->name));
    }
    const uint32_t size = (uint32_t)z->used - start;
    put4(z, 0x06054b50);
    put4(z, 0); // disks
    put2(z, (unsigned)z->n);
    put2(z, (unsigned)z->n);
    put4(z, size);
    put4(z, start);
    put2(z, 0);
    for (size_t i = 0; i < z->n; ++i) free(z->list[i].name);
    free(z->list);
    z->list = NULL;
    return !z->failed && z->n < 65535;
}
