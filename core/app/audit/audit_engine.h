/* Audits of a running engine's caches: the engine forks children, which evaluate the rules and write findings
 * to pipes that are read here. Owner: the command, on the main thread; blocks. */
#pragma once
#include "app/audit/audit_request.h"

/* A table for flags_parse and flags_print, as those of options.h; sets the defaults. */
const struct flag *audit_engine_flags(struct audit_request *request);

struct audit_engine_facts {
    size_t children;
    int64_t pause_ns; /* pause of the engine for the forks */
};

/* Prints on stderr the reasons for an incomplete result, and the output of scripts. */
enum audit_end audit_engine(const struct audit_request *request, struct audit_table *table,
                            struct audit_engine_facts *facts, struct err *err);
/* A line on stderr: how many objects, and for how long the engine paused. */
void audit_engine_report_pause(const struct audit_engine_facts *facts, const struct audit_table *table);
