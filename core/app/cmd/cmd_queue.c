/* `kubelua queue`: asks a running engine for its work queues, by its admin socket. */
#include "app/cmd/admin_command.h"
#include "app/cmd/cmd.h"

static const struct admin_command command = {
    .name = "queue",
    .summary = "Show work queues: waiting, processing and failing keys.",
    .print = status_view_print_queues,
};

static int run(int argc, char **argv)
{
    return admin_command_run(&command, argc, argv);
}

static void help(void)
{
    admin_command_help(&command);
}

const struct command cmd_queue = {"queue", "Show work queues", run, help};
