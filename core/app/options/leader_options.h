/* The --leader-elect flags, with client-go's conventional times as defaults (L-1), and what they make of the
 * lease. Owner: the command's stack. */
#pragma once
#include "base/cli/flags.h"
#include "informer/leader/leadership.h"

struct leader_flags {
    bool elect;
    int64_t duration_ms, renew_ms, retry_ms;
    const char *namespace_; /* NULL: where the process runs */
    const char *name;
};

/* A table for flags_parse and flags_print, bound to `flags`, whose defaults it sets; static. */
const struct flag *leader_flags(struct leader_flags *flags);
/* ERR_INVALID names the flags whose times do not go together. */
bool leader_flags_check(const struct leader_flags *flags, struct err *err);
/* The lease of the flags, its texts borrowed; `here` is the namespace of the process when nothing says. */
struct lease_wish leader_flags_lease(const struct leader_flags *flags, const char *here);
