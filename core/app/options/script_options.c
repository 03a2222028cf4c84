/* Limits, trust, modules and parameters of scripts; see script_options.h. */
#include "app/options/script_options.h"

#include "app/options/options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text/nearest.h"
#include "informer/group/shards.h"
#include "informer/shard/member.h"
#include "script/vm/script_name.h"

const struct flag *limit_flags(struct options *o)
{
    static struct flag table[4];
    o->script_limits = limits_default;
    const struct flag flags[] = {
        {"limit", 0, FLAG_LIST, &o->limits, "NAME=VALUE", NULL,
         "Set a limit of every script, such as writes=60; see docs/limits.md (repeatable)"},
        {"handler-cpu", 0, FLAG_STRING, &o->handler_cpu, "DURATION", NULL,
         "CPU time of a handler between two waits; same as --limit handler-cpu (default 50ms)"},
        {"script-memory", 0, FLAG_STRING, &o->script_memory, "SIZE", NULL,
         "Memory limit of each script; same as --limit script-memory (default 64Mi)"},
    };
    return flags_fill(table, ARRAY_LEN(table), flags, ARRAY_LEN(flags));
}

const struct flag *script_flags(struct options *o)
{
    static struct flag table[6];
    const struct flag *limits = limit_flags(o);
    const struct flag flags[] = {
        limits[0],
        limits[1],
        limits[2],
        {"trust", 0, FLAG_LIST, &o->trusted, "SCRIPT", NULL,
         "Trust SCRIPT: enable the JIT compiler and disable CPU limits (repeatable)"},
        {"lua-path", 0, FLAG_LIST, &o->lua_path, "DIR", NULL,
         "Additional directory to search for Lua modules (repeatable)"},
    };
    return flags_fill(table, ARRAY_LEN(table), flags, ARRAY_LEN(flags));
}

const struct flag *param_flags(struct options *o)
{
    static struct flag table[3];
    const struct flag flags[] = {
        {"param", 0, FLAG_LIST, &o->params, "[SCRIPT:][RULE.]NAME=VALUE", NULL,
         "Set a parameter of scripts or rules (repeatable)"},
        {"params", 0, FLAG_LIST, &o->params_files, "FILE", NULL,
         "Read parameters from a YAML or JSON file, or from a directory with a file for each (repeatable)"},
    };
    return flags_fill(table, ARRAY_LEN(table), flags, ARRAY_LEN(flags));
}

/* --- limits on accepted findings */

enum { IGNORE_DAYS_MAX = 36500 };

const struct flag *ignore_flags(struct options *o)
{
    static struct flag table[4];
    static const char severities[] = "info|low|medium|high|critical";
    const struct flag flags[] = {
        {"no-ignore", 0, FLAG_BOOL, &o->ignore.forbidden, NULL, NULL,
         "Count findings that owners of objects accepted by annotation, too"},
        {"ignore-max-severity", 0, FLAG_CHOICE, &o->ignore.max_severity, severities, severities,
         "Highest severity of findings that may be accepted (default critical)"},
        {"ignore-max-days", 0, FLAG_INT, &o->ignore.max_days, "N", NULL,
         "Count accepted findings whose until= is missing or more than N days from now (default 0: "
         "unlimited)"},
    };
    return flags_fill(table, ARRAY_LEN(table), flags, ARRAY_LEN(flags));
}

bool options_check_ignore(const struct options *o, struct err *err)
{
    const struct ignore_options *ignore = &o->ignore;
    if (ignore->max_days > IGNORE_DAYS_MAX)
        return err_set(err, ERR_INVALID, "--ignore-max-days must be at most %d, not %d", IGNORE_DAYS_MAX,
                       ignore->max_days);
    const char *other = ignore->max_severity ? "--ignore-max-severity"
                        : ignore->max_days   ? "--ignore-max-days"
                                             : NULL;
    return !ignore->forbidden || !other ||
           err_set(err, ERR_INVALID, "--no-ignore and %s are mutually exclusive", other);
}

struct suppression_limits options_suppression(const struct options *o)
{
    struct suppression_limits limits = {.forbidden = o->ignore.forbidden, .max_days = o->ignore.max_days};
    const char *max = o->ignore.max_severity;
    limits.has_max_severity = max && severity_of(str_of(max), &limits.max_severity);
    return limits;
}

/* --- parameters, limits and trust */

/* A parameter given on its own overrides one from a file, which overrides the environment. */
bool options_read_params(struct options *o, struct err *err)
{
    bool ok = true;
    o->given_params = params_new();
    params_add_environment(o->given_params, environ);
    for (size_t i = 0; ok && i < o->params_files.count; i++)
        ok = params_read(o->given_params, o->params_files.items[i], err);
    for (size_t i = 0; ok && i < o->params.count; i++)
        ok = params_add(o->given_params, o->params.items[i], err);
    return ok;
}

/* Names where the limit was given: "--limit", "KUBELUA_LIMIT" or "kubelua.yaml:3: limit". Returns false. */
static bool refuse_limit(const struct options *o, const char *value, struct err *err)
{
    for (size_t i = 0; o->given && i < o->given->count; i++) {
        const struct flag_given *given = &o->given->items[i];
        if (strcmp(given->flag->name, "limit") != 0 || strcmp(given->value, value) != 0) continue;
        return err_wrap(err, given->in_file ? "%s: limit" : "%s", given->where);
    }
    return err_wrap(err, "--limit");
}

bool options_set_limits(struct options *o, struct err *err)
{
    for (size_t i = 0; i < o->limits.count; i++)
        if (!limits_set(&o->script_limits, o->limits.items[i], err))
            return refuse_limit(o, o->limits.items[i], err);
    if (o->handler_cpu && !limits_set_value(&o->script_limits, STR("handler-cpu"), o->handler_cpu, err))
        return err_wrap(err, "--handler-cpu");
    if (o->script_memory && !limits_set_value(&o->script_limits, STR("script-memory"), o->script_memory, err))
        return err_wrap(err, "--script-memory");
    return true;
}

static bool is_name_or_path(struct str wanted, const char *name, const char *path)
{
    return str_is(wanted, name) || str_is(wanted, path);
}

static bool is_script(const char *flag,
                      bool (*goes_by)(struct str wanted, const char *name, const char *path),
                      struct str wanted, const struct script_files *files, struct err *err)
{
    struct nearest nearest = nearest_to(wanted);
    for (size_t i = 0; i < files->count; i++) {
        if (goes_by(wanted, files->names[i], files->paths[i])) return true;
        nearest_try(&nearest, files->names[i]);
    }
    return err_set(err, ERR_INVALID, "%s: script \"%.*s\" not found%s%s", flag, STR_ARG(wanted),
                   nearest.name ? "; did you mean " : "", nearest.name ? nearest.name : "");
}

/* Refuses a misspelt name of a trusted script: its limits would otherwise stop the script, much later. */
bool options_check_trusted(const struct options *options, const struct script_files *files, struct err *err)
{
    for (size_t i = 0; i < options->trusted.count; i++)
        if (!is_script("--trust", is_name_or_path, str_of(options->trusted.items[i]), files, err))
            return false;
    return true;
}

/* A misspelt name would have the script write. */
bool options_check_dry_runs(struct options *options, const struct script_files *files, struct err *err)
{
    for (size_t i = 0; i < options->dry_runs.count; i++) {
        const char *item = options->dry_runs.items[i], *mark = strrchr(item, '='),
                   *mode = mark ? mark + 1 : item;
        bool is_dry = strcmp(mode, "client") == 0 || strcmp(mode, "server") == 0;
        if (!is_dry && (mark || strcmp(mode, "none") != 0))
            return err_set(err, ERR_INVALID,
                           "--dry-run: \"%s\" is not none, client, server, SCRIPT=client or SCRIPT=server",
                           item);
        if (!mark)
            options->dry_run = mode;
        else if (!is_script("--dry-run", script_goes_by, (struct str){item, (size_t)(mark - item)}, files,
                            err))
            return false;
    }
    return true;
}

void options_give_scripts(const struct options *options, struct engine_settings *settings)
{
    settings->limits = &options->script_limits;
    settings->trusted = options->trusted.items;
    settings->trusted_count = options->trusted.count;
    settings->lua_path = options->lua_path.items;
    settings->lua_path_count = options->lua_path.count;
    settings->params = options->given_params;
}

/* --- shards */

bool options_check_shard(struct options *o, struct err *err)
{
    if (!o->shard && o->shard_kinds.count) return err_set(err, ERR_INVALID, "--shard-kinds needs --shard");
    /* A source of objects from a bucket knows no ranges: each replica would have all objects. */
    if (o->shard && o->bucket.url)
        return err_set(err, ERR_INVALID, "--shard and --from are mutually exclusive; use --partition");
    for (size_t i = 0; i < o->shard_kinds.count; i++) {
        struct str by = str_of(o->shard_kinds.items[i]), kind;
        str_cut(&by, '=', &kind);
        if (!kind.n || (by.p && !str_is(by, "namespace")))
            return err_set(err, ERR_INVALID, "--shard-kinds must be KIND or KIND=namespace, not \"%s\"",
                           o->shard_kinds.items[i]);
    }
    if (!o->shard) return true;
    if (!*o->shard) o->shard = "kubelua";
    if (!o->shard_lease_ms) o->shard_lease_ms = shard_times_default.duration_ms; /* without that flag */
    if (!shard_lease_check(o->shard_lease_ms, err)) return err_wrap(err, "--shard-lease-duration");
    return shard_group_check(o->shard, err) || err_wrap(err, "--shard");
}

/* --- The flags of elections */

const struct flag *leader_flags(struct leader_flags *o)
{
    static struct flag table[7];
    o->duration_ms = leader_times_default.duration_ms;
    o->renew_ms = leader_times_default.renew_ms;
    o->retry_ms = leader_times_default.retry_ms;
    o->name = "kubelua";
    const struct flag flags[] = {
        {"leader-elect", 0, FLAG_BOOL, &o->elect, NULL, NULL,
         "Run a leader election for all scripts that do not call k8s.leader"},
        {"leader-elect-lease-duration", 0, FLAG_DURATION_MS, &o->duration_ms, "DURATION", NULL,
         "Time that other candidates wait before they take a lease that is not renewed (default 15s)"},
        {"leader-elect-renew-deadline", 0, FLAG_DURATION_MS, &o->renew_ms, "DURATION", NULL,
         "Time that the leader tries to renew its lease before it stops leading (default 10s)"},
        {"leader-elect-retry-period", 0, FLAG_DURATION_MS, &o->retry_ms, "DURATION", NULL,
         "Time between attempts to acquire or renew the lease (default 2s)"},
        {"leader-elect-resource-namespace", 0, FLAG_STRING, &o->namespace_, "NAME", NULL,
         "Namespace of the lease (default: $POD_NAMESPACE, else the namespace of the connection)"},
        {"leader-elect-resource-name", 0, FLAG_STRING, &o->name, "NAME", NULL,
         "Name of the lease (default kubelua)"},
    };
    return flags_fill(table, ARRAY_LEN(table), flags, ARRAY_LEN(flags));
}

static const struct leader_names names = {"--leader-elect-lease-duration", "--leader-elect-renew-deadline",
                                          "--leader-elect-retry-period"};

bool leader_flags_check(const struct leader_flags *o, struct err *err)
{
    const struct leader_times times = {o->duration_ms, o->renew_ms, o->retry_ms};
    return leader_times_check(&times, &names, err);
}

struct lease_config leader_flags_lease(const struct leader_flags *o, const char *here)
{
    const char *chosen = nonempty(o->namespace_), *pod = nonempty(getenv("POD_NAMESPACE"));
    return (struct lease_config){
        .namespace_ = chosen ? chosen
                      : pod  ? pod
                             : here,
        .name = o->name,
        .times = {o->duration_ms, o->renew_ms, o->retry_ms},
        .names = names,
    };
}
