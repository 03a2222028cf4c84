/* The values that hold for one generation of a script: what the operator gave, with files as the generation's
 * bundle has them, so that a value does not change as long as the generation lives. For the files of this
 * folder. Owner: the script (own.params). */
#pragma once
#include "base/str.h"
#include "script/params/declared.h"

struct script_params {
    struct declared_param *items;
    size_t count;
    struct params *given; /* what holds for this generation; NULL: not read yet */
};

/* Sets `*out` to the value that was given for a parameter, which is borrowed from the script; false when none
 * was. `*err` has a code when a file cannot be read. */
bool script_param_given(struct script *script, const char *rule, const char *name, struct param_given *out,
                        struct err *err);
/* Adds what is declared; the texts are the script's from now on. */
void script_params_declare(struct script *script, const struct declared_param *param);
void script_params_close(struct script *script);
/* Returns whether the value is for this parameter of the script. */
bool param_matches(const struct param_given *given, const struct script *script,
                   const struct declared_param *param);
