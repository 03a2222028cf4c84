/* Parameters that an operator gives to rules: by name, for every rule that declares it, or by a rule's id,
 * which wins. Owner: their creator; they outlive the scripts that are handed them. What is given later
 * takes the place of the same given before. On any one thread; adding and reading are for the start of a
 * command, the rest raises nothing. */
#pragma once
#include <lua.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct rule_params;
struct script;
struct script_rule;

enum { RULE_PARAMS_MAX = 50 /* of a rule */, RULE_PARAM_BYTES_MAX = 64 << 10 /* of a value, as JSON */ };

struct rule_params *rule_params_new(void);
/* NULL is allowed. */
void rule_params_free(struct rule_params *params);
/* "restarts=10" or "container-restarts.restarts=10", as --param takes it. The value is read as what the rule
 * has by default: a list is written "a,b" or as JSON. */
bool rule_params_add(struct rule_params *params, const char *assignment, struct err *err);
/* A YAML or JSON file: a map of names to values, or of ids of rules to such maps. ERR_IO, ERR_PARSE,
 * ERR_INVALID with file and line. */
bool rule_params_read(struct rule_params *params, const char *path, struct err *err);
/* A parameter as the user gave it; used to pass parameters to another process. */
struct rule_param_given {
    const char *rule, *name; /* `rule` NULL: of every rule that declares it */
    const char *value;
    bool is_json; /* of a file; else it is as it was written */
    const char *source;
};
size_t rule_params_count(const struct rule_params *params); /* NULL: 0 */
struct rule_param_given rule_params_at(const struct rule_params *params, size_t i);
/* Copied. */
void rule_params_put(struct rule_params *params, const struct rule_param_given *given);
/* Returns whether a rule of the script takes it. */
bool rule_params_is_taken(const struct rule_param_given *given, const struct script *script);
/* False with the first of those given that no rule of these scripts declares, and the nearest name. NULL for
 * none given. */
bool rule_params_check(const struct rule_params *params, struct script *const *scripts, size_t count,
                       struct err *err);

/* Parameter that a rule declares. */
struct rule_param {
    char *name, *fallback, *value; /* the default and what holds, as JSON */
};

/* --- for the files of this folder */

/* Appends the value of the parameter as JSON: what was given, or its default `fallback`, which is JSON too.
 * False when what was given is of another type: `--param restarts: "x" is no number`. */
bool rule_params_value(const struct rule_params *params, const char *rule, struct str name,
                       struct str fallback, struct buf *out, struct err *err);
/* param(id, name, default): the value, the default as JSON, the value as JSON. */
int l_rule_param(lua_State *L);
