/* Evaluates a rule on an object and applies the suppressions of its owner (suppression.h).
 * Owner: nothing is kept; all is borrowed. On the thread of the scripts, outside of any call into them. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/rules/suppression_limits.h"
#include "base/buf.h"
#include "script/rules/rule.h"

/* A rule of a script. */
struct rule_ref {
    struct script *script;
    size_t number; /* in its script */
    const struct script_rule *rule;
};

struct evaluation_sink {
    /* As struct rule_sink has them. What is accepted is skipped, with a reason, and says what it said. */
    void (*found)(void *ctx, const struct rule_finding *finding, bool accepted);
    void (*depends_on)(void *ctx, size_t use, struct str value); /* may be NULL */
    void *ctx;
    const struct name_set *projection; /* NULL: the object is whole, and nothing can be missed */
    void (*missed)(void *ctx, struct str name, bool whole);
};

struct evaluation_options {
    struct root *object;
    int64_t now_s;    /* since 1970: what accepted findings expire by */
    struct buf *text; /* for reasons */
    /* Returns whether there is a rule of that id, so that its annotation is not a misspelt one of another
     * rule. */
    bool (*is_rule)(void *ctx, struct str id);
    void *ctx;
    const struct suppression_limits *limits;
};

struct evaluation {
    enum verdict verdict;
    bool accepted;
    bool until; /* accepted, or refused, until a day: another day may say otherwise */
};

struct evaluation rule_evaluate(const struct rule_ref *ref, const struct evaluation_options *options,
                                const struct evaluation_sink *sink);
