/* From a command line to a running engine; see cmd_run.h. */
#include "app/cmd/cmd_run.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/cmd/cmd.h"
#include "app/cmd/driver.h"
#include "app/options/engine_options.h"
#include "app/options/history_options.h"
#include "app/options/options.h"
#include "base/core_dumps.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/writer.h"
#include "kube/api/packers.h"
#include "kube/kinds/resource.h"
#include "object/pack/pool.h"

enum { FLUSH_MS = 2000 }; /* for what waits for stdout and stderr at the end */

static struct options options;

static const struct flag_group *groups_of(enum driver_mode mode)
{
    static const struct flag none = {NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL};
    static struct flag_group all[10];
    size_t n = 0;
    options.takes_contexts = true;
    all[n++].flags = mode == DRIVER_RUN ? run_flags(&options) : exec_flags(&options);
    all[n++].flags = engine_flags(&options);
    all[n++].flags = param_flags(&options);
    if (mode == DRIVER_RUN) all[n++].flags = ignore_flags(&options);
    all[n++] = (struct flag_group){"Scripts:", script_flags(&options)};
    all[n++] = (struct flag_group){"Objects from NATS instead of the API server:",
                                   bucket_flags_from(&options.bucket)};
    all[n++] = (struct flag_group){"Leader election:", leader_flags(&options.leader)};
    all[n++] = (struct flag_group){"Connection:", connection_flags(&options)};
    all[n++] = (struct flag_group){
        "Each flag can also be set in the environment: KUBELUA_LOG_FORMAT sets --log-format.", &none};
    if (mode == DRIVER_EXEC) {
        options.script_limits.values[LIMIT_MAIN_CPU] = LIMIT_NONE;
        options.script_limits.values[LIMIT_PIECE_CPU] = LIMIT_NONE;
    }
    return all;
}

/* The one argument of exec. */
static bool name_script(struct flag_list *arguments, struct err *err)
{
    if (arguments->count != 1)
        return err_set(err, ERR_INVALID,
                       arguments->count ? "exec runs one script; unexpected argument \"%s\""
                                        : "no script given; usage: kubelua exec FILE",
                       arguments->count ? arguments->items[1] : "");
    struct stat st;
    if (stat(arguments->items[0], &st) == 0 && S_ISDIR(st.st_mode))
        return err_set(err, ERR_INVALID, "%s is a directory; exec runs one script", arguments->items[0]);
    options.files = *arguments;
    *arguments = (struct flag_list){0};
    return true;
}

/* "" stands for all, as without the flag. */
static bool check_namespace(struct err *err)
{
    const char *ns = options.cluster.namespace_;
    if (!ns || !*ns || namespace_name_check(str_of(ns), err)) return true;
    return err_wrap(err, "--namespace");
}

/* Rules are evaluated with --report only. */
static bool check_ignore(struct err *err)
{
    const struct ignore_options *ignore = &options.ignore;
    const char *given = ignore->forbidden      ? "--no-ignore"
                        : ignore->max_severity ? "--ignore-max-severity"
                        : ignore->max_days     ? "--ignore-max-days"
                                               : NULL;
    if (given && !options.report) return err_set(err, ERR_INVALID, "%s requires --report", given);
    return options_check_ignore(&options, err);
}

static bool check_threads(struct err *err)
{
    int threads = options.io_threads;
    if (threads > PACKERS_MAX)
        return err_set(err, ERR_INVALID, "--io-threads must be at most %d, not %d", PACKERS_MAX, threads);
    return threads <= 1 || !options.cache_dir ||
           err_set(err, ERR_INVALID, "--cache-dir and --io-threads above 1 are mutually exclusive");
}

/* Stored caches continue at versions of a server, whose identity they are bound to. */
static bool check_from(struct err *err)
{
    if (!options.bucket.url || !options.cache_dir) return true;
    return err_set(err, ERR_INVALID,
                   "--cache-dir and --from are mutually exclusive; the bucket has the state");
}

/* Anybody may list command lines; the environment is the process's own. */
static void warn_of_token(const struct flags_given *given)
{
    for (size_t i = 0; i < given->count; i++)
        if (strcmp(given->items[i].where, "--token") == 0)
            log_warn("Token on the command line is visible to other users of the machine, use a kubeconfig");
}

/* Configurations of all clusters; the first is the home cluster. */
struct configs {
    struct cluster_config items[CLUSTERS_MAX];
    size_t count;
    bool has_no_server; /* the home cluster has none */
};

/* A flag that replaces a part of a context would do so in all of them. */
static bool check_contexts(const struct options *o, struct err *err)
{
    const struct cluster_flags *c = &o->cluster;
    const char *given = nonempty(c->cluster)                 ? "--cluster"
                        : nonempty(c->user)                  ? "--user"
                        : nonempty(c->server)                ? "--server"
                        : nonempty(c->token)                 ? "--token"
                        : nonempty(c->certificate_authority) ? "--certificate-authority"
                        : nonempty(c->client_certificate)    ? "--client-certificate"
                        : nonempty(c->client_key)            ? "--client-key"
                        : nonempty(c->tls_server_name)       ? "--tls-server-name"
                                                             : NULL;
    if (given && o->contexts.count > 1)
        return err_set(err, ERR_INVALID, "%s and several --context are mutually exclusive", given);
    if (o->contexts.count > CLUSTERS_MAX)
        return err_set(err, ERR_INVALID, "%zu times --context exceeds %d", o->contexts.count, CLUSTERS_MAX);
    for (size_t i = 0; i < o->contexts.count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(o->contexts.items[i], o->contexts.items[j]) == 0)
                return err_set(err, ERR_INVALID, "--context: \"%s\" is given twice", o->contexts.items[i]);
    return true;
}

/* Where objects come from a bucket, a server is needed only for requests of scripts. */
static bool load_cluster(const struct cluster_flags *flags, struct configs *configs, struct err *err)
{
    struct cluster_config *config = &configs->items[configs->count];
    if (cluster_config_load(flags, config, err)) return true;
    if (!options.bucket.url || !cluster_config_is_missing(err)) return false;
    cluster_config_set_none(config, flags->namespace_);
    return configs->has_no_server = true;
}

static bool load_clusters(struct configs *configs, struct err *err)
{
    struct cluster_flags flags = options.cluster;
    size_t count = options.contexts.count ? options.contexts.count : 1;
    if (!check_contexts(&options, err)) return false;
    for (; configs->count < count; configs->count++) {
        if (options.contexts.count) flags.context = options.contexts.items[configs->count];
        if (!load_cluster(&flags, configs, err)) return false;
    }
    return true;
}

static void clear_configs(struct configs *configs)
{
    for (size_t i = 0; i < configs->count; i++) cluster_config_clear(&configs->items[i]);
}

static bool prepare(enum driver_mode mode, struct flag_list *arguments, struct script_files *files,
                    struct configs *configs, struct err *err)
{
    if (mode == DRIVER_EXEC && !name_script(arguments, err)) return false;
    log_setup(strcmp(options.log_format, "json") == 0 ? LOG_JSON : LOG_TEXT, options.verbosity);
    mem_avoid_stalls();
    if (mode == DRIVER_RUN && !options.allow_core_dumps) core_dumps_forbid();
    warn_of_token(options.given);
    return options_read_params(&options, err) && options_read_history(&options, err) && check_ignore(err) &&
           check_from(err) && check_namespace(err) && check_threads(err) &&
           options_complete(&options, true, files, err) && load_clusters(configs, err) &&
           pool_check_space(err);
}

/* A report that did not reach its reader is not done, whatever main returned. */
int launch_check_output(const char *command, int exit_code)
{
    uint64_t lost = writer_dropped(WRITER_STDOUT);
    int error = writer_error(WRITER_STDOUT);
    if (!lost) return exit_code;
    fprintf(stderr, "kubelua %s: stdout: %s; %" PRIu64 " line%s lost\n", command,
            error ? strerror(error) : "the reader is too slow", lost, lost == 1 ? " is" : "s are");
    return exit_code == EXIT_INTERRUPTED ? exit_code : EXIT_INCOMPLETE;
}

static int launch(enum driver_mode mode, struct command_line *line)
{
    struct script_files files = {0};
    struct configs configs = {0};
    struct bucket_place from = {0};
    struct err err;
    int exit_code;
    options.flags = line->tables;
    options.given = &line->given;
    if (prepare(mode, &line->arguments, &files, &configs, &err) &&
        bucket_flags_read(&options.bucket, &from, &err)) {
        if (mode == DRIVER_EXEC) writer_end_with_reader();
        writer_start(WRITER_BUFFER_DEFAULT, clock_real());
        const struct engine_settings settings = options_for_engine(&options, configs.items[0].namespace_);
        signal(SIGPIPE, SIG_IGN);
        signal(SIGXFSZ, SIG_IGN); /* a limit of files is an error as a full disk is */
        exit_code = driver_run(&(const struct driver_options){.mode = mode,
                                                              .options = &options,
                                                              .config = &configs.items[0],
                                                              .others = &configs.items[1],
                                                              .other_count = configs.count - 1,
                                                              .from = from.module ? &from : NULL,
                                                              .has_no_server = configs.has_no_server,
                                                              .settings = &settings,
                                                              .files = &files});
        writer_stop(FLUSH_MS);
        if (mode == DRIVER_EXEC) exit_code = launch_check_output(line->argv[0], exit_code);
    } else {
        exit_code = command_fail(line, err.text);
    }
    clear_configs(&configs);
    bucket_target_clear(&from.target);
    script_files_clear(&files);
    options_clear(&options);
    return exit_code;
}

/* --- the two commands */

static const struct flag_group *run_groups(void)
{
    return groups_of(DRIVER_RUN);
}

static int run(struct command_line *line)
{
    return launch(DRIVER_RUN, line);
}

const struct command cmd_run = {
    .name = "run",
    .summary = "Run scripts until interrupted",
    .no_arguments = "; use -f for scripts",
    .groups = run_groups,
    .run = run,
};

static const struct flag_group *exec_groups(void)
{
    return groups_of(DRIVER_EXEC);
}

static int run_exec(struct command_line *line)
{
    return launch(DRIVER_EXEC, line);
}

const struct command cmd_exec = {
    .name = "exec",
    .summary = "Run one script to completion",
    .groups = exec_groups,
    .run = run_exec,
};
