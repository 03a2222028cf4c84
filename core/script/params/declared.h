/* Parameters that a script and its rules declare, with the values that hold for them. Owner: the script, as
 * long as it lives; texts are borrowed. On the engine thread, or in a child that was forked from it; outside
 * of Lua. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "script/params/params.h"

struct script;

enum { PARAMS_MAX = 50 /* of a rule, or of the script itself */ };

struct declared_param {
    char *rule; /* id of the rule; NULL: of the script itself */
    char *name;
    char *type;     /* as users read it: "a list of strings" */
    char *fallback; /* the default as JSON; NULL: there is none */
    char *value;    /* as JSON; of a secret "***"; NULL: it has none, or is looked up when it is read */
    char *source;   /* where the value is from; NULL: it is the default */
    char *help;     /* may be empty */
    char *bounds;   /* what values may be, as users read it: "1 to 10"; may be empty */
    char *from;     /* of a secret, the key in the cluster it is read from without a value; NULL: none */
    bool is_secret;
    bool is_required;
    bool lacks; /* a value is required, and there is none: the script is only looked at */
};

/* What is shown for a secret. */
#define PARAM_SECRET "***"

size_t script_param_count(const struct script *script);
const struct declared_param *script_param(const struct script *script, size_t i);
/* Returns whether the parameter is declared by the rule; `rule` NULL: by the script itself. */
bool param_is_of(const struct declared_param *param, const char *rule);
/* Returns whether the value is for something that the script declares. */
bool param_is_taken(const struct param_given *given, const struct script *script);
/* Returns whether the script declares it as a secret. */
bool param_is_secret(const struct param_given *given, const struct script *script);
/* False with the first of those given that none of these scripts declares, and the nearest name; or that
 * several declare with different types, so that it must be qualified. NULL for none given. */
bool params_check(const struct params *params, struct script *const *scripts, size_t count, struct err *err);
/* The same, but for names that the generation `before` was given too. */
bool params_check_new(const struct params *params, const struct script *before, struct script *const *scripts,
                      size_t count, struct err *err);
