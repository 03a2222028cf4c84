/* Leadership of a script: k8s.leader, k8s.on_leader, and the work that `leader = true` gates. Owner: the
 * script. On the engine thread, outside of Lua except where said otherwise.
 *
 * There are two states. Whether the script leads now is checked with a fence, at each event, tick, write and
 * k8s.is_leader(). A notified win or loss changes only when the engine notifies the script: then functions
 * are called, handlers are attached or detached, and calls in flight are cancelled. */
#pragma once
#include <lua.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "base/clock.h"

struct err;
struct fence;
struct leader_functions;
struct leadership;
struct lease_config;
struct script;

struct leading {
    struct script *script;
    bool claimed;                  /* joins an election of its own choice or of the flags */
    char *place;                   /* "scripts/x.lua:12", the call of k8s.leader; NULL: none */
    struct lease_config *config;   /* lease to compete for once it runs; NULL: none */
    struct leadership *joined;     /* election it takes part in, under --dry-run too; NULL: none */
    struct leadership *leadership; /* decides whether it leads; NULL: always leads */
    struct fence *fence;           /* reference to the fence of the notified term; NULL: none */
    bool notified;                 /* notified of a win */
    bool over;                     /* never leads again */
    TAILQ_HEAD(, leader_functions) functions;
    size_t count;
    struct timer begin; /* defers the start to a turn of the loop: after loading, or after the generation it
                           waited for */
    /* Earlier generation whose stop functions are in flight: start functions of this one wait for them, and
     * so does joining another lease. */
    struct script *waits_for, *awaited_by;
};

enum { LEADER_FUNCTIONS_MAX = 100 };

void leading_init(struct script *script);
/* Stores the pair of functions on top of the stack; the second may be nil. `waits`: the first is called when
 * the script's informers are synced. Inside a call into Lua; may raise. */
void leading_add_functions(lua_State *L, bool waits);
/* Registers the election of k8s.leader at `place`, which is copied. The script joins it once it runs; a dry
 * run only checks it. */
bool leading_join(struct script *script, const struct lease_config *config, const char *place,
                  struct err *err);
/* Joins the election once the script runs: that of k8s.leader, or else of --leader-elect, if any. */
bool leading_loaded(struct script *script, struct err *err);
/* Moves participation in an election from `from` to `to` at a reload. The term goes on if the lease is the
 * same. Another lease is joined only when the stop functions of `from` have ended: one script never works for
 * two terms at once. */
bool leading_handover(struct script *from, struct script *to, struct err *err);
/* Returns whether the work of `from` as a leader goes on in `to`, after the handover. */
bool leading_keeps_term(const struct script *from, const struct script *to);
/* Calls the stop functions, and leaves the election when they have ended. For a script without a
 * successor. */
void leading_end(struct script *script);
/* Calls the stop functions of `from`, and after their end the start functions of `to`. */
void leading_begin_after(struct script *from, struct script *to);

/* Returns whether the script leads at this instant. Anywhere. */
bool script_leads(const struct script *script);
/* Returns the fence of a leader's work begun now; borrowed, NULL without an election. Anywhere. */
struct fence *leading_fence(const struct script *script);

/* Calls start functions and attaches handlers that have waited, once the informers of the script are synced
 * (initial_sync.h). */
void leading_claims_changed(struct script *script);
/* Begins what a script that was held back could not. */
void leading_resume(struct script *script);
/* Compares the election with the notified state, and notifies the script of a change. */
void leading_changed(struct script *script);
/* Ends leadership for good: calls the stop functions. */
void leading_step_down(struct script *script);
/* Returns the number of stop functions in flight. */
size_t leading_count_stopping(const struct script *script);
void leading_clear(struct script *script);
