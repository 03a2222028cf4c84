/* The kinds that rules name, and whether there may be such: a name that nobody can have is a mistake, which
 * must not look like a cluster without such objects. Owner: nothing is kept. Any thread. */
#pragma once
#include <stdbool.h>

#include "app/audit/audit_scripts.h"
#include "informer/store/indexer.h"
#include "kube/kinds/resource.h"

/* Once the caches are filled: rules that use what is not in one are not evaluated, as they would find what is
 * not so. `of_files`: an input that has none of a kind that may be is an empty cache of it. `nobody` ("the
 * server did not give") is for the reason. Returns how many there are, and appends their ids to `ids` by
 * audit_kinds_name_rule. */
size_t audit_kinds_leave_out(const struct audit_scripts *scripts, bool of_files, const char *nobody,
                             struct buf *ids);
/* One, by its number in the table, as `nobody` what it uses. */
void audit_kinds_leave_out_rule(struct auditor *auditor, uint32_t rule, const char *nobody,
                                const struct informer_claim *uses);
/* Appends one more to "a, b". */
void audit_kinds_name_rule(struct buf *ids, const char *id);
/* Appends that so many rules were not evaluated, as `nobody` ("the server did not give") what they use, and
 * which; in lines that are no longer than people read. */
void audit_kinds_put_left_out(size_t count, const char *nobody, const struct buf *ids, struct buf *out);

/* Of files: tells on stderr each kind that may not be and that nothing the auditor has seen is of, once, with
 * the place of the first rule that names it. False when there was one. */
bool audit_kinds_check(const struct audit_scripts *scripts);

/* Callbacks for kinds that a server does not have. */
struct audit_kinds_sink {
    /* Such a kind may not be, or nobody knows whether the server has it: the audit is not whole. */
    void (*missing)(void *ctx, const char *text);
    void (*absent)(void *ctx, const char *text); /* the server does without it, and has no objects of it */
    void *ctx;
};
/* Of a server with these kinds: tells what rules and informers of scripts name and it does not have, each
 * kind once, with the place of the first rule. */
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

/* Of rules that are evaluated. A kind that the catalogue does not have is none. */
void audit_targets_find(struct audit_targets *targets, const struct audit_scripts *scripts,
                        const struct catalogue *catalogue);
void audit_targets_clear(struct audit_targets *targets);
