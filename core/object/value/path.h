/* Paths into objects: names by dots, ['quoted keys'], [n] (0-based), [*], [?name=='text'].
 * Owner: path_compile's caller frees by path_free. A compiled path is immutable and may
 * be used by any thread. */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include "object/value/value.h"

enum { PATH_STEPS_MAX = 32, PATH_LENGTH_MAX = 1024 };

struct path;

/* Compiles a path; returns NULL with an error that names the position: `path "a..b": empty name at 3`. */
struct path *path_compile(struct str text, struct err *err);
void path_free(struct path *path);
/* Returns the path as written. */
struct str path_text(const struct path *path);
/* Has [*] or [?...]: may have many matches. */
bool path_is_multi(const struct path *path);
/* Prefetches the value behind step `at` of the path, 0 for the first, if that and all before it are fields,
 * which are read; see root_prefetch. */
void path_prefetch(const struct path *path, size_t at, struct value from);
/* Returns the first match, or absent. */
struct value path_get(const struct path *path, struct value from);
/* Calls `fn` for every match in order until it returns false; returns the number of calls. */
size_t path_each(const struct path *path, struct value from, bool (*fn)(void *ctx, struct value v),
                 void *ctx);

/* Steps one by one, for walks over something else than packed objects. Strings borrow from the path. */
enum path_step_kind {
    PATH_FIELD, /* the field `name` of a map */
    PATH_INDEX, /* the element `index` of an array */
    PATH_ALL,   /* every element of an array, every value of a map */
    PATH_MATCH, /* those of them whose field `name` is the string `expected` */
};
struct path_step {
    enum path_step_kind kind;
    struct str name, expected;
    uint32_t index;
};
size_t path_step_count(const struct path *path);
struct path_step path_step_at(const struct path *path, size_t i);

/* Returns whether a key may stand in a path as it is; others need ['...'], with \ before ' and \. */
bool path_name_is_plain(struct str name);
