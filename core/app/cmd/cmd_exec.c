/* `kubelua exec`: one script: sync, run its k8s.main, exit with what it returns. */
#include <stdio.h>

#include "app/cmd/cmd.h"
#include "app/cmd/launch.h"

static void help(void)
{
    puts("Run one script: wait until its informers have synced, run k8s.main, and exit with the number it "
         "returns.\n\n"
         "Usage:\n"
         "  kubelua exec FILE [flags]\n\n"
         "Examples:\n"
         "  kubelua exec scripts/image_report.lua --context staging\n\n"
         "Exit codes:\n"
         "  0    success; or any other code that main returned\n"
         "  2    usage, configuration or input error\n"
         "  3    main or another function raised an error, an informer did not sync in time,\n"
         "       objects were refused, output was lost, or SIGTERM arrived first\n"
         "  130  interrupted\n"
         "  141  the reader of stdout closed it, as in kubelua exec FILE | head\n\n"
         "Flags:");
    launch_help(ENGINE_EXEC);
}

static int run(int argc, char **argv)
{
    return launch(ENGINE_EXEC, argc, argv);
}

const struct command cmd_exec = {"exec", "Run one script to completion", run, help};
