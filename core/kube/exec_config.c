/* Exec entries of kubeconfig files; see exec_config.h. */
#include "kube/exec_config.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "kube/yaml_file.h"
#include "kube/yaml_json.h"

static char *copy_text(struct str text)
{
    return text.n ? xstrndup(text.p, text.n) : NULL;
}

static void append(char ***list, size_t *count, char *text)
{
    *list = xrealloc(*list, (*count + 2) * sizeof **list);
    (*list)[(*count)++] = text;
    (*list)[*count] = NULL;
}

static bool read_args(struct yaml_file *file, yaml_node_t *exec, struct exec_config *out, struct err *err)
{
    yaml_node_t *args = yaml_get(file, exec, "args"), *node;
    size_t count = 0;
    out->args = xcalloc(1, sizeof *out->args);
    for (size_t i = 0; (node = yaml_next(file, args, &i));) {
        struct str text = yaml_text(node);
        if (!text.p) return err_set(err, ERR_INVALID, ".args: not a list of texts");
        append(&out->args, &count, xstrndup(text.p, text.n));
    }
    return true;
}

static bool read_env(struct yaml_file *file, yaml_node_t *exec, struct exec_config *out, struct err *err)
{
    yaml_node_t *env = yaml_get(file, exec, "env"), *node;
    size_t count = 0;
    out->env = xcalloc(1, sizeof *out->env);
    for (size_t i = 0; (node = yaml_next(file, env, &i));) {
        struct str name = yaml_text(yaml_get(file, node, "name")),
                   value = yaml_text(yaml_get(file, node, "value"));
        if (!name.n || memchr(name.p, '=', name.n))
            return err_set(err, ERR_INVALID, ".env: an entry without a usable name");
        append(&out->env, &count,
               xasprintf("%.*s=%.*s", STR_ARG(name), (int)value.n, value.p ? value.p : ""));
    }
    return true;
}

static bool read_interactive(struct str mode, struct exec_config *out, struct err *err)
{
    static const char *const names[] = {"Never", "IfAvailable", "Always"};
    if (!mode.n && strcmp(out->api_version, EXEC_V1) == 0)
        return err_set(err, ERR_INVALID, ".interactiveMode: needed with %s: Never, IfAvailable or Always",
                       EXEC_V1);
    out->interactive = EXEC_IF_AVAILABLE;
    if (!mode.n) return true;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        out->interactive = (enum exec_interactive)i;
        if (str_is(mode, names[i])) return true;
    }
    return err_set(err, ERR_INVALID, ".interactiveMode: \"%.*s\" is none of Never, IfAvailable and Always",
                   STR_ARG(mode));
}

static bool read_version(struct exec_config *out, struct err *err)
{
    const char *version = out->api_version;
    if (!version) return err_set(err, ERR_INVALID, ".apiVersion: there is none");
    if (strcmp(version, EXEC_V1) == 0 || strcmp(version, EXEC_V1BETA1) == 0) return true;
    return err_set(err, ERR_INVALID, ".apiVersion: \"%s\" is neither %s nor %s", version, EXEC_V1,
                   EXEC_V1BETA1);
}

/* C-4: a bare name is looked for in PATH. */
static char *resolve_command(struct str command, const char *file)
{
    const char *slash = strrchr(file, '/');
    bool relative = memchr(command.p, '/', command.n) && *command.p != '/';
    if (!relative || !slash) return xstrndup(command.p, command.n);
    if (str_starts(command, STR("./"))) command = (struct str){command.p + 2, command.n - 2};
    return xasprintf("%.*s/%.*s", (int)(slash - file), file, STR_ARG(command));
}

struct exec_config *exec_config_read(struct yaml_file *file, struct yaml_node_s *exec, struct err *err)
{
    struct exec_config *out = NEW(struct exec_config);
    struct str command = yaml_text(yaml_get(file, exec, "command"));
    out->api_version = copy_text(yaml_text(yaml_get(file, exec, "apiVersion")));
    out->install_hint = copy_text(yaml_text(yaml_get(file, exec, "installHint")));
    out->provide_cluster_info = str_is(yaml_text(yaml_get(file, exec, "provideClusterInfo")), "true");
    bool ok = command.n || err_set(err, ERR_INVALID, ".command: there is none");
    if (ok) out->command = resolve_command(command, file->path);
    ok = ok && read_version(out, err) && read_args(file, exec, out, err) && read_env(file, exec, out, err) &&
         read_interactive(yaml_text(yaml_get(file, exec, "interactiveMode")), out, err);
    if (ok) return out;
    exec_config_free(out);
    return NULL;
}

static char **copy_list(char **list)
{
    char **copy = xcalloc(1, sizeof *copy);
    size_t count = 0;
    for (; list && *list; list++) append(&copy, &count, xstrdup(*list));
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
