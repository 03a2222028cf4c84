/* Commands that ask a running engine one thing by its admin socket and print the answer: as tables for
 * people, or as it is. Owner: everything borrowed. */
#pragma once
#include "app/status/status_view.h"

struct admin_command {
    const char *name;    /* of the command, and of what the engine is asked */
    const char *summary; /* for its help: a sentence or two */
    void (*print)(const struct tape *tape, size_t at, FILE *out, const struct status_view *view);
};

/* Gives the process's exit code. */
int admin_command_run(const struct admin_command *command, int argc, char **argv);
void admin_command_help(const struct admin_command *command);
