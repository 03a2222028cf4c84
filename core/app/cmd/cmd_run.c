/* `kubelua run`: the engine, until a signal ends it. */
#include <stdio.h>

#include "app/cmd/cmd.h"
#include "app/cmd/launch.h"

static void help(void)
{
    puts("Run scripts until interrupted (SIGTERM or SIGINT).\n\n"
         "Usage:\n"
         "  kubelua run -f FILE|DIR ... [flags]\n\n"
         "In a directory, every *.lua file is a script, except *_spec.lua and names that start with _ "
         "(modules).\n\n"
         "Examples:\n"
         "  kubelua run -f scripts/watch_pods.lua\n"
         "  kubelua run -f rules/scripts --context staging -n shop\n\n"
         "Flags:");
    launch_help(ENGINE_RUN);
}

static int run(int argc, char **argv)
{
    return launch(ENGINE_RUN, argc, argv);
}

const struct command cmd_run = {"run", "Run scripts until interrupted", run, help};
