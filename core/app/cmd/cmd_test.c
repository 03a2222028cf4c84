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
#include "script/specs/spec_runner.h"

/* busted's options by busted's names; what is given is handed on to it. */
static struct test_flags {
    struct options options; /* limits and modules of scripts alone */
    struct flag_list filter, filter_out, tags, exclude_tags, helper, lpath;
    const char *output;
    int seed, repeat;
    bool shuffle, shuffle_files, shuffle_tests, sort, sort_files, sort_tests;
    bool list, verbose, keep_going, suppress_pending, coverage;
} given = {.keep_going = true, .seed = -1};

static const struct flag flags[] = {
    {"filter", 0, FLAG_LIST, &given.filter, "PATTERN", NULL,
     "Run only tests whose names match this Lua pattern (repeatable)"},
    {"filter-out", 0, FLAG_LIST, &given.filter_out, "PATTERN", NULL,
     "Skip tests whose names match this Lua pattern"},
    {"tags", 't', FLAG_LIST, &given.tags, "TAG,...", NULL, "Run only tests with one of these #tags"},
    {"exclude-tags", 0, FLAG_LIST, &given.exclude_tags, "TAG,...", NULL,
     "Skip tests with one of these #tags"},
    {"output", 'o', FLAG_STRING, &given.output, "HANDLER", NULL,
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
    {"lua-path", 0, FLAG_LIST, &given.options.lua_path, "DIR", NULL,
     "Additional directory to search for the Lua modules of scripts, as for kubelua run (repeatable)"},
    {NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL},
};

static const struct flag_group *groups(void)
{
    static struct flag_group all[2];
    all[0] = (struct flag_group){"Script flags (as for kubelua run):", limit_flags(&given.options)};
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

static void push_bool(struct words *words, const char *name, bool set)
{
    if (set) push(words, xasprintf("--%s", name));
}

static void make_words(const struct test_flags *f, struct words *words)
{
    push_list(words, "filter", &f->filter);
    push_list(words, "filter-out", &f->filter_out);
    push_list(words, "tags", &f->tags);
    push_list(words, "exclude-tags", &f->exclude_tags);
    push_list(words, "helper", &f->helper);
    push_list(words, "lpath", &f->lpath);
    if (f->output) push(words, xasprintf("--output=%s", f->output));
    if (f->seed >= 0) push(words, xasprintf("--seed=%d", f->seed));
    if (f->repeat > 0) push(words, xasprintf("--repeat=%d", f->repeat));
    push_bool(words, "shuffle", f->shuffle);
    push_bool(words, "shuffle-files", f->shuffle_files);
    push_bool(words, "shuffle-tests", f->shuffle_tests);
    push_bool(words, "sort", f->sort);
    push_bool(words, "sort-files", f->sort_files);
    push_bool(words, "sort-tests", f->sort_tests);
    push_bool(words, "list", f->list);
    push_bool(words, "verbose", f->verbose);
    push_bool(words, "no-keep-going", !f->keep_going);
    push_bool(words, "suppress-pending", f->suppress_pending);
    push_bool(words, "coverage", f->coverage);
}

/* A spec may be in a loop that nothing else ends. */
static void on_interrupt(int signum)
{
    _exit(EXIT_INTERRUPTED);
}

static int run_specs(const struct spec_files *files)
{
    static const int codes[] = {
        [SPECS_PASSED] = EXIT_OK, [SPECS_FAILED] = EXIT_FINDINGS, [SPECS_NOT_RUN] = EXIT_USAGE};
    struct words words = {0};
    make_words(&given, &words);
    setvbuf(stdout, NULL, _IOLBF, 0); /* an interrupt loses nothing */
    signal(SIGINT, on_interrupt);
    signal(SIGPIPE, SIG_IGN);
    enum spec_result result =
        spec_runner_run(&(struct spec_run){.engines = &spec_engine_ops,
                                           .files = (const char *const *)files->paths,
                                           .file_count = files->count,
                                           .arguments = (const char *const *)words.items,
                                           .argument_count = words.count,
                                           .limits = &given.options.script_limits,
                                           .lua_path = given.options.lua_path.items,
                                           .lua_path_count = given.options.lua_path.count});
    for (size_t i = 0; i < words.count; i++) free(words.items[i]);
    free(words.items);
    return codes[result];
}

static void clear(struct test_flags *f)
{
    struct flag_list *lists[] = {&f->filter,       &f->filter_out, &f->tags,
                                 &f->exclude_tags, &f->helper,     &f->lpath};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) flag_list_clear(lists[i]);
    options_clear(&f->options);
}

static int run(struct command_line *line)
{
    struct spec_files files = {0};
    struct err err;
    bool ok = options_set_limits(&given.options, &err) && spec_files_find(&line->arguments, &files, &err);
    int code = ok ? run_specs(&files) : command_fail(line, err.text);
    spec_files_clear(&files);
    clear(&given);
    return code;
}

const struct command cmd_test = {
    .name = "test",
    .summary = "Run the specs of scripts",
    .help = "Run the specs of scripts with busted. In a spec, k8s.test runs a script against an in-memory "
            "cluster.\n\n"
            "Usage:\n"
            "  kubelua test [DIR|FILE ...] [flags]\n\n"
            "Of a folder (default .) it runs *_spec.lua and spec/**/*_spec.lua, of one called spec all below "
            "it;\n"
            "A FILE may have any name. It is an error if a directory contains no specs.\n\n"
            "Examples:\n"
            "  kubelua test\n"
            "  kubelua test rules --filter 'retries'\n"
            "  kubelua test -o junit > report.xml\n\n"
            "Exit codes:\n"
            "  0    all specs passed\n"
            "  1    a spec failed\n"
            "  2    usage or input error: no specs, no test that matches the filters, or busted is not "
            "installed\n"
            "  130  interrupted\n\n"
            "Flags:",
    .flags = flags,
    .groups = groups,
    .run = run,
};
