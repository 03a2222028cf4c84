/* `kubelua version`: what this binary is. */
#include <stdbool.h>
#include <stdio.h>

#include "app/cmd/cmd.h"
#include "app/options/commit.h"
#include "base/cli/flags.h"

static void help(void)
{
    puts("Print the version of kubelua.\n\n"
         "Usage:\n"
         "  kubelua version [-o json]");
}

static int run(int argc, char **argv)
{
    const char *output = "";
    const struct flag flags[] = {
        {"output", 'o', FLAG_CHOICE, &output, "json", "json", "as JSON"},
        {NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL},
    };
    struct flag_list rest = {0};
    struct err err;
    bool ok = flags_parse((const struct flag *const[]){flags, NULL}, argc, argv, &rest, &err);
    if (ok && rest.count) ok = err_set(&err, ERR_INVALID, "unexpected argument \"%s\"", rest.items[0]);
    flag_list_clear(&rest);
    if (!ok) {
        fprintf(stderr, "kubelua version: %s\n", err.text);
        return EXIT_USAGE;
    }
    if (*output)
        printf("{\"version\":\"%s\",\"commit\":\"%s\",\"compiler\":\"%s\",\"platform\":\"linux/%s\"}\n",
               KUBELUA_VERSION, kubelua_commit, __VERSION__, KUBELUA_ARCH);
    else
        printf("kubelua v%s\n", KUBELUA_VERSION);
    return EXIT_OK;
}

const struct command cmd_version = {"version", "Print the version", run, help};
