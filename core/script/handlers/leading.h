/* Leadership of a script: k8s.leader, k8s.on_leader, and what `leader = true` gates.
 * Owner: the script has its state. On the engine thread, outside of Lua except where said otherwise.
 *
 * There are two states. Whether the script leads now is checked with a fence, at each event, tick, write and
 * k8s.is_leader(). A notified win or loss changes when the engine notifies the script: then functions are
 * called, handlers get the cache or are taken off, and calls in flight are cancelled. */
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
    struct script *script;         /* whose it is */
    bool claimed;                  /* it has asked for an election */
    char *place;                   /* "scripts/x.lua:12", where it called k8s.leader; NULL: it did not */
    struct lease_config *config;   /* the one it will take part in once it runs; NULL: none */
    struct leadership *joined;     /* it takes part in, under --dry-run too; NULL: none */
    struct leadership *leadership; /* that tells whether it leads; NULL: there is none, it always leads */
    struct fence *fence;           /* of the term that it was notified of; a reference; NULL: there is none */
    bool notified;                 /* that it leads */
    bool over;                     /* it never will again */
    TAILQ_HEAD(, leader_functions) functions;
    size_t count;
    struct timer begin; /* goes on in a turn of the loop: it has loaded, or need not wait any more */
    /* Of a reload: an earlier generation whose functions for the end have not ended; ours for the beginning
     * wait for those, and so does a lease that is another one. */
    struct script *waits_for, *awaited_by;
};

enum { LEADER_FUNCTIONS_MAX = 100 };

void leading_init(struct script *script);
/* Keeps the two functions on top of the stack, the second may be nil. Inside a call into Lua; may raise. */
void leading_add_functions(lua_State *L);
/* Notes a call of k8s.leader at `place`, which is copied: the script joins an election once it runs; a dry
 * run only has it checked. */
bool leading_join(struct script *script, const struct lease_config *config, const char *place,
                  struct err *err);
/* Call when the script runs: without k8s.leader it joins the election of --leader-elect, if there is one. */
bool leading_loaded(struct script *script, struct err *err);
/* For a reload: `to` takes part in its election in place of `from`. Of the same one the term stays. Another
 * lease is changed when functions for the end have ended: nothing is done for two terms at once. */
bool leading_handover(struct script *from, struct script *to, struct err *err);
/* Returns whether the work of `from` as a leader goes on in `to`, after the handover. */
bool leading_keeps_term(const struct script *from, const struct script *to);
/* The election is left, without a successor, when functions for the end have been called and ended. */
void leading_end(struct script *script);
/* Functions of `from` for the end are called, those of `to` for the beginning after them. */
void leading_begin_after(struct script *from, struct script *to);

/* Returns whether the script leads at this instant. Anywhere. */
bool script_leads(const struct script *script);
/* Returns the fence of a leader's work begun now; borrowed, NULL without an election. Anywhere. */
struct fence *leading_fence(const struct script *script);

/* The election may have news. */
void leading_changed(struct script *script);
/* Leads no more, for good: its stop functions are called. */
void leading_step_down(struct script *script);
/* Stop functions that wait. */
size_t leading_count_stopping(const struct script *script);
void leading_clear(struct script *script);
