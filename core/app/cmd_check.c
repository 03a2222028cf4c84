/* `kubelua check`: what is wrong with scripts, found without running them. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/ask_kinds.h"
#include "app/check.h"
#include "app/check_against.h"
#include "app/cmd.h"
#include "app/dry_host.h"
#include "app/options.h"
#include "app/script_files.h"
#include "base/log.h"
#include "base/mem.h"
#include "kube/well_known.h"

enum { ASK_MS = 20000 };

struct arguments {
    struct options options;
    struct script_files files;
    const char *output, *against;
};

static const struct flag *check_flags(struct arguments *arguments)
{
    static struct flag table[4];
    arguments->output = "text";
    const struct flag flags[] = {
        {"filename", 'f', FLAG_LIST, &arguments->options.files, "FILE|DIR", NULL,
         "script, or folder of scripts (repeatable)"},
        {"output", 'o', FLAG_CHOICE, &arguments->output, "text|json", "text|json",
         "form of the findings (default text)"},
        {"against", 0, FLAG_STRING, &arguments->against, "FILE", NULL,
         "kinds that there are besides Kubernetes' own: kubectl get crds -o json"},
    };
    return flags_fill(table, ARRAY_LEN(table), flags, ARRAY_LEN(flags));
}

static void help(void)
{
    struct arguments arguments = {0};
    puts("Load scripts without running them, and print what is wrong: syntax, unknown options, calls in the\n"
         "wrong phase, kinds that nobody serves, and handlers that can never be called.\n\n"
         "Kinds are checked against a server, when one is named by --server, --kubeconfig or --context; or\n"
         "against a dump of its custom resource definitions. Without either, only Kubernetes' own are "
         "known.\n\n"
         "Usage:\n"
         "  kubelua check -f FILE|DIR ... [flags]\n\n"
         "The exit code is 0 when nothing was found, warnings apart; 1 for findings; 2 when something could\n"
         "not be read.\n\n"
         "Examples:\n"
         "  kubelua check -f rules/\n"
         "  kubectl get crds -o json > crds.json && kubelua check -f rules/ --against crds.json\n\n"
         "Flags:");
    flags_print(check_flags(&arguments));
    puts("\nConnection:");
    flags_print(connection_flags(&arguments.options));
    puts("\nElections, as for kubelua run:");
    flags_print(leader_flags(&arguments.options.leader));
    options_clear(&arguments.options);
}

/* `*is_whole`: it has all kinds that there are. NULL with an error. */
static struct catalogue *find_catalogue(const struct arguments *arguments, bool *is_whole, struct err *err)
{
    const struct cluster_flags *flags = &arguments->options.cluster;
    struct cluster_config cluster = {0};
    *is_whole = true;
    if (arguments->against) return catalogue_of_dump(arguments->against, err);
    *is_whole = names_a_server(flags);
    if (!*is_whole) return catalogue_well_known();
    if (!cluster_config_load(flags, &cluster, err)) return NULL;
    struct catalogue *catalogue = ask_kinds(&cluster, ASK_MS, err);
    if (!catalogue) err_wrap(err, "%s", cluster.server);
    cluster_config_clear(&cluster);
    return catalogue;
}

/* False when a script cannot be read. One that does not load hides nothing of the others. */
static bool check_all(const struct arguments *arguments, const struct catalogue *catalogue, bool is_whole,
                      struct findings *findings)
{
    const struct script_files *files = &arguments->files;
    bool readable = true;
    struct dry_host dry;
    dry_host_open(&dry);
    dry.host.lease = leader_flags_lease(&arguments->options.leader, "default");
    dry.host.elects = arguments->options.leader.elect;
    for (size_t i = 0; i < files->count; i++) {
        struct err err;
        size_t first = findings->count;
        struct script *script = script_load(&dry.host, files->paths[i], files->names[i], &err);
        if (!script && err.code == ERR_IO) {
            fprintf(stderr, "kubelua check: %s\n", err.text);
            readable = false;
        } else if (!script) {
            findings_add_error(findings, files->paths[i], err.text);
        } else {
            check_kinds(script, files->paths[i], catalogue, is_whole, findings);
            check_handlers(script, files->paths[i], findings);
            script_free(script);
        }
        findings_sort(findings, first);
    }
    dry_host_close(&dry);
    return readable;
}

static void print_counts(const struct script_files *files, const struct findings *findings)
{
    fprintf(stderr, "%zu script%s, %zu error%s, %zu warning%s\n", files->count, files->count == 1 ? "" : "s",
            findings->errors, findings->errors == 1 ? "" : "s", findings->warnings,
            findings->warnings == 1 ? "" : "s");
}

static int check(const struct arguments *arguments, const struct catalogue *catalogue, bool is_whole)
{
    struct findings findings = {0};
    struct buf out = {0};
    bool readable = check_all(arguments, catalogue, is_whole, &findings);
    findings_print(&findings, strcmp(arguments->output, "json") == 0, &out);
    if (out.len) fwrite(out.data, 1, out.len, stdout);
    bool written = fflush(stdout) == 0 && !ferror(stdout);
    print_counts(&arguments->files, &findings);
    int code = !readable || !written ? EXIT_USAGE : findings.errors ? EXIT_FINDINGS : EXIT_OK;
    buf_clear(&out);
    findings_clear(&findings);
    return code;
}

static bool parse(int argc, char **argv, struct arguments *arguments, struct err *err)
{
    struct flag_list rest = {0};
    struct options *options = &arguments->options;
    const struct flag *tables[] = {check_flags(arguments), connection_flags(options),
                                   leader_flags(&options->leader), NULL};
    bool ok = flags_parse(tables, argc, argv, &rest, err) && leader_flags_check(&options->leader, err);
    if (ok && rest.count)
        ok = err_set(err, ERR_INVALID, "unexpected argument \"%s\"; scripts are named by -f", rest.items[0]);
    if (ok && !options->files.count)
        ok = err_set(err, ERR_INVALID, "no script: name one by -f FILE or -f DIR");
    flag_list_clear(&rest);
    options->cluster.as_groups = options->as_groups.items;
    options->cluster.as_group_count = options->as_groups.count;
    return ok && script_files_find(&options->files, &arguments->files, err);
}

static int run(int argc, char **argv)
{
    struct arguments arguments = {0};
    struct catalogue *catalogue = NULL;
    struct err err;
    bool is_whole;
    int code = EXIT_USAGE;
    log_setup(LOG_TEXT, 0);
    signal(SIGPIPE, SIG_IGN);
    if (parse(argc, argv, &arguments, &err)) catalogue = find_catalogue(&arguments, &is_whole, &err);
    if (catalogue)
        code = check(&arguments, catalogue, is_whole);
    else
        fprintf(stderr, "kubelua check: %s\n", err.text);
    catalogue_free(catalogue);
    script_files_clear(&arguments.files);
    options_clear(&arguments.options);
    return code;
}

const struct command cmd_check = {"check", "Find what is wrong with scripts, without running them", run,
                                  help};
