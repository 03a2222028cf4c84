/* Kinds that rules name, and whether they can exist: a name that no server can have is a mistake, and must
 * not look like a cluster without such objects. Owner: stateless. Any thread. */
#pragma once
#include <stdbool.h>

#include "app/audit/audit_scripts.h"
#include "informer/store/indexer.h"
#include "kube/kinds/resource.h"

/* Marks rules that use a kind without a cache as not evaluated: their findings would be wrong. Call once the
 * caches are filled. `of_files`: an input without objects of a possible kind counts as an empty cache.
 * `nobody` ("the server did not give") is for the reason. Returns the number of such rules, and appends their
 * ids to `ids` by audit_kinds_name_rule. */
size_t audit_kinds_leave_out(const struct audit_scripts *scripts, bool of_files, const char *nobody,
                             struct buf *ids);
/* Marks one rule, by its number in the table, with `nobody` as above. */
void audit_kinds_leave_out_rule(struct auditor *auditor, uint32_t rule, const char *nobody,
                                const struct informer_claim *uses);
/* Appends one more to "a, b". */
void audit_kinds_name_rule(struct buf *ids, const char *id);
/* Appends the number and ids of rules that were not evaluated, in lines of readable length. */
void audit_kinds_put_left_out(size_t count, const char *nobody, const struct buf *ids, struct buf *out);

/* For files: reports on stderr each kind that cannot exist and that no audited object has, once, with the
 * place of the first rule that names it. Returns false if there was one. */
bool audit_kinds_check(const struct audit_scripts *scripts);

/* Callbacks for kinds that a server does not have. */
struct audit_kinds_sink {
    /* The kind cannot exist, or may be unknown only here: the audit is incomplete. */
    void (*missing)(void *ctx, const char *text);
    void (*absent)(void *ctx, const char *text); /* the server does without it, and has no objects of it */
    void *ctx;
};
/* For a server with these kinds: reports each kind that it lacks and that rules or informers of scripts name,
 * once, with the place of the first rule. */
void audit_kinds_report_missing(struct script *const *scripts, size_t count,
                                const struct shared_factory *factory, const struct catalogue *catalogue,
                                const struct audit_kinds_sink *sink);

/* --- Targets of an audit of a cluster: each kind of each namespace that rules match once, in the order of
 * the rules. Owner: the caller, zeroed at first, until audit_targets_clear; caches are borrowed,
 * and names of namespaces are those of the scripts. On the main thread. */

struct audit_target {
    struct resource resource;
    const char *namespace_; /* "": all, or the kind has none */
    struct indexer *cache;  /* NULL: none has it */
};

struct audit_targets {
    struct audit_target *items;
    size_t count;
};

/* Iterates kinds of rules that are evaluated, as far as the catalogue has them. */
void audit_targets_find(struct audit_targets *targets, const struct audit_scripts *scripts,
                        const struct catalogue *catalogue);
void audit_targets_clear(struct audit_targets *targets);
