/* Rights that scripts need and nobody gives. Owner: the command, on the main thread. */
#pragma once
#include "app/check/check.h"
#include "kube/api/access_review.h"

struct needed_right;

struct needed_rights {
    struct needed_right *items;
    size_t count;
};

/* Notes what a script needs, with where it says so; kinds that are unknown are left out. */
void needed_rights_add(struct needed_rights *needed, size_t number, const struct script *script,
                       const char *file, const struct catalogue *catalogue);
/* Answers the questions; false with an error. */
typedef bool access_check_fn(void *ctx, struct access_check *questions, size_t count, struct err *err);
/* Asks, and adds a finding for each right that is missing. False with an error when no answer came. */
bool needed_rights_check(const struct needed_rights *needed, access_check_fn *ask, void *ctx,
                         struct findings *findings, struct err *err);
void needed_rights_clear(struct needed_rights *needed);
