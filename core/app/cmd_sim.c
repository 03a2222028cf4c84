/* `kubelua sim`: the simulated API server. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/cmd.h"
#include "net/loop.h"
#include "sim/server.h"

static void help(void)
{
    puts("Run a simulated Kubernetes API server.\n\n"
         "Usage:\n  kubelua sim [--port N] [--listen ADDR] [--pods N]\n\n"
         "      --port N         port to listen on (default 0: any)\n"
         "      --listen ADDR    address to listen on (default 127.0.0.1)\n"
         "      --pods N         serve N generated pods\n"
         "      --replicas N     pods of one workload (default 3)");
}

static void on_signal(void *ctx, int signum)
{
    loop_stop(ctx);
}

static int serve(const struct sim_server_options *options)
{
    struct loop *loop = loop_new();
    struct err err;
    int exit_code = EXIT_OK;
    signal(SIGPIPE, SIG_IGN);
    struct signal_watch *term = signal_watch_new(loop, SIGTERM, on_signal, loop);
    struct signal_watch *interrupt = signal_watch_new(loop, SIGINT, on_signal, loop);
    struct sim_server *server = sim_server_new(loop, options, &err);
    if (server) {
        bool six = strchr(options->listen, ':') != NULL;
        printf("Serving on http://%s%s%s:%d\n", six ? "[" : "", options->listen, six ? "]" : "",
               sim_server_port(server));
        fflush(stdout);
        loop_run(loop);
    } else {
        fprintf(stderr, "kubelua sim: %s\n", err.text);
        exit_code = EXIT_USAGE;
    }
    sim_server_free(server);
    signal_watch_free(term);
    signal_watch_free(interrupt);
    loop_free(loop);
    return exit_code;
}

static int run(int argc, char **argv)
{
    struct sim_server_options options = {
        .listen = "127.0.0.1", .watch_cache = true, .gzip = true, .bookmark_ms = 60000};
    static const struct option flags[] = {{"port", 1, NULL, 'p'},
                                          {"listen", 1, NULL, 'l'},
                                          {"pods", 1, NULL, 'n'},
                                          {"replicas", 1, NULL, 'r'},
                                          {0}};
    for (int c; (c = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
        switch (c) {
        case 'p': options.port = atoi(optarg); break;
        case 'l': options.listen = optarg; break;
        case 'n': options.pods = strtoul(optarg, NULL, 10); break;
        case 'r': options.replicas = strtoul(optarg, NULL, 10); break;
        default: return EXIT_USAGE;
        }
    }
    return serve(&options);
}

const struct command cmd_sim = {"sim", "Run a simulated API server", run, help};
