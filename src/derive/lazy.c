// lazy.c: names that are made when an expression first uses them.
#include "derive/shapes/shapes.h"

const carom_lazy carom_lazy_names = {
    .angle = carom_joint_angle, .quantity = carom_pair_quantity, .unknown = carom_member_lookup};
