// tree.h: a YAML text as a tree of scalars, lists and maps that know their place in the file.
//
// Every scalar is text; what it means is decided by whoever reads the tree.  Anchors, aliases, tags and
// several documents are refused, so a tree is never larger than its text.
#pragma once
#include "model/text/pool.h"
#include <carom/status.h>
#include <stdbool.h>

typedef enum tree_kind { TREE_TEXT, TREE_LIST, TREE_MAP } tree_kind;

typedef struct tree {
    tree_kind kind;
    bool flow;        // stands inside { } or [ ], or is such a map or list
    bool plain;       // a scalar without quotes
    bool aligned;     // byte k of the text stands k characters after its start in the file
    int line, column; // 1-based start (of the text itself, after an opening quote)
    const char *text; // scalars; ends in NUL and holds none
    size_t length;
    struct tree *key;          // child of a map: its key
    struct tree *first, *next; // children
    int count;
} tree;

enum { TREE_DEEPEST = 64, TREE_LARGEST = 1000000 };
#define TREE_BYTES ((size_t)16 << 20)

/// NULL on failure; err->text is `file:line:column: what; what to do`.
tree *carom_tree_read(pool *p, const char *text, size_t length, const char *file, carom_error *err);

/// Column of byte `offset` of a scalar, or of its start when that is not known.
int carom_tree_column(const tree *n, size_t offset);
/// The child of a map with this key, or NULL.
tree *carom_tree_get(const tree *map, const char *key);
/// A scalar with nothing in it, as in `forces:` without a value.
bool carom_tree_empty(const tree *n);
