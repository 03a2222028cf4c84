/* `kubelua version`: what this binary is. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "app/cmd.h"

static void help(void)
{
    puts("Print the version of kubelua.\n\n"
         "Usage:\n"
         "  kubelua version [-o json]");
}

static int run(int argc, char **argv)
{
    bool json = argc == 3 && strcmp(argv[1], "-o") == 0 && strcmp(argv[2], "json") == 0;
    if (argc > 1 && !json) {
        fprintf(stderr, "kubelua version: unknown argument \"%s\"\n", argv[1]);
        return EXIT_USAGE;
    }
    if (json)
        printf("{\"version\":\"%s\",\"compiler\":\"%s\",\"platform\":\"linux/%s\"}\n", KUBELUA_VERSION,
               __VERSION__, KUBELUA_ARCH);
    else
        printf("kubelua v%s\n", KUBELUA_VERSION);
    return EXIT_OK;
}

const struct command cmd_version = {"version", "Print the version", run, help};
