/* A rule of the schema bundle while it is applied to a value; see rules.h. Owner: the stack of the check;
 * everything is borrowed but the causes that are added. */
#pragma once
#include <jansson.h>

#include "schema/rules.h"

/* A value that a set of rules is applied to, within another. Causes name it by the steps to it. */
struct rule_level {
    const struct rule_level *above;
    const char *step; /* "spec.containers"; "" of the object itself */
    const char *key;  /* of a map; NULL: `index`, if there is a `list` */
    size_t index;
    const json_t *list;        /* whose element it is; NULL: of none */
    const json_t *value, *old; /* NULL: there is none */
    const json_t *given;       /* likewise: as the body has it, with empty lists and maps */
};

struct rule_check {
    const struct schema_rule *rule;
    const struct rule_level *level;
    const json_t *value, *old, *given; /* at the rule's path */
    json_t *causes;
};

/* Returns whether a server takes the value for one that is not set. */
bool sim_rule_empty(const json_t *value);
/* Returns what causes show of the value: of one that is empty what was given, or null. */
json_t *sim_rule_shown(const struct rule_check *check);
/* Returns the path that causes name, with `below` (may be "") at its end; the caller's. */
char *sim_rule_path(const struct rule_check *check, const char *below);
/* Appends a cause for the value at that path. */
void sim_rule_add(const struct rule_check *check, const char *type, const char *below, const json_t *value,
                  const char *detail);
/* Applies a rule that enters no other set. */
void sim_rule_check(const struct rule_check *check);
/* Likewise, one about what changed. */
void sim_rule_check_change(const struct rule_check *check);
