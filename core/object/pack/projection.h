/* Fields that are kept of an object while it is packed: only some paths (`fields`), or all but some
 * (`prune`). Its identity is always kept: apiVersion, kind, and name, namespace, uid and resourceVersion of
 * its metadata. Owner: shared by count; immutable, and so may be used by any thread at once. */
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

/* `fields` with a count of 0 keeps everything; `prune` is dropped from what is kept. Steps may be names, [*]
 * and [?name=='text']; a path begins with a name and has no [n]. A new reference; NULL with an error that
 * names the path. */
struct projection *projection_new(struct projection_paths fields, struct projection_paths prune,
                                  struct err *err);
/* Keeps the fields of these names, at whatever depth, where the fields above are kept; takes the names. */
struct projection *projection_of_names(struct name_set *names);
/* NULL for one by paths. */
const struct name_set *projection_names(const struct projection *projection);
struct projection *projection_ref(struct projection *projection);
/* NULL is allowed. */
void projection_unref(struct projection *projection);
/* The same for the same sets of paths, in whatever order they were given: "fields a,b prune c". */
const char *projection_text(const struct projection *projection);
/* Returns whether the projection keeps all of metadata, and nothing else. */
bool projection_is_metadata(const struct projection *projection);
/* Of the text; 0 for NULL. */
uint64_t projection_hash(const struct projection *projection);

/* Position of a walk from the top: the paths that may still match below, and whether all else is kept. */
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
/* One step down, to a value: `key` is its key in a map, a NULL pointer in an array; `level` counts from 0.
 * False: it is dropped. `*below` says what to do with what is in it. */
bool projection_enter(const struct projection *projection, size_t level, struct projection_state state,
                      struct str key, const struct projection_value *value, struct projection_state *below);
/* Everything from here on is kept. */
static inline bool projection_is_done(struct projection_state state)
{
    return state.keep && state.open == 0;
}
