/* Internals of continuous audits, shared by their files: continuous.c has the queue and its slices,
 * continuous_source.c the objects and refused ones, continuous_walk.c walks over a namespace,
 * continuous_rule.c results, continuous_watch.c dependencies, continuous_scripts.c the handover between
 * generations. Owner: continuous.c. */
#pragma once
#include <sys/queue.h>

#include "audit/continuous/continuous.h"
#include "audit/continuous/dependencies.h"
#include "base/series/series.h"
#include "informer/shared/shared_factory.h"
#include "object/pack/granule_table.h"
#include <uthash.h>

enum { CELL_FRESH = 1, CELL_KNOWN = 2, CELL_UNTIL = 4, CELL_LEFT_OUT = 8, CELL_ERROR = 16 };

/* Result of a rule for an object. Zero-initialized it is not evaluated. */
struct result_cell {
    struct findings *findings;
    int32_t first_dependency;
    uint8_t verdict, flags;
};

/* Pair of a rule and one of its kinds. */
struct column {
    struct audited_rule *rule;
    struct object_source *source;
    struct result_cell *cells; /* by the slots of objects */
    size_t cap;
    bool ready;    /* its caches have synced */
    bool repeated; /* the rule names the same kind twice: evaluated once */
};

enum { OBJECT_NONE = UINT32_MAX };

struct audited_object {
    struct root *root;       /* a reference; NULL: an empty slot */
    uint32_t next;           /* in the queue, or among free slots */
    uint32_t before, behind; /* neighbours in its namespace */
    bool waits;
};

/* List of the objects of a source in one namespace, or in none. */
struct source_space {
    UT_hash_handle hh;
    uint32_t first, last;
    char ns[];
};

/* Objects of one kind, as one script caches them. */
struct object_source {
    TAILQ_ENTRY(object_source) link, working;
    struct continuous_audit *audit;
    struct script *script;
    struct informer_claim *claim;
    struct claim_handler *handler;
    struct column **columns;
    size_t column_count;
    struct audited_object *objects;
    size_t used, cap, count;
    uint32_t unused, first, last; /* free slots; first and last of the queue */
    struct granule_table by_key;  /* slots plus one */
    struct source_space *spaces;
    bool works;
};

/* Index of a watch that rules look up. */
struct dependency_watch_index {
    struct continuous_audit *audit;
    char *name;
    struct dependency_index *dependencies;
    struct index_source source; /* `values` NULL: key, namespace or all objects */
    bool by_function;           /* the source belongs to the claim */
};

struct watch {
    TAILQ_ENTRY(watch) link;
    struct continuous_audit *audit;
    struct script *script;
    struct informer_claim *claim;
    struct claim_handler *handler;
    struct dependency_watch_index *
        *indexes; /* those that rules use; a claim has a limit of them, which is reported there */
    size_t count;
};

struct audited_rule {
    TAILQ_ENTRY(audited_rule) link;
    struct continuous_audit *audit;
    struct rule_ref ref;
    char *id, *code; /* `code` NULL: not comparable */
    char *severity, *category;
    struct column *columns;
    size_t column_count;
    struct dependency_watch_index **uses; /* parallel to rule->uses */
    struct watch **watches;
    size_t use_count;
    bool untracked, untracked_due, overflowed, quarantined;
    bool is_incomplete; /* uses a cache with refused objects: not evaluated */
    uint64_t errors;
    struct buf error, error_object; /* of the last error */
    int64_t error_us;
    size_t counts[VERDICTS];
    struct series *results[VERDICTS], *evaluations[VERDICTS], *duration;
};

/* Rule whose id another rule has. Replaces that one when it goes. */
struct duplicate_rule {
    TAILQ_ENTRY(duplicate_rule) link;
    struct rule_ref ref;
    char *code;
    bool logged;
};

struct continuous_audit {
    struct continuous_options options;
    TAILQ_HEAD(sources, object_source) sources;
    TAILQ_HEAD(working, object_source) working;
    TAILQ_HEAD(watches, watch) watches;
    TAILQ_HEAD(audited_rules, audited_rule) rules;
    TAILQ_HEAD(duplicate_rules, duplicate_rule) duplicate_rules;
    LIST_HEAD(walks, continuous_walk) walks;
    struct dependencies *dependencies;
    struct timer turn, ready, untracked, midnight;
    int64_t due_ms;                /* of `turn` */
    const struct root *evaluating; /* object under evaluation; NULL: none */
    int64_t today;                 /* days since 1970, in UTC */
    bool inactive;
    bool full_logged;
    size_t pending, finding_bytes, left_out;
    struct buf gathered, text; /* of the evaluation in progress */
    struct series *pending_series, *left_out_series;
};

/* --- continuous.c */

/* Queues the object for evaluation, if it is not queued yet. */
void source_queue(struct object_source *source, uint32_t slot);
/* Takes the next queued object; OBJECT_NONE if there is none. */
uint32_t source_take(struct object_source *source);
/* Returns whether the server lacks the kind or one that the rule uses: the claim is suspended. */
bool column_lacks(const struct column *column);
/* Checks columns that are not ready. */
void continuous_check_ready(struct continuous_audit *audit);
int64_t continuous_now_s(const struct continuous_audit *audit);

/* --- continuous_source.c: refused objects */

/* Call when refused objects may have changed: stops or resumes evaluation of rules that use their kinds. */
void continuous_check_refused(struct continuous_audit *audit);

/* --- continuous_scripts.c */

/* Reports duplicate rules, except rules that one edit moves from one script to another. */
void continuous_report_duplicates(struct continuous_audit *audit);
/* Drops duplicate rules of the script; NULL: of all scripts. */
void continuous_drop_duplicates(struct continuous_audit *audit, const struct script *script);

/* --- continuous_source.c */

struct object_source *source_new(struct continuous_audit *audit, struct script *script,
                                 struct informer_claim *claim);
/* Moves a source to the claim of another generation, of the same informer. */
void source_move(struct object_source *source, struct script *script, struct informer_claim *claim);
/* Frees a source without columns. */
void source_free(struct object_source *source);
void source_add_column(struct object_source *source, struct column *column);
void source_remove_column(struct object_source *source, struct column *column);

/* --- continuous_walk.c */

/* Append an object to its namespace, and remove it. */
void source_link(struct object_source *source, uint32_t slot);
void source_unlink(struct object_source *source, uint32_t slot);
/* Moves walks on to the next source. Call before the source is freed. */
void source_forget_spaces(struct object_source *source);

/* --- continuous_rule.c */

/* Points the rule to the generation that runs from now on. */
void audited_rule_set(struct audited_rule *rule, const struct rule_ref *ref);
/* Creates a rule without columns; see column_begin. */
struct audited_rule *audited_rule_new(struct continuous_audit *audit, const struct rule_ref *ref,
                                      const char *code);
void audited_rule_free(struct audited_rule *rule);
void column_begin(struct column *column, struct audited_rule *rule, struct object_source *source);
void column_fit(struct column *column);
struct result_cell *column_cell(struct column *column, uint32_t slot);
/* Forgets the result for an object. */
void column_forget(struct column *column, uint32_t slot);
/* Evaluates the rule for an object. */
void column_evaluate(struct column *column, uint32_t slot);
/* Queues all objects of the rule for evaluation; results stay until then. */
void audited_rule_make_stale(struct audited_rule *rule, uint8_t flags);
void audited_rule_forget(struct audited_rule *rule);

/* --- continuous_watch.c */

struct watch *watch_new(struct continuous_audit *audit, struct script *script, struct informer_claim *claim);
/* Moves a watch to another generation. Drops indexes that no rule uses any more. */
void watch_move(struct watch *watch, struct script *script, struct informer_claim *claim);
void watch_free(struct watch *watch);
/* Returns the index with the name; creates it if missing. */
struct dependency_watch_index *watch_index(struct watch *watch, const char *name);
