/* Kinds of objects besides the pods of pods.h, and pods with something that used to be dear, as bytes of a
 * watch: each has a first state, which is a watch-list, and two more. Owner: the guard. Each function that
 * returns a number does the work of a phase, and returns how many objects it was about. */
#pragma once
#include <stddef.h>

struct guard_kind;

/* Returns the number of kinds. */
size_t guard_kinds(void);
/* Makes the texts of the kind with this number, and a pool for its objects. */
struct guard_kind *guard_kind_new(size_t number);
void guard_kind_free(struct guard_kind *kind);
const char *guard_kind_name(const struct guard_kind *kind);
/* simdjson reads each object into its own form. */
size_t guard_kind_reference(struct guard_kind *kind);
/* Packs the next state of each object: the first time these are the objects of a first list. */
size_t guard_kind_state(struct guard_kind *kind);
