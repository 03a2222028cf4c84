/* Settings of an operator for scripts wherever they are loaded: limits, trust, directories of modules,
 * parameters of rules. Part of struct options. Owner: the command's stack. */
#pragma once
#include "audit/rules/suppression_limits.h"
#include "base/cli/flags.h"
#include "engine/engine_settings.h"
#include "engine/reload/script_files.h"
#include "informer/leader/leadership.h"
#include "script/generation/script.h"

struct options;

/* A table for flags_parse and flags_print, as those of options.h. */
const struct flag *script_flags(struct options *options);
/* Returns the flags of limits alone. */
const struct flag *limit_flags(struct options *options);
/* Returns the flags of rule parameters, for commands that evaluate rules. */
const struct flag *param_flags(struct options *options);
/* Returns the flags that limit accepted findings, for commands that evaluate rules. */
const struct flag *ignore_flags(struct options *options);
/* Checks these flags. ERR_INVALID names the wrong one. */
bool options_check_ignore(const struct options *options, struct err *err);
/* Returns the limits that the flags mean. */
struct suppression_limits options_suppression(const struct options *options);
/* Parses the flags into `given_params`. */
bool options_read_params(struct options *options, struct err *err);
/* Parses the flags into `script_limits`. ERR_INVALID names the flag. */
bool options_set_limits(struct options *options, struct err *err);
/* Sets the name of the group of --shard; sets an error unless it and --shard-kinds may be. */
bool options_check_shard(struct options *options, struct err *err);
/* Checks that each trusted name is one of the scripts. ERR_INVALID names one that is not, and the nearest
 * name. */
bool options_check_trusted(const struct options *options, const struct script_files *files, struct err *err);
/* Sets `dry_run`, and checks that each SCRIPT of `dry_runs` is one of the scripts. ERR_INVALID as above. */
bool options_check_dry_runs(struct options *options, const struct script_files *files, struct err *err);
/* The settings borrow from the options. */
void options_give_scripts(const struct options *options, struct engine_settings *settings);

/* --- The --leader-elect flags, with client-go's conventional times as defaults (L-1), and what they make of
 * the lease. Owner: the command's stack. */

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
struct lease_config leader_flags_lease(const struct leader_flags *flags, const char *here);
