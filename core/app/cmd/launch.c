/* From a command line to a running engine; see launch.h. */
#include "app/cmd/launch.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "app/cmd/cmd.h"
#include "app/cmd/driver.h"
#include "app/options/engine_options.h"
#include "app/options/options.h"
#include "base/log.h"
#include "base/writer.h"
#include "kube/kinds/resource.h"
#include "object/pack/pool.h"

enum { FLUSH_MS = 2000 }; /* for what waits for stdout and stderr at the end */

void launch_help(enum engine_mode mode)
{
    struct options options = {0};
    flags_print(mode == ENGINE_RUN ? run_flags(&options) : exec_flags(&options));
    flags_print(engine_flags(&options));
    if (mode == ENGINE_RUN) flags_print(param_flags(&options));
    puts("\nScripts:");
    flags_print(script_flags(&options));
    puts("\nLeader election:");
    flags_print(leader_flags(&options.leader));
    puts("\nConnection:");
    flags_print(connection_flags(&options));
    puts("\n"
         "Each flag can also be set in the environment: KUBELUA_LOG_FORMAT sets --log-format.");
}

/* Where the scripts come from: -f for run, the one argument for exec. */
static bool name_scripts(enum engine_mode mode, struct options *options, struct flag_list *rest,
                         struct err *err)
{
    if (mode == ENGINE_RUN) {
        if (rest->count)
            return err_set(err, ERR_INVALID, "unexpected argument \"%s\"; use -f for scripts",
                           rest->items[0]);
        if (!options->files.count) return err_set(err, ERR_INVALID, "no script given; use -f FILE or -f DIR");
        return true;
    }
    if (rest->count != 1)
        return err_set(err, ERR_INVALID,
                       rest->count ? "exec runs one script; unexpected argument \"%s\""
                                   : "no script given; usage: kubelua exec FILE",
                       rest->count ? rest->items[1] : "");
    struct stat st;
    if (stat(rest->items[0], &st) == 0 && S_ISDIR(st.st_mode))
        return err_set(err, ERR_INVALID, "%s is a directory; exec runs one script", rest->items[0]);
    options->files = *rest;
    *rest = (struct flag_list){0};
    return true;
}

/* "" stands for all, as without the flag. */
static bool check_namespace(const struct options *options, struct err *err)
{
    const char *ns = options->cluster.namespace_;
    if (!ns || !*ns || namespace_name_check(str_of(ns), err)) return true;
    return err_wrap(err, "--namespace");
}

static bool prepare(enum engine_mode mode, int argc, char **argv, struct options *options,
                    struct script_files *files, struct cluster_config *cluster, struct err *err)
{
    struct flag_list rest = {0};
    const struct flag *tables[] = {mode == ENGINE_RUN ? run_flags(options) : exec_flags(options),
                                   engine_flags(options),
                                   script_flags(options),
                                   leader_flags(&options->leader),
                                   connection_flags(options),
                                   mode == ENGINE_RUN ? param_flags(options) : NULL,
                                   NULL};
    if (mode == ENGINE_EXEC) options->script_limits.values[LIMIT_MAIN_CPU] = LIMIT_NONE;
    bool ok = flags_parse(tables, argc, argv, &rest, err) && leader_flags_check(&options->leader, err) &&
              options_set_limits(options, err) && options_read_params(options, err) &&
              name_scripts(mode, options, &rest, err);
    flag_list_clear(&rest);
    if (!ok) return false;
    options->cluster.as_groups = options->as_groups.items;
    options->cluster.as_group_count = options->as_groups.count;
    log_setup(strcmp(options->log_format, "json") == 0 ? LOG_JSON : LOG_TEXT, options->verbosity);
    return check_namespace(options, err) && script_files_find(&options->files, files, err) &&
           options_check_trusted(options, files, err) &&
           cluster_config_load(&options->cluster, cluster, err) && pool_check_space(err);
}

/* A report that did not reach its reader is not done, whatever main returned. */
int launch_check_output(const char *command, int exit_code)
{
    uint64_t lost = writer_dropped(WRITER_STDOUT);
    int error = writer_error(WRITER_STDOUT);
    if (!lost) return exit_code;
    fprintf(stderr, "kubelua %s: stdout: %s; %" PRIu64 " line%s lost\n", command,
            error ? strerror(error) : "nobody read it in time", lost, lost == 1 ? " is" : "s are");
    return exit_code == EXIT_INTERRUPTED ? exit_code : EXIT_INCOMPLETE;
}

int launch(enum engine_mode mode, int argc, char **argv)
{
    struct options options = {0};
    struct script_files files = {0};
    struct cluster_config cluster = {0};
    struct err err;
    int exit_code = EXIT_USAGE;
    if (prepare(mode, argc, argv, &options, &files, &cluster, &err)) {
        if (mode == ENGINE_EXEC) writer_end_with_reader();
        writer_start(WRITER_BUFFER_DEFAULT, clock_real());
        const struct engine_settings settings = options_for_engine(&options, cluster.namespace_);
        signal(SIGPIPE, SIG_IGN);
        signal(SIGXFSZ, SIG_IGN); /* a limit of files is an error as a full disk is */
        exit_code = driver_run(
            &options, &(struct engine_options){
                          .mode = mode, .settings = &settings, .files = &files, .cluster = &cluster});
        writer_stop(FLUSH_MS);
        if (mode == ENGINE_EXEC) exit_code = launch_check_output(argv[0], exit_code);
    } else
        fprintf(stderr, "kubelua %s: %s\n", argv[0], err.text);
    cluster_config_clear(&cluster);
    script_files_clear(&files);
    options_clear(&options);
    return exit_code;
}
