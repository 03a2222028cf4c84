/* The scripts of an audit: loaded, never started, so that nothing but their rules is ever called.
 * Owner: the audit; to be closed before the host. On the main thread. */
#pragma once
#include "app/audit/audit_request.h"
#include "audit/fix/fixer.h"
#include "audit/rules/auditor.h"
#include "script/generation/script.h"

struct audit_scripts {
    struct script **items;
    size_t count;
    struct auditor *auditor;
    struct fixer *fixer; /* NULL: no --fix */
};

/* Returns the settings that the scripts are loaded with; borrows from the request. */
struct engine_settings audit_scripts_settings(const struct audit_request *request);
/* Loads the scripts. Reports all failures: the first by err, the others on stderr. Returns false also if no
 * script has a rule, or a parameter has no rule. */
bool audit_scripts_load(struct audit_scripts *scripts, const struct audit_request *request,
                        const struct script_host *host, struct err *err);
/* Creates caches for kinds that rules use, without which they are loaded; not for kinds that they only
 * match. */
void audit_scripts_want_uses(struct audit_scripts *scripts);
/* Creates the auditor. Borrows `pool` (of the objects), `catalogue` and `table` until the end. */
bool audit_scripts_begin(struct audit_scripts *scripts, const struct audit_request *request,
                         struct pool *pool, const struct catalogue *catalogue, struct audit_table *table,
                         struct err *err);
void audit_scripts_close(struct audit_scripts *scripts);
