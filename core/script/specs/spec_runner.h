/* busted in this process: the specs of `kubelua test` run in an ordinary Lua state, with io and os and
 * compiled by LuaJIT, beside which each script under test has a sandboxed one of its own. Owner: the command,
 * on its thread; nothing of it may be called from a callback. */
#pragma once
#include <lua.h>
#include <stddef.h>

struct script_host;

struct spec_run {
    void (*bind)(lua_State *L); /* adds to the verbs that raw has; under protection, once */
    const char *const *files;   /* of specs */
    size_t file_count;
    const char *const *arguments; /* of busted */
    size_t argument_count;
    const struct script_host *host; /* of the specs' own state; it has no cluster and no loop */
};

enum spec_result {
    SPECS_PASSED,
    SPECS_FAILED,
    SPECS_NOT_RUN, /* busted is not there, or an option was wrong: a line on stderr says which */
};

enum spec_result spec_runner_run(const struct spec_run *run);
