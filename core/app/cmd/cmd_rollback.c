/* `kubelua rollback`: has a running engine return to what a script was. */
#include <stdio.h>

#include "app/cmd/cmd.h"
#include "app/cmd/reload_command.h"

static int run(int argc, char **argv)
{
    return reload_command_run("rollback", argc, argv);
}

static void help(void)
{
    puts("Have a running engine return to the generation of a script before the one that runs.\n\n"
         "It becomes a new generation, by the way of each change, and the one that ran is the one before: a\n"
         "second rollback returns to that. What the file says does not run until it changes again, or\n"
         "kubelua reload asks for it; an edit is loaded as any other.\n\n"
         "Usage:\n  kubelua rollback SCRIPT [flags]\n\nFlags:");
    reload_command_help();
}

const struct command cmd_rollback = {"rollback", "Have a running engine return to what a script was", run,
                                     help};
