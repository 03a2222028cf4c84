/* Values for one generation of a script; see script_params.h. */
#include "script/params/script_params.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/mem.h"
#include "script/vm/bundle.h"
#include "script/vm/host.h"
#include "script/vm/state.h"

/* --- what is given */

static bool read_file(struct script *script, size_t i, struct err *err)
{
    const struct params *all = script->host->params;
    const char *path = params_file(all, i);
    struct str text;
    return params_file_is_folder(all, i) ||
           (bundle_data(script->id.bundle, path, &text, err) &&
            params_parse(script->own.params->given, path, text, PARAM_FROM_FILES + (int)i, err));
}

/* Reads all but folders, whose files are read when a name is asked for. */
static bool read_all(struct script *script, struct err *err)
{
    struct script_params *own = script->own.params;
    bool ok = true;
    own->given = params_new();
    params_copy(own->given, script->host->params);
    for (size_t i = 0; ok && i < params_file_count(script->host->params); i++) ok = read_file(script, i, err);
    if (ok) return true;
    params_free(own->given);
    own->given = NULL;
    return false;
}

static bool read_text(struct script *script, const char *path, struct param_given *given, struct err *err)
{
    struct str text;
    if (!bundle_data(script->id.bundle, path, &text, err)) return err->code == ERR_NOT_FOUND;
    text = params_text(text);
    if (text.n > PARAM_BYTES_MAX)
        return err_set(err, ERR_LIMIT, "%s exceeds %d bytes", path, PARAM_BYTES_MAX);
    if (str_has_nul(text)) return err_set(err, ERR_INVALID, "%s contains a NUL byte", path);
    char *value = xstrndup(text.p ? text.p : "", text.n);
    given->value = value;
    given->source = path;
    params_put(script->own.params->given, given);
    wipe(value);
    return true;
}

/* The file NAME of a folder, and RULE.NAME, which is more precise. */
static bool read_folder(struct script *script, size_t i, const char *rule, const char *name, struct err *err)
{
    const char *folder = params_file(script->host->params, i);
    struct param_given given = {.name = name, .order = PARAM_FROM_FILES + (int)i};
    char *path = xasprintf("%s/%s", folder, name);
    bool ok = read_text(script, path, &given, err);
    free(path);
    if (!ok || !rule) return ok;
    given.rule = rule;
    path = xasprintf("%s/%s.%s", folder, rule, name);
    ok = read_text(script, path, &given, err);
    free(path);
    return ok;
}

static bool read_folders(struct script *script, const char *rule, const char *name, struct err *err)
{
    const struct params *all = script->host->params;
    for (size_t i = 0; i < params_file_count(all); i++)
        if (params_file_is_folder(all, i) && !read_folder(script, i, rule, name, err)) return false;
    return true;
}

/* The source that names more wins, then what comes later. */
static bool is_better(const struct param_given *a, const struct param_given *b)
{
    int rank_a = (a->script ? 2 : 0) + (a->rule ? 1 : 0), rank_b = (b->script ? 2 : 0) + (b->rule ? 1 : 0);
    return rank_a != rank_b ? rank_a > rank_b : a->order >= b->order;
}

bool script_param_given(struct script *script, const char *rule, const char *name, struct param_given *out,
                        struct err *err)
{
    struct script_params *own = script->own.params;
    const struct declared_param wanted = {.rule = (char *)rule, .name = (char *)name};
    bool found = false;
    *err = (struct err){0};
    if (!own->given && !read_all(script, err)) return false;
    if (!read_folders(script, rule, name, err)) return false;
    *err = (struct err){0};
    for (size_t i = 0; i < params_count(own->given); i++) {
        const struct param_given given = params_at(own->given, i);
        if (!param_matches(&given, script, &wanted)) continue;
        if (!found || is_better(&given, out)) *out = given;
        found = true;
    }
    return found;
}

/* --- what is declared */

void script_params_declare(struct script *script, const struct declared_param *param)
{
    struct script_params *own = script->own.params;
    *array_add(own->items, own->count) = *param;
}

void script_params_close(struct script *script)
{
    struct script_params *own = script->own.params;
    for (size_t i = 0; i < own->count; i++) {
        struct declared_param *param = &own->items[i];
        char *texts[] = {param->rule,   param->name, param->type,   param->fallback,
                         param->source, param->help, param->bounds, param->from};
        for (size_t j = 0; j < ARRAY_LEN(texts); j++) free(texts[j]);
        wipe(param->value);
    }
    free(own->items);
    params_free(own->given);
    *own = (struct script_params){0};
}
