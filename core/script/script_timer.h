/* Timers of a script: k8s.every and k8s.after. Each tick is a call that may wait; the next tick waits for its
 * end. Owner: the script's list, as long as ticks may come or one is under way, and the userdata share one by
 * count. On the engine thread. */
#pragma once
#include "script/report.h"
#include "script/task.h"

struct script_timer {
    TAILQ_ENTRY(script_timer) link;
    struct script *script;
    struct timer timer;
    int64_t period_ms; /* 0: once */
    int64_t due_ms;
    int function; /* in the registry; LUA_NOREF once no tick comes any more */
    bool stopped, running;
    bool leader;       /* no tick comes while the script does not lead */
    struct task *task; /* of a tick that waits; NULL: none */
    int refs;
    char *name; /* "scripts/x.lua:12", where it was made */
    char *key;  /* "every 30s#2", its name in the plan; NULL for one that was made at run time */
    struct failure_report report;
};

enum { TIMERS_MAX = 10000 };

/* Takes the function on top of the stack. `period` false: once; `leader`: on the leader only; `key` may be
 * NULL. Raises when there are too many. Gives a reference for the caller, who must not raise before it is
 * kept. */
struct script_timer *script_timer_new(lua_State *L, const char *verb, int64_t delay_ms, bool period,
                                      bool leader, const char *key);
/* No tick comes after it; one that is under way goes on. False when there was none to come. */
bool script_timer_stop(lua_State *L, struct script_timer *timer);
void script_timer_unref(struct script_timer *timer);
/* Cancels ticks of leaders that wait. */
void script_timers_stop_leading(struct script *script);
/* Those that were made while it loaded begin. */
void script_timers_start(struct script *script);
/* Stops all. */
void script_timers_clear(struct script *script);
