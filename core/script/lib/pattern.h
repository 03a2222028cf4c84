/* Lua's patterns, as LuaJIT has them, under a budget: %f and %g are known, a pattern ends at its first zero
 * byte, subjects may hold any. Six `.-` keep Lua's own matcher busy for seconds; here the call's time runs
 * out. Owner: the C function that matches, on its stack; subject and pattern are Lua strings on its Lua
 * stack. To be used inside calls into Lua only: everything here may raise. */
#pragma once
#include "base/str.h"
#include "script/vm/budget.h"

enum { PATTERN_CAPTURES_MAX = 32, PATTERN_DEPTH_MAX = 200 };
enum { CAPTURE_OPEN = -1, CAPTURE_POSITION = -2 };

struct pattern_capture {
    const char *at;
    ptrdiff_t len; /* or one of CAPTURE_* */
};

struct pattern {
    lua_State *L;
    const char *begin, *end; /* of the subject, which has a zero byte behind its end */
    struct steps steps;
    int level, depth;
    struct { /* what is known of the set at `at` of the pattern: of each byte whether it was looked up, and
              * found
              */
        const char *at;
        uint64_t known[4], member[4];
    } set;
    struct pattern_capture captures[PATTERN_CAPTURES_MAX];
};

void pattern_init(struct pattern *m, lua_State *L, struct str subject);
/* Returns the end of the match of `p` that begins at `s`; NULL for none. */
const char *pattern_match(struct pattern *m, const char *s, const char *p);
/* The first match of `p` at or behind `*s`, which is set to where it begins. */
const char *pattern_search(struct pattern *m, const char **s, const char *p);
/* Pushes capture `i` of the match from `s` to `e`, or the whole match for 0 where there is none. */
void pattern_push(struct pattern *m, int i, const char *s, const char *e);
/* Pushes all captures, or the whole match where there is none and `s` is not NULL; returns their number. */
int pattern_push_all(struct pattern *m, const char *s, const char *e);
