/* What an operator gives to scripts wherever they are loaded: limits, trust, folders of modules, parameters
 * of rules. Part of struct options. Owner: the command's stack. */
#pragma once
#include "app/options/options.h"
#include "engine/reload/script_files.h"
#include "script/generation/script.h"

/* A table for flags_parse and flags_print, as those of options.h. */
const struct flag *script_flags(struct options *options);
/* Those of limits alone. */
const struct flag *limit_flags(struct options *options);
/* What is given to rules: for commands that ask them. */
const struct flag *param_flags(struct options *options);
/* Makes `rule_params` of the flags. */
bool options_read_params(struct options *options, struct err *err);
/* Makes `script_limits` of the flags. ERR_INVALID names the flag. */
bool options_set_limits(struct options *options, struct err *err);
/* Who is trusted must be one of the scripts. ERR_INVALID names one that is not, and what may have been meant.
 */
bool options_check_trusted(const struct options *options, const struct script_files *files, struct err *err);
/* The host borrows from the options. */
void options_give_scripts(const struct options *options, struct script_host *host);
