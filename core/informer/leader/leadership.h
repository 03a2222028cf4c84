/* The elections of a process as the engine thread sees them: who asks for a lease gets a leadership, whose
 * candidate (leader.h) lives on the I/O thread. Those who ask for the same lease share it.
 * Owner: the engine, on the engine thread, which makes all calls but leaders_check. `changed` may make calls
 * of all kinds but leaders_free.
 *
 * Whether a script leads is a fence (base/fence.h), which the I/O thread moves on and which closes by itself:
 * neither a busy script nor a late I/O thread makes it tell the wrong thing. */
#pragma once
#include "informer/leader/leader.h"
#include "kube/api/object_call.h"
#include "net/loop.h"

struct leaders;
struct leadership;

/* "POD_NAME or the host's name, and what nobody else has"; the caller frees it. */
char *leader_identity(const char *pod_name);

struct leaders_options {
    struct loop *engine_loop, *io_loop;
    struct object_caller caller;
    /* On the engine thread: leadership_fence or leadership_get_status tell something new. */
    void (*changed)(void *ctx);
    void *ctx;
    const char *identity; /* copied */
    uint64_t seed;
};

struct leaders *leaders_new(const struct leaders_options *options);
/* Ends the candidates without giving leases back, and waits until the I/O thread, whose loop must still run
 * if leaders_start was called, has let go of them. The engine loop does not run any more. */
void leaders_end(struct leaders *leaders);
/* After leaders_end, and after the last leaders_check. NULL is allowed. */
void leaders_free(struct leaders *leaders);

struct lease_config {
    const char *namespace_, *name;
    struct leader_times times;
    struct leader_names names;
    struct lease_labels labels;
};

/* A deep copy, but for the names. */
struct lease_config *lease_config_copy(const struct lease_config *config);
/* NULL is allowed. */
void lease_config_free(struct lease_config *config);

/* Returns whether leaders_join would accept the config: the same lease as another's with other times or
 * labels is an error. The caller is going to leave `but`, which then does not count; NULL: none. */
bool leaders_accept(const struct leaders *leaders, const struct lease_config *config,
                    const struct leadership *but, struct err *err);
/* All is copied. After leaders_start the candidate begins at once. For each there is to be one leaders_leave,
 * or none: it is freed with all the others. */
struct leadership *leaders_join(struct leaders *leaders, const struct lease_config *config, struct err *err);
/* The last who leaves gives the lease back. */
void leaders_leave(struct leadership *leadership);
/* Somebody claims it. */
bool leadership_is_joined(const struct leadership *leadership);
bool leadership_is_of(const struct leadership *leadership, const struct lease_config *config);
/* Candidates begin. */
void leaders_start(struct leaders *leaders);
/* Instead of leaders_start, for tests: who asked for a lease has it from now on, or loses it; `changed`
 * follows. */
void leaders_decide(struct leaders *leaders, bool lead);
/* No script leads any more; leases are given back (L-8). `released` comes once, later, or not at all. */
void leaders_release(struct leaders *leaders, void (*released)(void *ctx), void *ctx);
/* L-11: appends a reason when a candidate thinks that it leads, though it has not heard so for longer than
 * its lease and `tolerance_ms`. From any thread. */
void leaders_check(struct leaders *leaders, int64_t tolerance_ms, struct buf *reason);

size_t leaders_count(const struct leaders *leaders);
struct leadership *leaders_at(const struct leaders *leaders, size_t i);

/* Of the term that this thread was notified of last, borrowed until the next `changed`; NULL: it does not
 * lead. It may be closed already. */
struct fence *leadership_fence(const struct leadership *leadership);

struct leadership_status {
    /* Borrowed until the next `changed`. The holder is "" when none is known: when this process leads no
     * more, whoever else does was not seen yet. */
    const char *namespace_, *name, *identity, *holder, *error;
    struct leader_times times;
    bool leads;
    int64_t transitions;
    int64_t since_us; /* of the last change of who leads */
    int64_t seen_us;  /* when the holder's last renewal was seen; 0: there is no holder */
};

void leadership_get_status(const struct leadership *leadership, struct leadership_status *out);
