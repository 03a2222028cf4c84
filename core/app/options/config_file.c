/* Reading the file of --config; see config_file.h. */
#include "app/options/config_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/yaml/yaml_file.h"

static char *place_of(const struct yaml_file *file, const yaml_node_t *node)
{
    return xasprintf("%s:%zu", file->path, node->start_mark.line + 1);
}

/* Takes the value. */
static void add(struct config_file *out, const struct yaml_file *file, const yaml_node_t *node,
                struct str name, char *value)
{
    *array_add(out->settings, out->count) = (struct flag_setting){
        .name = xstrndup(name.p, name.n), .value = value, .where = place_of(file, node)};
}

static bool refuse(const struct yaml_file *file, const yaml_node_t *node, struct str name, const char *what,
                   struct err *err)
{
    char *where = place_of(file, node);
    err_set(err, ERR_INVALID, "%s: %.*s: %s", where, STR_ARG(name), what);
    free(where);
    return false;
}

/* A text, number or boolean as it is written. */
static bool scalar(const struct yaml_file *file, const yaml_node_t *node, struct str name, struct str *out,
                   struct err *err)
{
    if (node->type != YAML_SCALAR_NODE || yaml_form(node) == YAML_FORM_NULL)
        return refuse(file, node, name, "must be a string, a number or a boolean", err);
    *out = (struct str){(const char *)node->data.scalar.value, node->data.scalar.length};
    if (memchr(out->p, '\0', out->n)) return refuse(file, node, name, "must not contain a NUL byte", err);
    return true;
}

static bool add_sequence(struct config_file *out, struct yaml_file *file, yaml_node_t *list, struct str name,
                         struct err *err)
{
    yaml_node_t *item;
    for (size_t i = 0; (item = yaml_next(file, list, &i));) {
        struct str value;
        if (!scalar(file, item, name, &value, err)) return false;
        add(out, file, item, name, xstrndup(value.p, value.n));
    }
    return true;
}

static bool add_mapping(struct config_file *out, struct yaml_file *file, yaml_node_t *map, struct str name,
                        struct err *err)
{
    yaml_node_t *item;
    struct str key;
    for (size_t i = 0; (item = yaml_next_entry(file, map, &i, &key));) {
        struct str value;
        if (!scalar(file, item, key, &value, err)) return false;
        add(out, file, item, name, xasprintf("%.*s=%.*s", STR_ARG(key), STR_ARG(value)));
    }
    return true;
}

static bool add_setting(struct config_file *out, struct yaml_file *file, yaml_node_t *node, struct str name,
                        struct err *err)
{
    struct str value;
    if (str_is(name, "config"))
        return refuse(file, node, name, "a file of settings cannot name another", err);
    if (node->type == YAML_SEQUENCE_NODE) return add_sequence(out, file, node, name, err);
    if (node->type == YAML_MAPPING_NODE) return add_mapping(out, file, node, name, err);
    if (!scalar(file, node, name, &value, err)) return false;
    add(out, file, node, name, xstrndup(value.p, value.n));
    return true;
}

/* Of two values of one name, nobody knows which was meant. */
static bool is_first(struct yaml_file *file, yaml_node_t *root, size_t count, struct str name)
{
    struct str before;
    for (size_t i = 0; i + 1 < count && yaml_next_entry(file, root, &i, &before);)
        if (str_eq(before, name)) return false;
    return true;
}

bool config_file_read(const char *path, struct config_file *out, struct err *err)
{
    struct yaml_file file;
    struct str name;
    yaml_node_t *node;
    *out = (struct config_file){0};
    bool ok = yaml_file_load(&file, path, err);
    yaml_node_t *root = ok ? yaml_file_root(&file) : NULL;
    if (root && root->type != YAML_MAPPING_NODE)
        ok = err_set(err, ERR_INVALID,
                     "%s: must be a mapping of flags to values, such as \"log-format: json\"", path);
    for (size_t i = 0; ok && root && (node = yaml_next_entry(&file, root, &i, &name));)
        ok = is_first(&file, root, i, name) ? add_setting(out, &file, node, name, err)
                                            : refuse(&file, node, name, "is in the file twice", err);
    yaml_file_clear(&file);
    if (!ok) config_file_clear(out);
    return ok;
}

void config_file_clear(struct config_file *file)
{
    for (size_t i = 0; i < file->count; i++) {
        free((char *)file->settings[i].name);
        free((char *)file->settings[i].value);
        free((char *)file->settings[i].where);
    }
    free(file->settings);
    *file = (struct config_file){0};
}
