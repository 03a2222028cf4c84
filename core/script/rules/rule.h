/* Rules of a script: what it gave to k8s.rule, and their evaluation. A rule looks at an object, at
 * what its `uses` find in caches, and says what it thinks of it; it changes nothing, and may be evaluated on
 * the same object again at any time. Owner: the script has its rules; texts are borrowed. On the engine
 * thread, or in a child that was forked from it; outside of Lua, but for what is for bind_rule.c. */
#pragma once
#include <lua.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "informer/store/indexer.h"
#include "object/pack/pool.h"
#include "script/vm/quarantine.h"

struct handler_options;
struct informer_claim;
struct name_set;
struct script;

enum severity { SEVERITY_INFO, SEVERITY_LOW, SEVERITY_MEDIUM, SEVERITY_HIGH, SEVERITY_CRITICAL, SEVERITIES };
/* From the best to the worst: what a rule says of an object as a whole is the worst of what it said of it. */
enum verdict { VERDICT_PASS, VERDICT_SKIP, VERDICT_WARN, VERDICT_FAIL, VERDICT_ERROR, VERDICTS };

/* "high"; "fail". */
const char *severity_name(enum severity severity);
/* False for what is none. */
bool severity_of(struct str name, enum severity *out);
const char *verdict_name(enum verdict verdict);

enum { RULES_MAX = 1000, RULE_KINDS_MAX = 50, RULE_USES_MAX = 50 };

/* Other objects that a rule looks at: what `use.NAME` finds. Only the caches of these need to be filled to
 * ask it.
 */
struct rule_use {
    char *name;
    struct informer_claim *claim; /* borrowed of the script; rules share them, other verbs do not */
    char *index; /* that finds them: a name of the claim's (claim_index.h), "namespace", "key"; "": all */
};

/* Limits on annotations by which owners of objects accept findings of the rule. */
struct rule_ignore {
    bool forbidden;
    int max_days;                       /* from now; 0: unlimited */
    struct handler_options *namespaces; /* NULL: all */
};

struct script_rule {
    char *id, *title, *category;
    char *why, *how; /* why it matters, and what to do; may be empty */
    enum severity severity;
    struct informer_claim *kinds[RULE_KINDS_MAX]; /* that it matches; apart from the claims of `uses` */
    size_t kind_count;
    struct rule_use *uses; /* by name */
    size_t use_count;
    struct handler_options *options; /* its namespaces */
    struct rule_ignore ignore;
    int check, skip, fix, use, values; /* in the registry; skip and fix may be LUA_NOREF */
    int code;                          /* there too: what its results depend on */
    bool has_skip, has_fix, has_uses;
    struct quarantine quarantine; /* of one that is watched */
    void (*lifted)(void *ctx);    /* NULL: it is not */
    void *lifted_ctx;
};

struct script_rules {
    struct script_rule *items;
    size_t count;
    struct rule_run *run; /* the call in progress; NULL: none */
};

size_t script_rule_count(const struct script *script);
const struct script_rule *script_rule(const struct script *script, size_t i);
/* Returns the place where it was registered, as an entry of the inventory. */
struct inventory_entry;
const struct inventory_entry *script_rule_place(const struct script *script, size_t i);

/* One thing that a rule says. */
struct rule_finding {
    enum verdict verdict;
    struct str message; /* why; of a pass empty */
    struct str path;    /* "spec.containers[0].image"; empty: the object as a whole */
    struct str value;   /* what stands there, as JSON; empty: not reported */
    struct str reason;  /* why it is accepted by the object's owner, or is not any more; rules give none */
};
struct rule_sink {
    /* For each, in their order; not for a plain pass. Borrowed texts. Inside a call into Lua: raises nothing,
     * and calls no script. */
    void (*found)(void *ctx, const struct rule_finding *finding);
    /* Each look that the check takes at other objects, before it is taken: by rule->uses[use], at what is
     * found under `value`, which is empty for all. NULL: nobody asks. */
    void (*depends_on)(void *ctx, size_t use, struct str value);
    void *ctx;
    /* Of an object that has the fields of these names alone; NULL: it is whole. `missed` is called for each
     * name that a call asks for and that is none of them; of a `whole` one, for all that is in it; an empty
     * one is the whole object. What the rule says is worth nothing then, and script_evaluate_rule is to be
     * called again with an object that has it. */
    const struct name_set *projection;
    void (*missed)(void *ctx, struct str name, bool whole);
};

enum { RULE_FINDINGS_MAX = 1000 }; /* of one object */

/* Appends what the rule is, with all that its functions reach: of two generations of a script, rules with the
 * same text say the same of the same objects. False: it cannot be told. Outside of any call. */
bool script_rule_code(struct script *script, size_t rule, struct buf *out);
/* Returns whether the rule matches objects of that namespace. */
bool rule_takes(const struct script_rule *rule, struct str ns);
/* Returns whether findings of objects of that namespace may be accepted. */
bool rule_may_be_ignored_in(const struct script_rule *rule, struct str ns);
/* Evaluates the rule on the object. VERDICT_ERROR: it raised, or was over a limit; the sink got the reason,
 * after what it had reported before; or it is in quarantine. */
enum verdict script_evaluate_rule(struct script *script, size_t rule, struct root *object,
                                  const struct rule_sink *sink);
/* Of who asks a rule for ever: from now on one of which three calls in a row went over a limit is in
 * quarantine (quarantine.h), as "rule/ID". It is not called, and each object is an error. `lifted` is called
 * when it may be called again. Outside of any call. */
void script_watch_rule(struct script *script, size_t rule, void (*lifted)(void *ctx), void *ctx);
/* Nobody does any more. */
void script_leave_rule(struct script *script, size_t rule);
bool script_rule_is_quarantined(const struct script *script, size_t rule);
/* Appends what the rule's `fix` makes of the object: a merge patch, or a whole manifest, as JSON; nothing
 * when it has no fix, or the fix returns nil. */
bool script_fix_by_rule(struct script *script, size_t rule, struct root *object, struct buf *out,
                        struct err *err);

/* --- for the files of this folder */

/* The call of a rule in progress. */
struct rule_run {
    const struct script_rule *rule;
    struct root *object;
    const struct rule_sink *sink;
    enum verdict verdict;
    size_t findings;
    bool skipped;     /* by the rule's `skip`: it was not checked */
    struct buf *json; /* of a fix */
};

void rules_clear(struct script *script);
/* The string at `idx`, as much of it as reports keep; it stays on the stack. */
struct str rule_message(lua_State *L, int idx);
/* By r:pass, r:fail, r:warn and r:skip. */
void rule_report(struct rule_run *run, const struct rule_finding *finding);

/* --- The caches of what the rules of scripts look at. Owner: the caller frees the array, not what is in it.
 * On the thread of the scripts. */

/* Each once, in the order of the rules: several may look at one kind, by a cache that they share. A kind that
 * there is no cache of is left out. */
struct indexer **rule_caches(struct script *const *scripts, size_t script_count, size_t *count);
