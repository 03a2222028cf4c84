/* `kubelua sim`: the simulated API server. */
#include <stdio.h>

#include "app/cmd.h"

static void help(void)
{
    puts("Run a simulated Kubernetes API server.");
}

static int run(int argc, char **argv)
{
    fputs("kubelua sim: no simulator in this build\n", stderr);
    return EXIT_USAGE;
}

const struct command cmd_sim = {"sim", "Run a simulated API server", run, help};
