/* `kubelua sim`: the simulated API server. */
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "app/cmd/cmd.h"
#include "base/cli/flags.h"
#include "base/mem.h"
#include "bench/source/replay.h"
#include "net/loop.h"
#include "sim/api/server.h"
#include "sim/scenario/pods.h"

#define LOOPBACK "127.0.0.1"

static struct sim_flags {
    struct sim_server_options server;
    int pods, replicas;
    bool replay;
    const char *encodings;
    struct flag_list load;
} given = {
    .server = {.listen = LOOPBACK, .watch_cache = true, .gzip = true, .bookmark_ms = 60000},
    .replicas = SIM_POD_REPLICAS,
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
    {"script", 0, FLAG_STRING, &given.server.script, "SCENARIO", NULL,
     "Play a scenario of changes and faults; see docs/sim.md"},
    {"bookmark-interval", 0, FLAG_DURATION_MS, &given.server.bookmark_ms, "DURATION", NULL,
     "Interval between watch bookmarks (default 60s)"},
    {"watch-cache", 0, FLAG_BOOL, &given.server.watch_cache, NULL, NULL,
     "Ignore limit on lists with resourceVersion=0, as a watch cache does (default true)"},
    {"gzip", 0, FLAG_BOOL, &given.server.gzip, NULL, NULL,
     "Compress responses over 128 KiB for clients that accept gzip (default true)"},
    {NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL},
};

/* Part of the help behind the flags. */
static const struct flag_group *groups(void)
{
    static const struct flag none = {NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL};
    static const struct flag_group all[] = {
        {"It prints \"Serving on http://ADDR:PORT\" when it is ready. For example:\n"
         "  kubectl --server http://127.0.0.1:PORT get pods -A",
         &none},
        {NULL, NULL}};
    return all;
}

static void on_signal(void *ctx, int signum)
{
    loop_stop(ctx);
}

static void announce(const struct sim_flags *sim, int port)
{
    const char *listen = sim->server.listen;
    bool six = strchr(listen, ':') != NULL;
    printf("Serving on http://%s%s%s:%d\n", six ? "[" : "", listen, six ? "]" : "", port);
    fflush(stdout);
}

static bool serve(struct loop *loop, const struct sim_flags *sim, struct err *err)
{
    struct sim_server *server = sim_server_new(loop, &sim->server, err);
    if (server) announce(sim, sim_server_port(server));
    bool ok = server && sim_server_begin(server, err);
    if (ok) loop_run(loop);
    sim_server_free(server);
    return ok;
}

static bool serve_replay(struct loop *loop, const struct sim_flags *sim, struct err *err)
{
    const struct sim_server_options *server = &sim->server;
    struct replay *replay = replay_new(loop,
                                       &(struct replay_options){.listen = server->listen,
                                                                .port = server->port,
                                                                .pods = server->pods,
                                                                .replicas = server->replicas,
                                                                .encodings = sim->encodings},
                                       err);
    if (!replay) return false;
    announce(sim, replay_port(replay));
    loop_run(loop);
    replay_free(replay);
    return true;
}

static int run_server(const struct sim_flags *sim)
{
    struct loop *loop = loop_new();
    struct err err;
    signal(SIGPIPE, SIG_IGN);
    /* One thread stores an object and another one frees it later: with an arena for each, memory would wander
     * from one to the other and never be used again. */
    mallopt(M_ARENA_MAX, 1);
    struct signal_watch *term = signal_watch_new(loop, SIGTERM, on_signal, loop);
    struct signal_watch *interrupt = signal_watch_new(loop, SIGINT, on_signal, loop);
    bool ok = sim->replay ? serve_replay(loop, sim, &err) : serve(loop, sim, &err);
    if (!ok) fprintf(stderr, "kubelua sim: %s\n", err.text);
    signal_watch_free(term);
    signal_watch_free(interrupt);
    loop_free(loop);
    return ok ? EXIT_OK : EXIT_USAGE;
}

/* The replay source has its pods and no others. */
static bool check_replay(const struct sim_flags *sim, struct err *err)
{
    if (!sim->replay && sim->encodings) return err_set(err, ERR_INVALID, "--encodings needs --replay");
    if (!sim->replay) return true;
    if (sim->pods == 0) return err_set(err, ERR_INVALID, "--replay needs --pods N");
    if (sim->load.count) return err_set(err, ERR_INVALID, "--load and --replay are mutually exclusive");
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
    server->load = sim->load.items;
    server->load_count = sim->load.count;
}

static int run(struct command_line *line)
{
    struct err err;
    bool ok = check_numbers(&given, &err) && check_replay(&given, &err);
    complete(&given);
    return ok ? run_server(&given) : command_fail(line, err.text);
}

const struct command cmd_sim = {
    .name = "sim",
    .summary = "Run a simulated API server",
    .no_arguments = "",
    .flags = flags,
    .groups = groups,
    .run = run,
};
