/* `kubelua reload`: has a running engine take what the files of its scripts say now. */
#include <stdio.h>

#include "app/cmd/cmd.h"
#include "app/cmd/reload_command.h"

static int run(int argc, char **argv)
{
    return reload_command_run("reload", argc, argv);
}

static void help(void)
{
    puts("Have a running engine look at its scripts' files, and wait until what changed runs.\n\n"
         "The engine does so by itself when a file changes. This asks it to, tells what came of it, and has "
         "it\n"
         "try again what it refused. Without a name all scripts are looked at, and folders for new ones.\n"
         "Exit code 3: a script was refused, and runs on as it was.\n\n"
         "Usage:\n  kubelua reload [SCRIPT ...] [flags]\n\nFlags:");
    reload_command_help();
}

const struct command cmd_reload = {"reload", "Have a running engine take what its scripts' files say", run,
                                   help};
