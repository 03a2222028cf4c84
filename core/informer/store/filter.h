/* Filter of the objects that a handler is notified of: namespaces, a label selector, values at paths, as one
 * predicate (I-18). Owner: its creator by filter_new; the handler options it becomes a part of take it.
 * Immutable once it is in use; filter_passes allocates nothing and may be called from any callback of the
 * engine thread. */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include "object/value/value.h"

struct filter;
struct path;
struct selector;

/* Everything passes. */
struct filter *filter_new(void);
void filter_free(struct filter *filter);

/* A label selector as contract X has it. */
bool filter_set_selector(struct filter *filter, struct str selector, struct err *err);
/* A name with `*` and `?`; a `!` before it keeps out what it matches. An object passes when one of the names
 * without `!` matches, or there are none, and none of those with it does. */
bool filter_add_namespace(struct filter *filter, struct str pattern, struct err *err);
/* From here on filter_add_* values are those that the object may have at `path`: with several matches of the
 * path, or several values, one that agrees is enough. */
bool filter_add_path(struct filter *filter, struct str path, struct err *err);
void filter_add_string(struct filter *filter, struct str value);
/* Numbers agree by value, whether the object has 1 or 1.0. */
void filter_add_number(struct filter *filter, double value);
void filter_add_bool(struct filter *filter, bool value);
/* Agrees with null, and with a path that matches nothing. */
void filter_add_null(struct filter *filter);

/* Each path with conditions; `with_absent`: what matches nothing agrees too. */
void filter_each_path(const struct filter *filter,
                      void (*fn)(void *ctx, const struct path *path, bool with_absent), void *ctx);

/* Borrowed; NULL: all labels. */
const struct selector *filter_selector(const struct filter *filter);
/* Returns whether an object of that namespace ("" for none) may pass. */
bool filter_admits_namespace(const struct filter *filter, struct str ns);
/* The names that filter_add_namespace was given; `is_out`: with `!`, which is no part of `name`. */
void filter_each_namespace(const struct filter *filter, void (*fn)(void *ctx, const char *name, bool is_out),
                           void *ctx);
bool filter_passes(const struct filter *filter, const struct root *object);
