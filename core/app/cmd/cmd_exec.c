/* `kubelua exec`: one script: sync, run its k8s.main, exit with what it returns. */
#include <stdio.h>

#include "app/cmd/cmd.h"
#include "app/cmd/launch.h"

static void help(void)
{
    puts("Run one script: sync its informers, run its k8s.main, exit with the number that it returns.\n\n"
         "Usage:\n"
         "  kubelua exec FILE [flags]\n\n"
         "Examples:\n"
         "  kubelua exec scripts/image_report.lua --context staging\n\n"
         "Exit codes:\n"
         "  0    done; another number that main returned\n"
         "  2    usage, configuration or input error\n"
         "  3    main or another function of the script raised, an informer was not synced in\n"
         "       time, objects were refused, output was lost, or a SIGTERM came first\n"
         "  130  interrupted\n"
         "  141  nobody reads its output any more, as in kubelua exec FILE | head\n\n"
         "Flags:");
    launch_help(ENGINE_EXEC);
}

static int run(int argc, char **argv)
{
    return launch(ENGINE_EXEC, argc, argv);
}

const struct command cmd_exec = {"exec", "Run one script's main on a synced cache, then exit", run, help};
