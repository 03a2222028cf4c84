/* One run of the simulated API server; see sim_run.h. */
#include "app/cmd/sim_run.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/sim/sim_command.h"
#include "app/sim/sim_kubeconfig.h"
#include "app/sim/sim_lock.h"
#include "app/sim/sim_world.h"
#include "base/exit_code.h"
#include "base/mem.h"
#include "bench/source/replay.h"
#include "net/loop.h"

/* One simulator with what stands around it. */
struct sim_session {
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
    struct sim_session *run = ctx;
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
    if (strcmp(sim->server.listen, "0.0.0.0") == 0) local.server.listen = "127.0.0.1";
    if (strcmp(sim->server.listen, "::") == 0) local.server.listen = "::1";
    return make_url(&local, port);
}

static bool make_folder(struct sim_session *run, struct err *err)
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

static bool write_kubeconfig(struct sim_session *run, const struct served *served, struct err *err)
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
static bool announce(struct sim_session *run, const struct served *served, int *exit_code, struct err *err)
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

static bool start(struct sim_session *run, struct sim_server *server, int *exit_code, struct err *err)
{
    const char *authority = sim_server_authority(server);
    const struct served served = {sim_server_port(server), authority ? authority : "",
                                  sim_server_token(server)};
    return announce(run, &served, exit_code, err) && sim_server_begin(server, err);
}

/* The server is there until then. */
static void end_command(struct sim_session *run)
{
    sim_command_free(run->command);
    run->command = NULL;
}

static int serve(struct sim_session *run, struct err *err)
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

static int serve_replay(struct sim_session *run, struct err *err)
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

static void remove_folder(struct sim_session *run)
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

int sim_run(const struct sim_flags *sim)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    enum { WATCHED = sizeof signals / sizeof *signals, ENDING = 2 };
    struct err err = {0};
    struct sim_session run = {.flags = sim, .command = sim->words ? sim_command_new(sim->words, &err) : NULL};
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
