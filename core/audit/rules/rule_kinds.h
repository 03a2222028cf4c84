/* Rules that match objects of a type, by whatever name a rule has for the kind: "pods", "deployments.apps",
 * "apps/v1/Deployment". A name without a version means all versions of the group; one with a version means
 * that one alone, and the kinds that the group `extensions` had also belong to the group that has them now.
 * Kinds that the catalogue does not know are known by their objects. Owner: the auditor. Rules and catalogue
 * are borrowed. On one thread. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "kube/kinds/resource.h"
#include "script/rules/rule.h"

struct fields;
struct rule_kinds;

/* The numbers of rules, in their order. */
struct rule_numbers {
    uint32_t *items;
    size_t count;
};

/* The group that has the kind now: what `extensions` had moved, and is the same for rules. */
struct str rule_kinds_group(struct str group, struct str kind);

/* Returns whether such objects are in namespaces, as far as the catalogue knows. */
bool rule_kinds_is_namespaced(const struct catalogue *catalogue, struct str api_version, struct str kind);

struct rule_kinds *rule_kinds_new(const struct catalogue *catalogue);
void rule_kinds_free(struct rule_kinds *kinds);
/* Its number is that of the calls before it. Before the first evaluation. */
void rule_kinds_add(struct rule_kinds *kinds, const struct script_rule *rule);
/* Rules that match objects of one type, and the fields that they read; borrowed until the end. */
struct rule_type {
    struct rule_numbers rules;
    bool is_namespaced;    /* as far as the catalogue knows */
    struct fields *fields; /* made and filled by the caller; freed with this */
};
struct rule_type *rule_kinds_of(struct rule_kinds *kinds, struct str api_version, struct str kind);
/* Returns whether `name` means one of the types that were looked up. */
bool rule_kinds_have(const struct rule_kinds *kinds, struct str name);
