/* `kubelua sim`: the simulated API server. */
#include <stdlib.h>
#include <string.h>

#include "app/cmd/cmd.h"
#include "app/cmd/sim_run.h"
#include "app/sim/sim_world.h"
#include "base/cli/flags.h"
#include "base/mem.h"
#include "object/parse/list_parts.h"
#include "sim/api/server.h"
#include "sim/scenario/pods.h"

#define LOOPBACK "127.0.0.1"

static struct sim_flags given = {
    .server = {.listen = LOOPBACK, .watch_cache = true, .gzip = true, .bookmark_ms = 60000},
    .replicas = SIM_POD_REPLICAS,
    .authorization = "always-allow",
    .shards = "off",
};

static const struct flag flags[] = {
    {"port", 'p', FLAG_INT, &given.server.port, "N", NULL, "Port to listen on (default 0: any free port)"},
    {"listen", 0, FLAG_STRING, &given.server.listen, "ADDR", NULL,
     "IP address to listen on, or localhost (default 127.0.0.1)"},
    {"pods", 0, FLAG_INT, &given.pods, "N", NULL,
     "Serve N generated pods of about 9.4 KB; identical at every start"},
    {"replicas", 0, FLAG_COUNT, &given.replicas, "N", NULL, "Generated pods per workload (default 3)"},
    {"replay", 0, FLAG_BOOL, &given.replay, NULL, NULL,
     "Serve only generated pods, as fast as possible; for benchmarks"},
    {"encodings", 0, FLAG_STRING, &given.encodings, "DIR", NULL,
     "With --replay: directory with the same pods in protobuf, written by bench/peers/encode"},
    {"load", 'f', FLAG_LIST, &given.load, "FILE|DIR", NULL,
     "Serve the objects of a file in YAML or JSON, of all such files of a directory, or - for standard input "
     "(repeatable)"},
    {"state", 0, FLAG_STRING, &given.server.state, "FILE", NULL,
     "Keep the objects in FILE, over restarts; --load and --pods are for its first start"},
    {"script", 0, FLAG_STRING, &given.server.script, "SCENARIO", NULL,
     "Play a scenario of changes and faults; see docs/sim.md"},
    {"bookmark-interval", 0, FLAG_DURATION_MS, &given.server.bookmark_ms, "DURATION", NULL,
     "Interval between watch bookmarks (default 60s)"},
    {"watch-cache", 0, FLAG_BOOL, &given.server.watch_cache, NULL, NULL,
     "Ignore limit on lists with resourceVersion=0, as a watch cache does (default true)"},
    {"gzip", 0, FLAG_BOOL, &given.server.gzip, NULL, NULL,
     "Compress responses over 128 KiB for clients that accept gzip (default true)"},
    {"shards", 0, FLAG_CHOICE, &given.shards, "MODE", "off|on|unsaid",
     "What a shardSelector of a list or a watch does: nothing, filter and say so in shardInfo, or filter "
     "and say nothing (default off)"},
    {"tls", 0, FLAG_BOOL, &given.server.tls, NULL, NULL,
     "Serve HTTPS, with a certificate authority of its own; see --write-kubeconfig"},
    {"token-auth-file", 0, FLAG_STRING, &given.server.token_file, "FILE", NULL,
     "Lines of token,user,uid,\"group1,group2\"; requests without a token are refused; turns on --tls"},
    {"authorization", 0, FLAG_CHOICE, &given.authorization, "MODE", "always-allow|rbac",
     "Who may do what: everybody everything, or what roles and bindings allow, which turns on --tls "
     "(default always-allow)"},
    {"write-kubeconfig", 0, FLAG_STRING, &given.write_kubeconfig, "FILE", NULL,
     "Write a kubeconfig for this server to FILE"},
    {NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL},
};

/* Part of the help behind the flags. */
static const struct flag_group *groups(void)
{
    static const struct flag none = {NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL};
    static const struct flag_group all[] = {
        {"World:", sim_world_flags},
        {"It prints \"Serving on http://ADDR:PORT\" when it is ready. With a COMMAND it prints nothing, "
         "runs\n"
         "it with KUBECONFIG set, and ends with it, with its exit code. For example:\n"
         "  kubectl --server http://127.0.0.1:PORT get pods -A\n"
         "  kubelua sim -f manifests/ -- go test ./...",
         &none},
        {NULL, NULL}};
    return all;
}

/* --- flags */

/* The replay source has its pods and no others. */
static bool check_replay(const struct sim_flags *sim, struct err *err)
{
    if (!sim->replay && sim->encodings) return err_set(err, ERR_INVALID, "--encodings needs --replay");
    if (!sim->replay) return true;
    if (sim->pods == 0) return err_set(err, ERR_INVALID, "--replay needs --pods N");
    if (sim->load.count) return err_set(err, ERR_INVALID, "--load and --replay are mutually exclusive");
    if (sim->server.token_file || strcmp(sim->authorization, "rbac") == 0)
        return err_set(err, ERR_INVALID, "--replay has no users: no --token-auth-file and --authorization");
    if (sim->server.state) return err_set(err, ERR_INVALID, "--state and --replay are mutually exclusive");
    if (sim->server.tls) return err_set(err, ERR_INVALID, "--tls and --replay are mutually exclusive");
    if (sim->server.script) return err_set(err, ERR_INVALID, "--script and --replay are mutually exclusive");
    return true;
}

static bool check_numbers(const struct sim_flags *sim, struct err *err)
{
    enum { PORT_MAX = 65535 };
    if (sim->server.port > PORT_MAX)
        return err_set(err, ERR_INVALID, "--port: %d is too large, the maximum is %d", sim->server.port,
                       PORT_MAX);
    if (sim->pods > SIM_PODS_MAX)
        return err_set(err, ERR_INVALID, "--pods: %d is too large, the maximum is %d", sim->pods,
                       SIM_PODS_MAX);
    if (sim->server.bookmark_ms < 1)
        return err_set(err, ERR_INVALID, "--bookmark-interval must be greater than 0");
    return true;
}

static void complete(struct sim_flags *sim)
{
    struct sim_server_options *server = &sim->server;
    if (strcmp(server->listen, "localhost") == 0) server->listen = LOOPBACK;
    server->pods = (size_t)sim->pods;
    server->replicas = (size_t)sim->replicas;
    sim_sharding_read(sim->shards, &server->sharding);
    server->rbac = strcmp(sim->authorization, "rbac") == 0;
    server->tls = server->tls || server->rbac || server->token_file; /* clients send no token without */
    server->load = sim->load.items;
    server->load_count = sim->load.count;
    server->list_parts = json_list_parts;
}

/* Only what is behind "--" is a command: other arguments are mistakes. */
static bool take_command(struct sim_flags *sim, struct command_line *line, struct err *err)
{
    struct flag_list *words = &line->arguments;
    int mark = 1;
    while (mark < line->argc && strcmp(line->argv[mark], "--") != 0) mark++;
    bool has_mark = mark < line->argc;
    size_t behind = has_mark ? (size_t)(line->argc - mark - 1) : 0;
    if (words->count > behind)
        return err_set(err, ERR_INVALID, "unexpected argument \"%s\"; a command stands behind --",
                       words->items[0]);
    if (has_mark && !words->count) return err_set(err, ERR_INVALID, "no command behind --");
    if (!has_mark) return true;
    const char **copy = xcalloc(words->count + 1, sizeof *copy);
    memcpy(copy, words->items, words->count * sizeof *copy);
    sim->words = copy;
    return true;
}

static int run(struct command_line *line)
{
    struct err err;
    if (!take_command(&given, line, &err) || !check_numbers(&given, &err) || !check_replay(&given, &err) ||
        !sim_world_new(given.replay ? "--replay"
                       : given.pods ? "--pods"
                                    : NULL,
                       &given.world, &err))
        return command_fail(line, err.text);
    if (given.world) given.server.life = world_life(given.world);
    complete(&given);
    int exit_code = sim_run(&given);
    free((void *)given.words);
    return exit_code;
}

const struct command cmd_sim = {
    .name = "sim",
    .summary = "Run a simulated API server",
    .flags = flags,
    .groups = groups,
    .run = run,
};
