// sized.c: builders of programs that were compiled with another version (base/sized.h).
#include "base/sized.h"
#include <carom/build.h>

#define ELEMENT(NAME, DEF, HANDLE)                                                                                     \
    HANDLE NAME##_sized(size_t size, carom_build *b, const DEF *def) {                                                 \
        if (!def || size == sizeof *def) return NAME(b, def);                                                          \
        DEF whole;                                                                                                     \
        carom_resize(&whole, sizeof whole, def, size);                                                                 \
        return NAME(b, &whole);                                                                                        \
    }
#define LOOSE(NAME, DEF)                                                                                               \
    void NAME##_sized(size_t size, carom_build *b, const DEF *def) {                                                   \
        DEF whole;                                                                                                     \
        if (def) carom_resize(&whole, sizeof whole, def, size);                                                        \
        NAME(b, def ? &whole : NULL);                                                                                  \
    }

ELEMENT(carom_build_planar, carom_planar_def, carom_body)
ELEMENT(carom_build_spatial, carom_spatial_def, carom_body)
ELEMENT(carom_build_moving, carom_moving_def, carom_body)
ELEMENT(carom_build_joint, carom_joint_def, carom_joint)
LOOSE(carom_build_spring, carom_spring_def)
LOOSE(carom_build_bushing, carom_bushing_def)
LOOSE(carom_build_motor, carom_motor_def)
LOOSE(carom_build_load, carom_load_def)
LOOSE(carom_build_contact, carom_contact_def)

carom_solid carom_build_solid_sized(size_t size, carom_build *b, carom_body of, const carom_solid_def *def) {
    carom_solid_def whole;
    if (def) carom_resize(&whole, sizeof whole, def, size);
    return carom_build_solid(b, of, def ? &whole : NULL);
}
