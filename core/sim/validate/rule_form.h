/* Forms of texts that rules name: "label", "subdomain", "port name". Owner: causes are appended to the
 * caller's array. May be called anywhere. */
#pragma once
#include "sim/validate/rule.h"

/* Checks the text at the rule's path and `below`. */
void sim_rule_form(const struct rule_check *check, const char *form, const char *below, const char *text);
/* Checks the value, or each of its elements. A text that is missing has any form, and so has an empty one,
 * unless the rule's argument is "present"; "always": also one that is missing is checked. */
void sim_rule_forms(const struct rule_check *check, const json_t *value);
