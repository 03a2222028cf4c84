/* `kubelua status`: asks a running engine how it is, by its admin socket. */
#include "app/cmd/admin_command.h"
#include "app/cmd/cmd.h"

static const struct admin_command command = {
    .name = "status",
    .summary = "Show the state of a running engine: its scripts, informers and queues, and their problems.",
    .print = status_view_print,
};

static int run(int argc, char **argv)
{
    return admin_command_run(&command, argc, argv);
}

static void help(void)
{
    admin_command_help(&command);
}

const struct command cmd_status = {"status", "Show the state of a running engine", run, help};
