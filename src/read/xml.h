// xml.h: XML as a tree of elements, as far as URDF needs it: elements, attributes, comments, declarations, the five
// entities and numbers.
#pragma once
#include "mech/pool.h"
#include <carom/status.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct xml_attribute { const char *name, *value; struct xml_attribute *next; } xml_attribute;

typedef struct xml_element {
    const char *name, *file; // file: where it stands, of a file that another one includes; else NULL
    int line;
    xml_attribute *attributes;
    struct xml_element *child, *last, *next; // first and last child; the next of the same parent
} xml_element;

/// The root element; it lives in the pool.  NULL: err is `file:line: what`.  Text between elements is skipped.
xml_element *carom_xml_read(pool *memory, const char *text, size_t length, const char *file, carom_error *err);
const char *carom_xml_get(const xml_element *e, const char *attribute); // NULL: none
/// The first child of that name; the next one after `e` of the same name.  NULL: none.
const xml_element *carom_xml_child(const xml_element *e, const char *name);
const xml_element *carom_xml_again(const xml_element *e);
