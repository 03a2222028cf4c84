/* Namespaces that a reflector of all namespaces follows. Objects of others are dropped. One that joins while
 * the watch runs is listed alone; its events are held back meanwhile, and what the list already has is not
 * taken again (there is no gap and no double). One that leaves becomes an empty list of it. Owner: the feed,
 * on the I/O thread. Reflectors borrow it. */
#pragma once
#include "informer/reflect/collection.h"
#include "kube/api/list_watch.h"

struct followed;
struct followed_namespace;

struct followed_options {
    const char *name;        /* for logs: that of the reflector; copied */
    struct delta_fifo *fifo; /* borrowed */
    struct clock *clock;     /* borrowed */
    /* Lists one namespace and calls followed_listed with the result, not from in here. Returns what
     * `end_list` ends, once; that may be called from inside followed_listed. */
    void *(*start_list)(void *ctx, struct followed_namespace *joining, const char *ns);
    void (*end_list)(void *ctx, void *list);
    void (*relist)(void *ctx);  /* lists all namespaces anew */
    void (*changed)(void *ctx); /* the counts did */
    void *ctx;
};

/* Any thread. */
struct followed_counts {
    size_t followed, joining; /* namespaces; those of them that are being listed */
};

/* FOLLOWED_JOINS_MAX: most namespaces that are listed at the same time. */
enum { FOLLOWED_JOINS_MAX = 10 };

struct followed *followed_new(const struct followed_options *options);
/* Ends all lists, as the I/O thread stops using it. */
void followed_stop(struct followed *followed);
/* Call after followed_stop. */
void followed_free(struct followed *followed);
struct followed_counts followed_count(const struct followed *followed);
/* Add and remove a namespace; a second time does nothing. */
void followed_join(struct followed *followed, const char *ns);
void followed_leave(struct followed *followed, const char *ns);
/* As `admits` of lw_scope. */
bool followed_admits(void *followed, struct str ns);

/* --- For the reflector */

/* Takes the list of a namespace, of the newest state: what it needs of `objects`. */
void followed_listed(struct followed_namespace *joining, struct collection *objects, struct str version);
/* A list of all namespaces begins: it has those that are followed now. */
void followed_list_begins(struct followed *followed);
/* Drops listed objects of namespaces that left meanwhile. */
void followed_filter(const struct followed *followed, struct collection *objects);
/* The list is queued and its watch runs: namespaces that joined meanwhile are listed. */
void followed_watch_runs(struct followed *followed);
/* Takes an event that must not be queued now: returns true with the reference. */
bool followed_takes(struct followed *followed, enum lw_event_type type, struct root *object);
/* Returns the newest version of what was listed alone; "" for none. */
const char *followed_version(struct followed *followed);
