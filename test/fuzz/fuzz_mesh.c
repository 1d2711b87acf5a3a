// fuzz_mesh.c: any bytes are a mesh with corners inside it, closed or not, or a sentence; and any points have a hull
// that holds them, or none.
#include "fuzz.h"
#include "collide/hull.h"
#include "read/mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    carom_mesh m = {0};
    carom_error err = {0};
    const carom_status status = carom_mesh_read((const char *)data, size, "fuzz.stl", &m, &err);
    PROMISE(status == CAROM_OK || strlen(err.text) > 10, "refused without a reason");
    if (status != CAROM_OK) return 0;
    PROMISE(m.nt > 0 && m.nparts > 0 && m.part_at[m.nparts] == m.nt, "%d triangles in %d parts", m.nt, m.nparts);
    for (int k = 0; k < 3 * m.nt; ++k)
        PROMISE(m.t[k / 3][k % 3] >= 0 && m.t[k / 3][k % 3] < m.nv, "corner %d of %d", m.t[k / 3][k % 3], m.nv);
    carom_mesh_closed(&m, "fuzz.stl", &err);
    carom_hull h;
    if (m.nv < 500 && carom_hull_make((const double(*)[3])m.v, m.nv, &h) == CAROM_HULL_OK) {
        PROMISE(h.nv - h.ne + h.nf == 2, "%d corners, %d edges, %d faces", h.nv, h.ne, h.nf);
        carom_hull_free(&h);
    }
    carom_mesh_free(&m);
    return 0;
}
