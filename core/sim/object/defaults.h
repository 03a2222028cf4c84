/* Defaults that the server sets for fields that a body omits: those of the kind's schema, and what follows
 * from other fields. Owner: the object is the caller's and is changed in place. May be called anywhere. */
#pragma once
#include <jansson.h>

#include "sim/object/kind.h"

/* Sets the defaults that a body has as soon as it is read. */
void sim_apply_scheme_defaults(const struct sim_kind *kind, json_t *object);
/* Likewise, and what is allocated or admitted with every write, which nobody owns. */
void sim_apply_defaults(const struct sim_kind *kind, json_t *object);
/* Sets what only a create sets: the first status, finalizers, the selector of a job. */
void sim_apply_first(const struct sim_kind *kind, json_t *object);
/* Returns an object of a built-in kind of which nothing was read: its zeros. Takes `head`, kind and version.
 */
json_t *sim_unread(const struct sim_kind *kind, json_t *head);
