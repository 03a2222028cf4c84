/* Timers of a script: k8s.every, k8s.after and k8s.cron. Each tick is a call that may wait; the next tick of
 * k8s.every waits for its end, and k8s.cron says what it does. Those that fell due tick in the script's
 * turns, so that one with many holds up no other. Owner: the script's list, as long as ticks may come or one
 * is under way, and the userdata share one by count. On the engine thread. */
#pragma once
#include "base/time/cron.h"
#include "script/vm/failure_log.h"
#include "script/vm/quarantine.h"
#include "script/vm/task.h"

enum timer_kind { TIMER_AFTER, TIMER_EVERY, TIMER_CRON };

/* Treatment of a run of k8s.cron that falls due while another is in progress. */
enum timer_overlap {
    OVERLAP_SKIP,    /* does not come */
    OVERLAP_QUEUE,   /* comes when that one has ended; once, however many there were */
    OVERLAP_ALLOW,   /* comes beside it */
    OVERLAP_REPLACE, /* comes in its place: that one is cancelled */
};

/* A call under way. */
struct script_tick {
    LIST_ENTRY(script_tick) link;
    struct script_timer *timer; /* a reference */
    struct task *task;          /* NULL until it waits */
};

/* A run of k8s.cron that was called by hand: within the task of a command. */
struct cron_by_hand {
    struct task_cleanup cleanup;
    LIST_ENTRY(cron_by_hand) link;
    struct script_timer *timer; /* a reference */
    struct task *task;
};

struct script_timer {
    TAILQ_ENTRY(script_timer) link, due_link;
    bool due; /* waits for a turn of its script */
    struct script *script;
    struct timer timer;
    enum timer_kind kind;
    int64_t period_ms;         /* of TIMER_EVERY; the delay of TIMER_AFTER */
    int64_t due_ms;            /* of the clock; not of TIMER_CRON */
    struct cron_schedule plan; /* of TIMER_CRON, as the next four */
    char *schedule;            /* "0 3 * * mon-fri" */
    enum timer_overlap overlap;
    bool queued;
    uint64_t skipped; /* runs that did not come as one was under way */
    int function;     /* in the registry; LUA_NOREF once no tick comes any more */
    bool stopped;
    bool leader; /* no tick comes while the script does not lead */
    LIST_HEAD(, script_tick) ticks;
    LIST_HEAD(, cron_by_hand) by_hand;
    /* Of a reload: the same one of an earlier generation, of which a tick is under way (a reference), and the
     * other way round. Ticks of the two do not meet, but for `overlap`. */
    struct script_timer *follows, *followed_by;
    bool waits_for_previous; /* a tick is due, and waits for that */
    int refs;
    char *name; /* "scripts/x.lua:12", where it was made */
    char *key;  /* "every 30s#2", its name in the plan; NULL for one that was made at run time */
    struct failure_log report;
    struct quarantine quarantine;
};

struct script_timers {
    TAILQ_HEAD(, script_timer) list, due; /* `due` in the order in which they fell due */
    size_t count, due_count;
    SLIST_HEAD(, script_zone) zones; /* of k8s.cron */
};

/* Takes the function on top of the stack. `period` false: once; `leader`: on the leader only; `key` may be
 * NULL. Raises when there are too many. Returns a reference for the caller, who must not raise before it is
 * kept. */
struct script_timer *script_timer_new(lua_State *L, const char *verb, int64_t delay_ms, bool period,
                                      bool leader, const char *key);

struct cron_options {
    struct cron cron;
    struct zone *zone; /* of script_zone */
    struct str schedule;
    int64_t late_s;
    enum timer_overlap overlap;
    bool leader;
    const char *key; /* NULL for one made at run time */
};
/* The same for k8s.cron. */
struct script_timer *script_timer_new_cron(lua_State *L, const struct cron_options *options);

/* No tick comes after it; one that is under way goes on. False when there was none to come. */
bool script_timer_stop(lua_State *L, struct script_timer *timer);
void script_timer_unref(struct script_timer *timer);
/* Cancels ticks of leaders that wait. */
void script_timers_stop_leading(struct script *script);
/* Runs the ticks of due timers: the work of a turn. */
void script_timers_turn(struct script *script);
/* Starts the timers that were created while the script loaded. */
void script_timers_start(struct script *script);
/* For a reload: those of `to` begin, one that `from` has under the same key when that one's next tick is due;
 * those of `from` stop. Returns how many of these were made at run time, and had a tick to come. */
size_t script_timers_handover(struct script *from, struct script *to);
/* The script is made. */
void script_timers_init(struct script *script);
/* Stops all. */
void script_timers_clear(struct script *script);

/* Appends "every 30s", "after 5m", or "cron 0 3 * * mon-fri Europe/Berlin": timers of two generations of a
 * script are the same one when these are equal, and the options. */
void script_timer_describe(const struct script_timer *timer, struct buf *out);
/* Returns when the next tick is due, in microseconds since the epoch; 0: none is to come, or not before the
 * current one has ended. */
int64_t script_timer_due_us(const struct script_timer *timer);
/* `timer` is the same as `old`, of an earlier generation: its next tick is due when that one's is. Before
 * script_timers_start or after it. */
void script_timer_take_due(struct script_timer *timer, const struct script_timer *old);

/* Content of the userdata of timers: a reference. */
struct timer_box {
    struct script_timer *timer; /* NULL while it is made */
};
/* Pushes one. */
struct timer_box *timer_box_new(lua_State *L);

/* --- for script_cron.c */

/* Begins a call. */
void script_timer_tick(struct script_timer *timer);
/* Starts the tick of a later generation that waited for this one, if no call of this one is under way. */
void script_timer_let_next(struct script_timer *timer);

/* --- script_cron.c */

/* Returns the time zone, or the local one for an empty name; read once for each script, and borrowed from it.
 * NULL with err on failure. */
struct zone *script_zone(struct script *script, struct str name, struct err *err);
void script_zones_clear(struct script *script);
/* Asks the clock on the wall whether a run is due, and begins it. */
void script_cron_check(struct script_timer *timer);
void script_cron_start(struct script_timer *timer);
/* Calls under way are cancelled. */
void script_timer_cancel_ticks(struct script_timer *timer);
/* The call under way has ended: a run that waited for it comes. */
void script_cron_ended(struct script_timer *timer);
/* Adds cron to the field `time` of the table on top of the stack. */
void bind_cron(lua_State *L);
