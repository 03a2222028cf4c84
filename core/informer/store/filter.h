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

/* Creates a filter that everything passes. */
struct filter *filter_new(void);
void filter_free(struct filter *filter);

/* Sets the label selector (contract X). */
bool filter_set_selector(struct filter *filter, struct str selector, struct err *err);
/* Adds a name with `*` and `?`; a `!` before it excludes what it matches. An object passes if a name without
 * `!` matches, or there is none, and no name with it does. */
bool filter_add_namespace(struct filter *filter, struct str pattern, struct err *err);
/* Adds a path, to which the following filter_add_* values belong. With several matches of the path, or
 * several values, one match is enough. */
bool filter_add_path(struct filter *filter, struct str path, struct err *err);
void filter_add_string(struct filter *filter, struct str value);
/* Compares numbers by value, so that 1 and 1.0 are equal. */
void filter_add_number(struct filter *filter, double value);
void filter_add_bool(struct filter *filter, bool value);
/* Matches null, and a path that matches nothing. */
void filter_add_null(struct filter *filter);

/* Calls `fn` for each path with conditions; `with_absent`: an absent value passes too. */
void filter_each_path(const struct filter *filter,
                      void (*fn)(void *ctx, const struct path *path, bool with_absent), void *ctx);

/* Returns the selector, borrowed; NULL: all labels. */
const struct selector *filter_selector(const struct filter *filter);
/* Returns whether an object of that namespace ("" for none) may pass. */
bool filter_admits_namespace(const struct filter *filter, struct str ns);
/* Calls `fn` for each name of filter_add_namespace; `is_out`: with `!`, which is not part of `name`. */
void filter_each_namespace(const struct filter *filter, void (*fn)(void *ctx, const char *name, bool is_out),
                           void *ctx);
bool filter_passes(const struct filter *filter, const struct root *object);
