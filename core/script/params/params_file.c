/* YAML files of values for parameters; see params.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/yaml/yaml_documents.h"
#include "base/yaml/yaml_file.h"
#include "script/params/params.h"

struct params_reading {
    struct params *params;
    struct yaml_file file;
    int order;
    size_t before; /* values of other places */
    struct err *err;
};

static bool is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Of two values of one name in a file, nobody knows which was meant. */
static bool is_twice(const struct params_reading *r, const struct param_given *given)
{
    for (size_t i = r->before; i < params_count(r->params); i++) {
        const struct param_given before = params_at(r->params, i);
        if (is_same(before.name, given->name) && is_same(before.rule, given->rule) &&
            is_same(before.script, given->script))
            return true;
    }
    return false;
}

static bool put_value(struct params_reading *r, const struct param_given *key, size_t line, yaml_node_t *node)
{
    struct buf json = {0};
    struct param_given given = *key;
    char *source =
        xasprintf("%s:%zu: %s%s%s%s%s", r->file.path, line, given.script ? given.script : "",
                  given.script ? ":" : "", given.rule ? given.rule : "", given.rule ? "." : "", given.name);
    bool ok = yaml_json_whole(&r->file, node, &json) && json.len <= PARAM_BYTES_MAX;
    given.value = ok ? buf_text(&json) : NULL;
    given.source = source;
    if (ok && is_twice(r, &given))
        ok = err_set(r->err, ERR_INVALID, "%s: is in the file twice", source);
    else if (ok)
        params_put(r->params, &given);
    else
        err_set(r->err, ERR_LIMIT, "%s: value exceeds %d bytes of JSON", source, PARAM_BYTES_MAX);
    buf_wipe(&json);
    free(source);
    return ok;
}

static bool read_value(struct params_reading *r, const char *rule, struct str key, yaml_node_t *node)
{
    size_t line = node->start_mark.line + 1;
    char *script = NULL, *own = NULL, *name = NULL;
    if (!params_split(key, &script, &own, &name, r->err))
        return err_wrap(r->err, "%s:%zu", r->file.path, line);
    const struct param_given given = {
        .script = script, .rule = own ? own : rule, .name = name, .is_json = true, .order = r->order};
    bool ok = put_value(r, &given, line, node);
    free(script);
    free(own);
    free(name);
    return ok;
}

static bool read_map(struct params_reading *r, yaml_node_t *map, const char *rule);

static bool read_rule(struct params_reading *r, struct str key, yaml_node_t *map)
{
    if (str_has_nul(key))
        return err_set(r->err, ERR_INVALID, "%s:%zu: the id of a rule must not contain a NUL byte",
                       r->file.path, map->start_mark.line + 1);
    char *id = xstrndup(key.p ? key.p : "", key.n);
    bool ok = read_map(r, map, id);
    free(id);
    return ok;
}

static bool read_map(struct params_reading *r, yaml_node_t *map, const char *rule)
{
    yaml_node_t *node;
    struct str key;
    for (size_t i = 0; (node = yaml_next_entry(&r->file, map, &i, &key));) {
        bool is_rule = !rule && node->type == YAML_MAPPING_NODE;
        if (!(is_rule ? read_rule(r, key, node) : read_value(r, rule, key, node))) return false;
    }
    return true;
}

bool params_parse(struct params *params, const char *path, struct str text, int order, struct err *err)
{
    struct params_reading r = {.params = params, .order = order, .before = params_count(params), .err = err};
    if (!yaml_file_parse(&r.file, path, text, err)) return false;
    yaml_node_t *root = yaml_file_root(&r.file);
    bool ok = yaml_form(root) == YAML_FORM_NULL;
    if (!ok && root->type == YAML_MAPPING_NODE)
        ok = read_map(&r, root, NULL);
    else if (!ok)
        err_set(err, ERR_INVALID, "%s:%zu: expected a map of parameters, or of rules to such maps", path,
                root->start_mark.line + 1);
    yaml_file_clear(&r.file);
    return ok;
}
