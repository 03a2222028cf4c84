/* Fields that are kept of an object while it is packed: only some paths (`fields`), or all but some
 * (`prune`). Its identity is always kept: apiVersion, kind, and name, namespace, uid and resourceVersion of
 * its metadata. Owner: counted references; immutable, so any thread may use it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "object/value/name_set.h"

enum { PROJECTION_PATHS_MAX = 60 }; /* of fields and prune together */

struct projection;

struct projection_paths {
    const char *const *texts;
    size_t count;
};

/* Creates a projection. `fields` with a count of 0 keeps everything; `prune` drops from that. Steps may be
 * names, [*] and [?name=='text']; a path begins with a name and has no [n]. Returns a new reference; NULL
 * with an error that names the path. */
struct projection *projection_new(struct projection_paths fields, struct projection_paths prune,
                                  struct err *err);
/* Creates one that keeps the fields of these names, at any depth, if the fields above are kept; takes the
 * names. */
struct projection *projection_of_names(struct name_set *names);
/* Returns the names; NULL for one by paths. */
const struct name_set *projection_names(const struct projection *projection);
struct projection *projection_ref(struct projection *projection);
/* NULL is allowed. */
void projection_unref(struct projection *projection);
/* Returns the text, equal for equal sets of paths in any order: "fields a,b prune c". */
const char *projection_text(const struct projection *projection);
/* Returns whether the projection keeps all of metadata, and nothing else. */
bool projection_is_metadata(const struct projection *projection);
/* Returns whether it keeps single fields: neither all of metadata alone, nor all but some. */
bool projection_keeps_few(const struct projection *projection);
/* Returns a hash of the text; 0 for NULL. */
uint64_t projection_hash(const struct projection *projection);

/* Position of a walk from the top: the paths that may still match below, and whether everything else is kept.
 */
struct projection_state {
    uint64_t open;
    bool keep;
};
struct projection_state projection_start(const struct projection *projection);
/* Facts about a value before the walk reads it. */
struct projection_value {
    bool is_container; /* a map or an array */
    /* Returns whether it is a map in which `name` is the string `expected`. */
    bool (*field_is)(const struct projection_value *value, struct str name, struct str expected);
};
/* Steps down to a value: `key` is its key in a map, a NULL pointer in an array; `level` counts from 0.
 * Returns false if it is dropped; else `*below` is the state of its content. */
bool projection_enter(const struct projection *projection, size_t level, struct projection_state state,
                      struct str key, const struct projection_value *value, struct projection_state *below);
/* Returns whether everything from here on is kept. */
static inline bool projection_is_done(struct projection_state state)
{
    return state.keep && state.open == 0;
}
