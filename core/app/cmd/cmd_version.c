/* `kubelua version`: what this binary is. */
#include <stdbool.h>
#include <stdio.h>

#include "app/cmd/cmd.h"
#include "app/options/commit.h"

static const char *output = "";

/* Help does not show it: the line of usage does. */
static const struct flag_group *groups(void)
{
    static const struct flag flags[] = {
        {"output", 'o', FLAG_CHOICE, &output, "json", "json", "as JSON"},
        {NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL},
    };
    static const struct flag_group all[] = {{"", flags}, {NULL, NULL}};
    return all;
}

static int run(struct command_line *line)
{
    if (*output)
        printf("{\"version\":\"%s\",\"commit\":\"%s\",\"compiler\":\"%s\",\"platform\":\"linux/%s\"}\n",
               KUBELUA_VERSION, kubelua_commit, __VERSION__, KUBELUA_ARCH);
    else if (*kubelua_commit)
        printf("kubelua v%s (%s)\n", KUBELUA_VERSION, kubelua_commit);
    else
        printf("kubelua v%s\n", KUBELUA_VERSION);
    return EXIT_OK;
}

const struct command cmd_version = {
    .name = "version",
    .summary = "Print the version and the commit",
    .no_arguments = "",
    .groups = groups,
    .run = run,
};
