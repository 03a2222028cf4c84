/* `kubelua test`: the specs of scripts. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/cmd/cmd.h"
#include "app/options/options.h"
#include "app/specs/spec_engine.h"
#include "app/specs/spec_files.h"
#include "base/array.h"
#include "base/mem.h"
#include "engine/host.h"
#include "script/specs/spec_runner.h"

static struct test_flags {
    struct options options; /* limits and modules of scripts alone */
    struct flag_list filter, filter_out, tags, exclude_tags, helper, lpath;
    const char *output;
    int seed, repeat;
    bool shuffle, shuffle_files, shuffle_tests, sort, sort_files, sort_tests;
    bool list, verbose, keep_going, suppress_pending, coverage;
} given = {.keep_going = true, .seed = -1};

/* busted's options by busted's names; what is given is handed on to it. */
static const struct flag flags[] = {
    {"filter", 0, FLAG_LIST, &given.filter, "PATTERN", NULL,
     "Run only tests whose names match this Lua pattern (repeatable)"},
    {"filter-out", 0, FLAG_LIST, &given.filter_out, "PATTERN", NULL,
     "Skip tests whose names match this Lua pattern"},
    {"tags", 't', FLAG_LIST, &given.tags, "TAG,...", NULL, "Run only tests with one of these #tags"},
    {"exclude-tags", 0, FLAG_LIST, &given.exclude_tags, "TAG,...", NULL,
     "Skip tests with one of these #tags"},
    {"output", 'o', FLAG_STRING, &given.output, "HANDLER", "utfTerminal|plainTerminal|gtest|TAP|json|junit",
     "Output handler: utfTerminal (default on a terminal), plainTerminal (default otherwise), gtest, "
     "TAP, json, junit, or your own module"},
    {"seed", 0, FLAG_INT, &given.seed, "N", NULL, "Random seed for --shuffle"},
    {"repeat", 0, FLAG_COUNT, &given.repeat, "N", NULL, "Run all tests N times"},
    {"shuffle", 0, FLAG_BOOL, &given.shuffle, NULL, NULL, "Run files and tests in random order"},
    {"shuffle-files", 0, FLAG_BOOL, &given.shuffle_files, NULL, NULL, "Run files in random order"},
    {"shuffle-tests", 0, FLAG_BOOL, &given.shuffle_tests, NULL, NULL,
     "Run the tests of each file in random order"},
    {"sort", 0, FLAG_BOOL, &given.sort, NULL, NULL, "Sort files and tests by name"},
    {"sort-files", 0, FLAG_BOOL, &given.sort_files, NULL, NULL, "Sort files by name"},
    {"sort-tests", 0, FLAG_BOOL, &given.sort_tests, NULL, NULL, "Sort the tests of each file by name"},
    {"list", 'l', FLAG_BOOL, &given.list, NULL, NULL, "List the tests without running them"},
    {"verbose", 'v', FLAG_BOOL, &given.verbose, NULL, NULL, "Print a traceback for each error"},
    {"keep-going", 'k', FLAG_BOOL, &given.keep_going, NULL, NULL,
     "Continue after an error or a failure (default true)"},
    {"suppress-pending", 0, FLAG_BOOL, &given.suppress_pending, NULL, NULL, "Do not print pending tests"},
    {"coverage", 'c', FLAG_BOOL, &given.coverage, NULL, NULL,
     "Measure line coverage with LuaCov, if it is installed"},
    {"helper", 0, FLAG_LIST, &given.helper, "FILE", NULL, "Lua file to run before the specs"},
    {"lpath", 'm', FLAG_LIST, &given.lpath, "PATH", NULL,
     "Additional package.path template for specs, such as ./lib/?.lua"},
    {NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL},
};

static const struct flag own_flags[] = {
    {"recursive", 'R', FLAG_BOOL, &given.options.recursive, NULL, NULL,
     "Run the specs of all directories below DIR, too, not only of spec/"},
    {"lua-path", 0, FLAG_LIST, &given.options.lua_path, "DIR", NULL,
     "Additional directory to search for the Lua modules of scripts, as for kubelua run (repeatable)"},
    {NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL},
};

static const struct flag_group *groups(void)
{
    static struct flag_group all[3];
    all[0].flags = own_flags;
    all[1] = (struct flag_group){"Script flags (as for kubelua run):", limit_flags(&given.options)};
    return all;
}

struct words {
    char **items;
    size_t count;
};

static void push(struct words *words, char *word)
{
    *array_add(words->items, words->count) = word;
}

static void push_list(struct words *words, const char *name, const struct flag_list *list)
{
    for (size_t i = 0; i < list->count; i++) push(words, xasprintf("--%s=%s", name, list->items[i]));
}

static void push_flag(struct words *words, const struct flag *flag)
{
    const char *name = flag->name;
    switch (flag->kind) {
    case FLAG_LIST: push_list(words, name, flag->into); break;
    case FLAG_INT:
    case FLAG_COUNT:
        if (*(int *)flag->into >= (flag->kind == FLAG_COUNT))
            push(words, xasprintf("--%s=%d", name, *(int *)flag->into));
        break;
    case FLAG_BOOL:
        if (*(bool *)flag->into) push(words, xasprintf("--%s", name));
        break;
    default:
        if (*(const char **)flag->into) push(words, xasprintf("--%s=%s", name, *(const char **)flag->into));
    }
}

static void make_words(struct words *words)
{
    for (const struct flag *flag = flags; flag->name; flag++) push_flag(words, flag);
    if (!given.keep_going) push(words, xstrdup("--no-keep-going"));
}

/* A spec may be in a loop that nothing else ends. */
static void on_interrupt(int signum)
{
    _exit(EXIT_INTERRUPTED);
}

/* The specs' own state has limits and modules as the scripts under test have them by default. */
static struct script_host spec_host(void)
{
    return host_of(&(const struct host_parts){0},
                   &(const struct engine_settings){.default_namespace = "",
                                                   .limits = &given.options.script_limits,
                                                   .lua_path = given.options.lua_path.items,
                                                   .lua_path_count = given.options.lua_path.count});
}

static int run_specs(const struct spec_files *files)
{
    static const int codes[] = {
        [SPECS_PASSED] = EXIT_OK, [SPECS_FAILED] = EXIT_FINDINGS, [SPECS_NOT_RUN] = EXIT_USAGE};
    struct words words = {0};
    const struct script_host host = spec_host();
    make_words(&words);
    setvbuf(stdout, NULL, _IOLBF, 0); /* an interrupt loses nothing */
    signal(SIGINT, on_interrupt);
    signal(SIGPIPE, SIG_IGN);
    enum spec_result result =
        spec_runner_run(&(struct spec_run){.bind = bind_test,
                                           .files = (const char *const *)files->paths,
                                           .file_count = files->count,
                                           .arguments = (const char *const *)words.items,
                                           .argument_count = words.count,
                                           .host = &host});
    for (size_t i = 0; i < words.count; i++) free(words.items[i]);
    free(words.items);
    return codes[result];
}

static int run(struct command_line *line)
{
    struct spec_files files = {0};
    struct err err;
    bool ok = options_set_limits(&given.options, &err) &&
              spec_files_find(&line->arguments, given.options.recursive, &files, &err);
    int code = ok ? run_specs(&files) : command_fail(line, err.text);
    spec_files_clear(&files);
    return code;
}

const struct command cmd_test = {
    .name = "test",
    .summary = "Run the specs of scripts",
    .flags = flags,
    .groups = groups,
    .run = run,
};
