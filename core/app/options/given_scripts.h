/* Scripts that `-f` names and that are no files: `-f -`, standard input, and `-f
 * https://HOST/PATH#sha256=HEX`. Both are read once, before the engine runs, and kept by the process
 * (bundle_give_text). Owner: the caller; paths live as long as the process. */
#pragma once
#include <stdbool.h>

#include "base/cli/flags.h"
#include "base/err.h"

/* Replaces each of them in `files` by the path under which its text was given: "stdin", or the URL without
 * query and digest. An error names the argument without its query: one that cannot be read, fetched, is over
 * its limit or is not that of the digest. */
bool given_scripts_resolve(struct flag_list *files, struct err *err);
