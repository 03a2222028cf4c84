/* Reading and merging kubeconfig files; see kubeconfig_file.h. */
#include "kube/config/kubeconfig_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/yaml/yaml_file.h"

enum field_form { FIELD_TEXT, FIELD_PATH, FIELD_FLAG, FIELD_SECRET };

/* Destination of a field of the file (C-5). */
struct kubeconfig_field {
    const char *key;
    size_t offset; /* in the entry */
    enum field_form form;
};

#define AT(member) offsetof(struct kubeconfig_entry, member)

static const struct kubeconfig_field cluster_fields[] = {
    {"server", AT(cluster.server), FIELD_TEXT},
    {"certificate-authority", AT(cluster.certificate_authority), FIELD_PATH},
    {"certificate-authority-data", AT(cluster.certificate_authority_data), FIELD_TEXT},
    {"tls-server-name", AT(cluster.tls_server_name), FIELD_TEXT},
    {"proxy-url", AT(cluster.proxy_url), FIELD_SECRET},
    {"insecure-skip-tls-verify", AT(cluster.insecure_skip_tls_verify), FIELD_FLAG},
    {"disable-compression", AT(cluster.disable_compression), FIELD_FLAG},
    {0},
};

static const struct kubeconfig_field user_fields[] = {
    {"client-certificate", AT(user.client_certificate), FIELD_PATH},
    {"client-certificate-data", AT(user.client_certificate_data), FIELD_TEXT},
    {"client-key", AT(user.client_key), FIELD_PATH},
    {"client-key-data", AT(user.client_key_data), FIELD_SECRET},
    {"token", AT(user.token), FIELD_SECRET},
    {"tokenFile", AT(user.token_file), FIELD_PATH},
    {"username", AT(user.username), FIELD_TEXT},
    {"password", AT(user.password), FIELD_SECRET},
    {"as", AT(user.as), FIELD_TEXT},
    {"as-uid", AT(user.as_uid), FIELD_TEXT},
    {0},
};

static const struct kubeconfig_field context_fields[] = {
    {"cluster", AT(context.cluster), FIELD_TEXT},
    {"user", AT(context.user), FIELD_TEXT},
    {"namespace", AT(context.namespace_), FIELD_TEXT},
    {0},
};

/* Description of one of the three lists of a file. */
struct kubeconfig_section {
    const char *list, *item; /* "clusters", "cluster" */
    const struct kubeconfig_field *fields;
};

static const struct kubeconfig_section sections[] = {{"clusters", "cluster", cluster_fields},
                                                     {"users", "user", user_fields},
                                                     {"contexts", "context", context_fields}};

static struct kubeconfig_list *list_of(struct kubeconfig *config, size_t section)
{
    return section == 0 ? &config->clusters : section == 1 ? &config->users : &config->contexts;
}

/* Resolves a path relative to the directory of the file that contains it (C-4). */
static char *resolve(struct str path, const char *file)
{
    const char *slash = strrchr(file, '/');
    if (*path.p == '/' || !slash) return xstrndup(path.p, path.n);
    return xasprintf("%.*s%.*s", (int)(slash - file) + 1, file, STR_ARG(path));
}

static bool read_field(struct yaml_file *file, const struct kubeconfig_section *section, yaml_node_t *body,
                       const struct kubeconfig_field *field, struct kubeconfig_entry *entry, struct err *err)
{
    yaml_node_t *node = yaml_get(file, body, field->key);
    void *place = (char *)entry + field->offset;
    struct str text = {0};
    bool ok = field->form == FIELD_FLAG ? yaml_read_flag(node, place, err) : yaml_read_text(node, &text, err);
    if (!ok) return err_wrap(err, "%s: %s[%s].%s", file->path, section->list, entry->name, field->key);
    if (text.n)
        *(char **)place = field->form == FIELD_PATH ? resolve(text, file->path) : xstrndup(text.p, text.n);
    return true;
}

static void add_more(struct kubeconfig_user *user, struct str key, struct str value)
{
    *array_add(user->as_more, user->as_more_count) = (struct kubeconfig_pair){
        xstrndup(key.p ? key.p : "", key.n), xstrndup(value.p ? value.p : "", value.n)};
}

static bool read_extra(struct yaml_file *file, yaml_node_t *extra, struct kubeconfig_user *user,
                       struct err *err)
{
    yaml_node_t *node, *value;
    struct str key;
    if (extra && extra->type != YAML_MAPPING_NODE) return err_set(err, ERR_INVALID, "not a mapping");
    for (size_t i = 0; (node = yaml_next_entry(file, extra, &i, &key));) {
        if (str_has_nul(key)) return err_set(err, ERR_INVALID, "a key must not contain a NUL byte");
        if (!yaml_check_texts(file, node, err)) return false;
        for (size_t j = 0; (value = yaml_next(file, node, &j));) add_more(user, key, yaml_text(value));
    }
    return true;
}

/* Reads the parts of a user that are not plain fields: groups, extras, and plugins. */
static bool read_user(struct yaml_file *file, yaml_node_t *body, bool is_text, struct kubeconfig_entry *entry,
                      struct err *err)
{
    struct kubeconfig_user *user = &entry->user;
    yaml_node_t *exec = yaml_get(file, body, "exec"), *groups = yaml_get(file, body, "as-groups"), *node;
    if (!yaml_check_texts(file, groups, err))
        return err_wrap(err, "%s: users[%s].as-groups", file->path, entry->name);
    for (size_t i = 0; (node = yaml_next(file, groups, &i));)
        add_more(user, (struct str){0}, yaml_text(node));
    if (!read_extra(file, yaml_get(file, body, "as-user-extra"), user, err))
        return err_wrap(err, "%s: users[%s].as-user-extra", file->path, entry->name);
    user->has_auth_provider = yaml_get(file, body, "auth-provider") != NULL;
    user->has_exec = exec != NULL;
    if (!exec || is_text) return true;
    struct err why;
    user->exec = exec_config_read(file, exec, &why);
    return user->exec || err_set(err, why.code, "%s: users[%s].exec%s", file->path, entry->name, why.text);
}

static void clear_entry(struct kubeconfig_entry *entry, const struct kubeconfig_section *section)
{
    for (const struct kubeconfig_field *field = section->fields; field->key; field++) {
        if (field->form == FIELD_FLAG) continue;
        char *text = *(char **)((char *)entry + field->offset);
        field->form == FIELD_SECRET ? wipe(text) : free(text);
    }
    if (section->fields == user_fields) {
        for (size_t i = 0; i < entry->user.as_more_count; i++) {
            free(entry->user.as_more[i].key);
            free(entry->user.as_more[i].value);
        }
        free(entry->user.as_more);
        exec_config_free(entry->user.exec);
    }
    if (section->fields == cluster_fields) free(entry->cluster.exec_config);
    free(entry->name);
    free(entry->file);
}

static bool read_entry(struct yaml_file *file, const struct kubeconfig_section *section, yaml_node_t *node,
                       bool is_text, struct kubeconfig_entry *entry, struct err *err)
{
    struct str name;
    yaml_node_t *body = yaml_get(file, node, section->item);
    if (!yaml_read_text(yaml_get(file, node, "name"), &name, err))
        return err_wrap(err, "%s: %s: a name", file->path, section->list);
    if (!name.n)
        return err_set(err, ERR_INVALID, "%s: %s: an entry without a name", file->path, section->list);
    entry->name = xstrndup(name.p, name.n);
    entry->file = xstrdup(file->path);
    if (body && body->type != YAML_MAPPING_NODE)
        return err_set(err, ERR_INVALID, "%s: %s[%s].%s: not a mapping", file->path, section->list,
                       entry->name, section->item);
    for (const struct kubeconfig_field *field = section->fields; field->key; field++)
        if (!read_field(file, section, body, field, entry, err)) return false;
    if (section->fields == cluster_fields) entry->cluster.exec_config = exec_config_cluster(file, body);
    return section->fields != user_fields || read_user(file, body, is_text, entry, err);
}

/* Refuses a name that the file has twice, even if an earlier file owns it (C-3). */
static bool check_names(struct yaml_file *file, const struct kubeconfig_section *section,
                        yaml_node_t *sequence, size_t count, struct err *err)
{
    yaml_node_t *last = NULL, *node;
    for (size_t i = 0; i < count;) last = yaml_next(file, sequence, &i);
    struct str name = yaml_text(yaml_get(file, last, "name"));
    for (size_t i = 0; (node = yaml_next(file, sequence, &i)) && node != last;)
        if (str_eq(name, yaml_text(yaml_get(file, node, "name"))))
            return err_set(err, ERR_INVALID, "%s: %s: two entries are named \"%.*s\"", file->path,
                           section->list, STR_ARG(name));
    return true;
}

static bool read_section(struct kubeconfig *config, size_t number, struct yaml_file *file, yaml_node_t *root,
                         struct err *err)
{
    const struct kubeconfig_section *section = &sections[number];
    struct kubeconfig_list *list = list_of(config, number);
    yaml_node_t *sequence = yaml_get(file, root, section->list), *node;
    if (sequence && sequence->type != YAML_SEQUENCE_NODE)
        return err_set(err, ERR_INVALID, "%s: %s: not a list", file->path, section->list);
    for (size_t i = 0; (node = yaml_next(file, sequence, &i));) {
        struct kubeconfig_entry entry = {0};
        bool ok = read_entry(file, section, node, config->is_text, &entry, err) &&
                  check_names(file, section, sequence, i, err);
        if (!ok ||
            kubeconfig_find(list, entry.name)) { /* C-2: the entry of the earlier file stays, complete */
            clear_entry(&entry, section);
            if (!ok) return false;
            continue;
        }
        *array_add(list->items, list->count) = entry;
    }
    return true;
}

static bool check_kind(struct yaml_file *file, yaml_node_t *root, struct err *err)
{
    struct str kind = yaml_text(yaml_get(file, root, "kind"));
    struct str version = yaml_text(yaml_get(file, root, "apiVersion"));
    if (root && root->type != YAML_MAPPING_NODE)
        return err_set(err, ERR_INVALID, "%s: not a kubeconfig file", file->path);
    if (kind.n && !str_is(kind, "Config"))
        return err_set(err, ERR_INVALID, "%s: kind \"%.*s\" is not Config", file->path, STR_ARG(kind));
    if (version.n && !str_is(version, "v1"))
        return err_set(err, ERR_INVALID, "%s: apiVersion \"%.*s\" is not v1", file->path, STR_ARG(version));
    return true;
}

static bool add(struct kubeconfig *config, struct yaml_file *file, struct err *err)
{
    const char *path = file->path;
    yaml_node_t *root = yaml_file_root(file);
    bool ok = check_kind(file, root, err);
    for (size_t i = 0; ok && i < ARRAY_LEN(sections); i++) ok = read_section(config, i, file, root, err);
    struct str current = {0};
    if (ok && !yaml_read_text(yaml_get(file, root, "current-context"), &current, err))
        ok = err_wrap(err, "%s: current-context", path);
    if (ok && current.n && !config->current_context) {
        config->current_context = xstrndup(current.p, current.n);
        config->current_context_file = xstrdup(path);
    }
    yaml_file_clear(file);
    char *before = config->paths;
    config->paths = before ? xasprintf("%s, %s", before, path) : xstrdup(path);
    free(before);
    return ok;
}

bool kubeconfig_add_file(struct kubeconfig *config, const char *path, struct err *err)
{
    struct yaml_file file;
    return yaml_file_load(&file, path, err) && add(config, &file, err);
}

bool kubeconfig_add_text(struct kubeconfig *config, const char *path, struct str text, struct err *err)
{
    struct yaml_file file;
    config->is_text = true;
    return yaml_file_parse(&file, path, text, err) && add(config, &file, err);
}

void kubeconfig_clear(struct kubeconfig *config)
{
    for (size_t s = 0; s < ARRAY_LEN(sections); s++) {
        struct kubeconfig_list *list = list_of(config, s);
        for (size_t i = 0; i < list->count; i++) clear_entry(&list->items[i], &sections[s]);
        free(list->items);
    }
    free(config->current_context);
    free(config->current_context_file);
    free(config->paths);
    *config = (struct kubeconfig){0};
}

const struct kubeconfig_entry *kubeconfig_find(const struct kubeconfig_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, name) == 0) return &list->items[i];
    return NULL;
}
