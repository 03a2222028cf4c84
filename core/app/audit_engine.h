/* Audits of a running engine's caches: the engine forks children, which ask the rules and write what they
 * find into pipes that are read here. Owner: the command, on the main thread; blocks. */
#pragma once
#include "app/audit_request.h"

/* A table for flags_parse and flags_print, as those of options.h; sets the defaults. */
const struct flag *audit_engine_flags(struct audit_request *request);

/* What makes the result incomplete is told on stderr, as are the engine's pause and what scripts print. */
enum audit_end audit_engine(const struct audit_request *request, struct audit_table *table, struct err *err);
