/* busted in this process: the specs of `kubelua test` run in an ordinary Lua state, with io and os and
 * compiled by LuaJIT, beside which each script under test has a sandboxed one of its own. Owner: the command,
 * on its thread; nothing of it may be called from a callback. */
#pragma once
#include <lua.h>
#include <stddef.h>

struct limits;

struct spec_run {
    void (*bind)(lua_State *L); /* adds to the verbs that raw has; under protection, once */
    const char *const *files;   /* of specs */
    size_t file_count;
    const char *const *arguments; /* of busted */
    size_t argument_count;
    const struct limits *limits; /* of scripts under test whose spec does not say */
    const char *const *lua_path; /* of scripts under test: the operator's folders with modules */
    size_t lua_path_count;
};

enum spec_result {
    SPECS_PASSED,
    SPECS_FAILED,
    SPECS_NOT_RUN, /* busted is not there, or an option was wrong: a line on stderr says which */
};

enum spec_result spec_runner_run(const struct spec_run *run);
