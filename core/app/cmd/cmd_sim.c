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

struct sim_flags {
    struct sim_server_options server;
    int pods, replicas;
    bool replay;
    const char *encodings;
    struct flag_list load;
};

static const struct flag *sim_flags(struct sim_flags *flags)
{
    static struct flag table[14];
    struct sim_server_options *s = &flags->server;
    const struct flag all[] = {
        {"port", 'p', FLAG_INT, &s->port, "N", NULL, "Port to listen on (default 0: any free port)"},
        {"listen", 0, FLAG_STRING, &s->listen, "ADDR", NULL,
         "IP address to listen on, or localhost (default 127.0.0.1)"},
        {"pods", 0, FLAG_INT, &flags->pods, "N", NULL,
         "Serve N generated pods of about 9.4 KB; every start generates the same"},
        {"replicas", 0, FLAG_COUNT, &flags->replicas, "N", NULL, "Generated pods per workload (default 3)"},
        {"replay", 0, FLAG_BOOL, &flags->replay, NULL, NULL,
         "Serve only generated pods, as fast as possible; for benchmarks"},
        {"encodings", 0, FLAG_STRING, &flags->encodings, "DIR", NULL,
         "With --replay: directory with the same pods in protobuf, written by bench/peers/encode"},
        {"load", 'f', FLAG_LIST, &flags->load, "FILE", NULL,
         "Serve the objects of a JSON file: one object, a List, or one object per line (repeatable)"},
        {"script", 0, FLAG_STRING, &s->script, "SCENARIO", NULL,
         "Play a scenario of changes and faults; see docs/sim.md"},
        {"bookmark-interval", 0, FLAG_DURATION_MS, &s->bookmark_ms, "DURATION", NULL,
         "Interval between watch bookmarks (default 60s)"},
        {"watch-cache", 0, FLAG_BOOL, &s->watch_cache, NULL, NULL,
         "Ignore limit on lists with resourceVersion=0, as a watch cache does (default true)"},
        {"gzip", 0, FLAG_BOOL, &s->gzip, NULL, NULL,
         "Compress responses over 128 KiB for clients that accept gzip (default true)"},
    };
    *flags = (struct sim_flags){
        .server = {.listen = LOOPBACK, .watch_cache = true, .gzip = true, .bookmark_ms = 60000},
        .replicas = SIM_POD_REPLICAS};
    return flags_fill(table, ARRAY_LEN(table), all, ARRAY_LEN(all));
}

static void help(void)
{
    struct sim_flags flags;
    puts("Run a simulated Kubernetes API server: for demos, tests and benchmarks.\n\nUsage:\n  kubelua sim "
         "[flags]\n\nFlags:");
    flags_print(sim_flags(&flags));
    puts("\n"
         "It prints \"Serving on http://ADDR:PORT\" when it is ready. For example:\n"
         "  kubectl --server http://127.0.0.1:PORT get pods -A");
}

static void on_signal(void *ctx, int signum)
{
    loop_stop(ctx);
}

static void announce(const struct sim_flags *flags, int port)
{
    const char *listen = flags->server.listen;
    bool six = strchr(listen, ':') != NULL;
    printf("Serving on http://%s%s%s:%d\n", six ? "[" : "", listen, six ? "]" : "", port);
    fflush(stdout);
}

static bool serve(struct loop *loop, const struct sim_flags *flags, struct err *err)
{
    struct sim_server *server = sim_server_new(loop, &flags->server, err);
    if (server) announce(flags, sim_server_port(server));
    bool ok = server && sim_server_begin(server, err);
    if (ok) loop_run(loop);
    sim_server_free(server);
    return ok;
}

static bool serve_replay(struct loop *loop, const struct sim_flags *flags, struct err *err)
{
    const struct sim_server_options *server = &flags->server;
    struct replay *replay = replay_new(loop,
                                       &(struct replay_options){.listen = server->listen,
                                                                .port = server->port,
                                                                .pods = server->pods,
                                                                .replicas = server->replicas,
                                                                .encodings = flags->encodings},
                                       err);
    if (!replay) return false;
    announce(flags, replay_port(replay));
    loop_run(loop);
    replay_free(replay);
    return true;
}

static int run_server(const struct sim_flags *flags)
{
    struct loop *loop = loop_new();
    struct err err;
    signal(SIGPIPE, SIG_IGN);
    /* One thread stores an object and another one frees it later: with an arena for each, memory would wander
     * from one to the other and never be used again. */
    mallopt(M_ARENA_MAX, 1);
    struct signal_watch *term = signal_watch_new(loop, SIGTERM, on_signal, loop);
    struct signal_watch *interrupt = signal_watch_new(loop, SIGINT, on_signal, loop);
    bool ok = flags->replay ? serve_replay(loop, flags, &err) : serve(loop, flags, &err);
    if (!ok) fprintf(stderr, "kubelua sim: %s\n", err.text);
    signal_watch_free(term);
    signal_watch_free(interrupt);
    loop_free(loop);
    return ok ? EXIT_OK : EXIT_USAGE;
}

/* The replay source has its pods and no others. */
static bool check_replay(const struct sim_flags *flags, struct err *err)
{
    if (!flags->replay && flags->encodings) return err_set(err, ERR_INVALID, "--encodings needs --replay");
    if (!flags->replay) return true;
    if (flags->pods == 0) return err_set(err, ERR_INVALID, "--replay needs --pods N");
    if (flags->load.count) return err_set(err, ERR_INVALID, "--load and --replay are mutually exclusive");
    if (flags->server.script)
        return err_set(err, ERR_INVALID, "--script and --replay are mutually exclusive");
    return true;
}

static bool check_numbers(const struct sim_flags *flags, struct err *err)
{
    enum { PORT_MAX = 65535 };
    if (flags->server.port > PORT_MAX)
        return err_set(err, ERR_INVALID, "--port: %d is too large, the maximum is %d", flags->server.port,
                       PORT_MAX);
    if (flags->pods > SIM_PODS_MAX)
        return err_set(err, ERR_INVALID, "--pods: %d is too large, the maximum is %d", flags->pods,
                       SIM_PODS_MAX);
    if (flags->server.bookmark_ms < 1)
        return err_set(err, ERR_INVALID, "--bookmark-interval must be greater than 0");
    return true;
}

static void complete(struct sim_flags *flags)
{
    struct sim_server_options *server = &flags->server;
    if (strcmp(server->listen, "localhost") == 0) server->listen = LOOPBACK;
    server->pods = (size_t)flags->pods;
    server->replicas = (size_t)flags->replicas;
    server->load = flags->load.items;
    server->load_count = flags->load.count;
}

static bool parse(int argc, char **argv, struct sim_flags *flags, struct err *err)
{
    struct flag_list rest = {0};
    const struct flag *tables[] = {sim_flags(flags), NULL};
    bool ok = flags_parse(tables, argc, argv, &rest, err);
    if (ok && rest.count) ok = err_set(err, ERR_INVALID, "unexpected argument \"%s\"", rest.items[0]);
    ok = ok && check_numbers(flags, err) && check_replay(flags, err);
    flag_list_clear(&rest);
    complete(flags);
    return ok;
}

static int run(int argc, char **argv)
{
    struct sim_flags flags;
    struct err err;
    int exit_code = EXIT_USAGE;
    if (parse(argc, argv, &flags, &err))
        exit_code = run_server(&flags);
    else
        fprintf(stderr, "kubelua sim: %s\n", err.text);
    flag_list_clear(&flags.load);
    return exit_code;
}

const struct command cmd_sim = {"sim", "Run a simulated API server", run, help};
