/* Rights that scripts need and the server does not give. Owner: the command, on the main thread. */
#pragma once
#include "app/asker.h"
#include "app/check.h"

struct needed_right;

struct needed_rights {
    struct needed_right *items;
    size_t count;
};

/* Notes what a script needs, with where it says so; kinds that are unknown are left out. */
void needed_rights_add(struct needed_rights *needed, size_t number, const struct script *script,
                       const char *file, const struct catalogue *catalogue);
/* Asks, and adds a finding for each right that is missing. False with an error when no answer came. */
bool needed_rights_check(const struct needed_rights *needed, struct asker *asker, struct findings *findings,
                         struct err *err);
void needed_rights_clear(struct needed_rights *needed);
