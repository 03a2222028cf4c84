/* Exec entries of kubeconfig files; see exec_config.h. */
#include "kube/config/exec_config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/yaml/yaml_documents.h"
#include "base/yaml/yaml_file.h"

/* Leaves `*out` NULL if the field is missing or empty. */
static bool read_text(struct yaml_file *file, yaml_node_t *exec, const char *field, char **out,
                      struct err *err)
{
    struct str text;
    if (!yaml_read_text(yaml_get(file, exec, field), &text, err)) return err_wrap(err, ".%s", field);
    if (text.n) *out = xstrndup(text.p, text.n);
    return true;
}

static bool read_args(struct yaml_file *file, yaml_node_t *exec, struct exec_config *out, struct err *err)
{
    yaml_node_t *args = yaml_get(file, exec, "args"), *node;
    struct str text;
    size_t count = 0;
    if (!yaml_check_texts(file, args, err)) return err_wrap(err, ".args");
    for (size_t i = 0; (node = yaml_next(file, args, &i)) && yaml_read_text(node, &text, err);)
        *array_add(out->args, count) = xstrndup(text.n ? text.p : "", text.n);
    *array_add(out->args, count) = NULL;
    return true;
}

static bool read_variable(struct yaml_file *file, yaml_node_t *entry, char **out, struct err *err)
{
    struct str name, value;
    if (entry->type != YAML_MAPPING_NODE) return err_set(err, ERR_INVALID, ".env: an entry is not a mapping");
    if (!yaml_read_text(yaml_get(file, entry, "name"), &name, err)) return err_wrap(err, ".env: a name");
    if (!name.n || memchr(name.p, '=', name.n))
        return err_set(err, ERR_INVALID, ".env: an entry without a usable name");
    if (!yaml_read_text(yaml_get(file, entry, "value"), &value, err))
        return err_wrap(err, ".env[%.*s].value", STR_ARG(name));
    *out = xasprintf("%.*s=%.*s", STR_ARG(name), (int)value.n, value.p ? value.p : "");
    return true;
}

static bool read_env(struct yaml_file *file, yaml_node_t *exec, struct exec_config *out, struct err *err)
{
    yaml_node_t *env = yaml_get(file, exec, "env"), *node;
    char *variable = NULL;
    size_t count = 0;
    bool ok = true;
    if (!yaml_check_list(env, err)) return err_wrap(err, ".env");
    for (size_t i = 0; ok && (node = yaml_next(file, env, &i));) {
        ok = read_variable(file, node, &variable, err);
        if (ok) *array_add(out->env, count) = variable;
    }
    *array_add(out->env, count) = NULL;
    return ok;
}

static bool read_interactive(struct yaml_file *file, yaml_node_t *exec, struct exec_config *out,
                             struct err *err)
{
    static const char *const names[] = {"Never", "IfAvailable", "Always"};
    struct str mode;
    if (!yaml_read_text(yaml_get(file, exec, "interactiveMode"), &mode, err))
        return err_wrap(err, ".interactiveMode");
    if (!mode.n && strcmp(out->api_version, EXEC_V1) == 0)
        return err_set(err, ERR_INVALID, ".interactiveMode: needed with %s: Never, IfAvailable or Always",
                       EXEC_V1);
    out->interactive = EXEC_IF_AVAILABLE;
    if (!mode.n) return true;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        out->interactive = (enum exec_interactive)i;
        if (str_is(mode, names[i])) return true;
    }
    return err_set(err, ERR_INVALID, ".interactiveMode must be Never, IfAvailable or Always, not \"%.*s\"",
                   STR_ARG(mode));
}

static bool read_version(struct exec_config *out, struct err *err)
{
    const char *version = out->api_version;
    if (!version) return err_set(err, ERR_INVALID, ".apiVersion is missing");
    if (strcmp(version, EXEC_V1) == 0 || strcmp(version, EXEC_V1BETA1) == 0) return true;
    return err_set(err, ERR_INVALID, ".apiVersion: \"%s\" is neither %s nor %s", version, EXEC_V1,
                   EXEC_V1BETA1);
}

/* Searches PATH for a bare name (C-4). Messages name a plugin by its complete path. */
static char *resolve_command(char *command, const char *file)
{
    const char *slash = strrchr(file, '/');
    char here[PATH_MAX] = "";
    if (*command == '/' || !strchr(command, '/')) return command;
    if (*file != '/' && !getcwd(here, sizeof here)) strcpy(here, ".");
    char *path = xasprintf("%s%s%.*s%s", here, *here ? "/" : "", slash ? (int)(slash - file) + 1 : 0, file,
                           str_starts(str_of(command), STR("./")) ? command + 2 : command);
    free(command);
    return path;
}

static bool read_flag(struct yaml_file *file, yaml_node_t *exec, const char *field, bool *out,
                      struct err *err)
{
    return yaml_read_flag(yaml_get(file, exec, field), out, err) || err_wrap(err, ".%s", field);
}

static bool read_fields(struct yaml_file *file, yaml_node_t *exec, struct exec_config *out, struct err *err)
{
    if (exec->type != YAML_MAPPING_NODE) return err_set(err, ERR_INVALID, ": not a mapping");
    if (!read_text(file, exec, "command", &out->command, err)) return false;
    if (!out->command) return err_set(err, ERR_INVALID, ".command is missing");
    out->command = resolve_command(out->command, file->path);
    return read_text(file, exec, "apiVersion", &out->api_version, err) && read_version(out, err) &&
           read_args(file, exec, out, err) && read_env(file, exec, out, err) &&
           read_interactive(file, exec, out, err) &&
           read_text(file, exec, "installHint", &out->install_hint, err) &&
           read_flag(file, exec, "provideClusterInfo", &out->provide_cluster_info, err);
}

struct exec_config *exec_config_read(struct yaml_file *file, struct yaml_node_s *exec, struct err *err)
{
    struct exec_config *out = NEW(struct exec_config);
    if (read_fields(file, exec, out, err)) return out;
    exec_config_free(out);
    return NULL;
}

static char **copy_list(char **list)
{
    char **copy = NULL;
    size_t count = 0;
    for (; list && *list; list++) *array_add(copy, count) = xstrdup(*list);
    *array_add(copy, count) = NULL;
    return copy;
}

struct exec_config *exec_config_copy(const struct exec_config *config)
{
    if (!config) return NULL;
    struct exec_config *copy = NEW(struct exec_config);
    *copy = *config;
    copy->api_version = xstrdup(config->api_version);
    copy->command = xstrdup(config->command);
    copy->args = copy_list(config->args);
    copy->env = copy_list(config->env);
    copy->install_hint = xstrdup(config->install_hint);
    copy->cluster_config = xstrdup(config->cluster_config);
    return copy;
}

static void free_list(char **list)
{
    for (char **text = list; text && *text; text++) wipe(*text);
    free(list);
}

void exec_config_free(struct exec_config *config)
{
    if (!config) return;
    free(config->api_version);
    free(config->command);
    free_list(config->args);
    free_list(config->env);
    free(config->install_hint);
    free(config->cluster_config);
    free(config);
}

char *exec_config_cluster(struct yaml_file *file, struct yaml_node_s *cluster)
{
    yaml_node_t *extensions = yaml_get(file, cluster, "extensions"), *node;
    struct buf json = {0};
    for (size_t i = 0; (node = yaml_next(file, extensions, &i));) {
        yaml_node_t *value = yaml_get(file, node, "extension");
        if (!value || !str_is(yaml_text(yaml_get(file, node, "name")), "client.authentication.k8s.io/exec"))
            continue;
        yaml_json(file, value, &json);
        return buf_take(&json);
    }
    return NULL;
}
