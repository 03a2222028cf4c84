/* `kubelua sim`: the simulated API server. */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/cmd/cmd.h"
#include "app/sim/sim_command.h"
#include "app/sim/sim_kubeconfig.h"
#include "app/sim/sim_lock.h"
#include "app/sim/sim_world.h"
#include "base/cli/flags.h"
#include "base/mem.h"
#include "bench/source/replay.h"
#include "net/loop.h"
#include "object/parse/list_parts.h"
#include "sim/api/server.h"
#include "sim/scenario/pods.h"

#define LOOPBACK "127.0.0.1"

static struct sim_flags {
    struct sim_server_options server;
    int pods, replicas;
    bool replay;
    const char *encodings, *write_kubeconfig, *authorization, *shards;
    struct flag_list load;
    const char *const *words; /* the command that runs beside it; NULL: none */
    struct world *world;      /* NULL without --world */
} given = {
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

/* --- running */

/* One simulator with what stands around it. */
struct sim_run {
    const struct sim_flags *flags;
    struct loop *loop;
    struct sim_command *command; /* NULL: none */
    char *folder, *kubeconfig;   /* of the command alone; NULL: none */
};

/* Address and certificates of the server, for its clients. */
struct served {
    int port;
    const char *authority; /* in PEM; "" without TLS */
    const char *token;     /* NULL: none is needed */
};

/* With a command, the command decides when to end. */
static void on_signal(void *ctx, int signum)
{
    struct sim_run *run = ctx;
    if (run->command)
        sim_command_signal(run->command, signum);
    else
        loop_stop(run->loop);
}

/* The caller frees it. */
static char *make_url(const struct sim_flags *sim, int port)
{
    const char *listen = sim->server.listen;
    bool six = strchr(listen, ':') != NULL;
    return xasprintf("http%s://%s%s%s:%d", sim->server.tls ? "s" : "", six ? "[" : "", listen, six ? "]" : "",
                     port);
}

/* Clients cannot connect to "any address", which is on the loopback interface, too. */
static char *make_client_url(const struct sim_flags *sim, int port)
{
    struct sim_flags local = *sim;
    if (strcmp(sim->server.listen, "0.0.0.0") == 0) local.server.listen = LOOPBACK;
    if (strcmp(sim->server.listen, "::") == 0) local.server.listen = "::1";
    return make_url(&local, port);
}

static bool make_folder(struct sim_run *run, struct err *err)
{
    const char *parent = getenv("TMPDIR");
    run->folder = xasprintf("%s/kubelua-sim-XXXXXX", parent && *parent ? parent : "/tmp");
    if (mkdtemp(run->folder)) {
        run->kubeconfig = xasprintf("%s/kubeconfig", run->folder);
        return true;
    }
    err_set(err, ERR_IO, "%s: %s", run->folder, strerror(errno));
    free(run->folder);
    run->folder = NULL;
    return false;
}

static bool write_kubeconfig(struct sim_run *run, const struct served *served, struct err *err)
{
    const struct sim_flags *sim = run->flags;
    if (sim->words && !sim->write_kubeconfig && !make_folder(run, err)) return false;
    const char *path = run->kubeconfig ? run->kubeconfig : sim->write_kubeconfig;
    if (!path) return true;
    char *url = make_client_url(sim, served->port);
    bool ok = sim_kubeconfig_write(
        &(struct sim_kubeconfig){.server = url, .ca = str_of(served->authority), .token = served->token},
        path, err);
    free(url);
    return ok;
}

/* Announces the server, or starts the command. */
static bool announce(struct sim_run *run, const struct served *served, int *exit_code, struct err *err)
{
    const struct sim_flags *sim = run->flags;
    if (!write_kubeconfig(run, served, err)) return false;
    if (sim->words) {
        const char *path = run->kubeconfig ? run->kubeconfig : sim->write_kubeconfig;
        return sim_command_start(run->command, run->loop, path, exit_code, err);
    }
    char *url = make_url(sim, served->port);
    printf("Serving on %s\n", url);
    fflush(stdout);
    free(url);
    return true;
}

static bool start(struct sim_run *run, struct sim_server *server, int *exit_code, struct err *err)
{
    const char *authority = sim_server_authority(server);
    const struct served served = {sim_server_port(server), authority ? authority : "",
                                  sim_server_token(server)};
    return announce(run, &served, exit_code, err) && sim_server_begin(server, err);
}

/* The server is there until then. */
static void end_command(struct sim_run *run)
{
    sim_command_free(run->command);
    run->command = NULL;
}

static int serve(struct sim_run *run, struct err *err)
{
    int exit_code = EXIT_USAGE;
    struct world *world = run->flags->world;
    const char *state = run->flags->server.state;
    struct sim_lock *lock = state ? sim_lock_take(state, err) : NULL;
    struct sim_server *server = lock || !state ? sim_server_new(run->loop, &run->flags->server, err) : NULL;
    if (server && world) world_begin(world, run->loop, sim_server_api(server));
    bool ok = server && start(run, server, &exit_code, err) && sim_server_begin(server, err);
    if (ok) loop_run(run->loop);
    if (ok) exit_code = run->command ? sim_command_exit_code(run->command) : EXIT_OK;
    end_command(run);
    world_stop(world);
    sim_server_free(server);
    world_free(world);
    sim_lock_free(lock);
    return exit_code;
}

static int serve_replay(struct sim_run *run, struct err *err)
{
    int exit_code = EXIT_USAGE;
    const struct sim_server_options *server = &run->flags->server;
    struct replay *replay = replay_new(run->loop,
                                       &(struct replay_options){.listen = server->listen,
                                                                .port = server->port,
                                                                .pods = server->pods,
                                                                .replicas = server->replicas,
                                                                .encodings = run->flags->encodings},
                                       err);
    bool ok = replay && announce(run, &(struct served){replay_port(replay), "", NULL}, &exit_code, err);
    if (ok) loop_run(run->loop);
    if (ok) exit_code = run->command ? sim_command_exit_code(run->command) : EXIT_OK;
    end_command(run);
    replay_free(replay);
    return exit_code;
}

static void remove_folder(struct sim_run *run)
{
    if (!run->folder) return;
    unlink(run->kubeconfig);
    rmdir(run->folder);
    free(run->kubeconfig);
    free(run->folder);
}

/* Nothing runs yet. */
static int refuse_command(const struct sim_flags *sim, const struct err *err)
{
    fprintf(stderr, "kubelua sim: %s\n", err->text);
    world_free(sim->world);
    return SIM_COMMAND_REFUSED;
}

static int run_server(const struct sim_flags *sim)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    enum { WATCHED = sizeof signals / sizeof *signals, ENDING = 2 };
    struct err err = {0};
    struct sim_run run = {.flags = sim, .command = sim->words ? sim_command_new(sim->words, &err) : NULL};
    if (sim->words && !run.command) return refuse_command(sim, &err);
    struct signal_watch *watches[WATCHED] = {NULL};
    run.loop = loop_new();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a state that gets too large is an error of its write */
    /* One thread stores an object and another one frees it later: with an arena for each, memory would wander
     * from one to the other and never be used again. */
    mallopt(M_ARENA_MAX, 1);
    for (int i = 0; i < (sim->words ? WATCHED : ENDING); i++)
        watches[i] = signal_watch_new(run.loop, signals[i], on_signal, &run);
    int exit_code = sim->replay ? serve_replay(&run, &err) : serve(&run, &err);
    if (*err.text) fprintf(stderr, "kubelua sim: %s\n", err.text);
    for (int i = 0; i < WATCHED; i++) signal_watch_free(watches[i]);
    remove_folder(&run);
    loop_free(run.loop);
    return exit_code;
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
    int exit_code = run_server(&given);
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
