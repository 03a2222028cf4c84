/* Elections of a process as the engine thread sees them: each config of a lease has a leadership, whose
 * candidate (leader.h) lives on the I/O thread; equal leases share it. Owner: the engine, on the engine
 * thread, which makes all calls except leaders_check. `changed` may call everything except leaders_free.
 * Whether a script leads is a fence (base/fence.h), which the I/O thread extends and which closes by itself:
 * neither a busy script nor a late I/O thread makes it wrong. */
#pragma once
#include "informer/leader/leader.h"
#include "kube/api/object_call.h"
#include "net/loop.h"

struct leaders;
struct leadership;

/* Returns the name of the pod or the host with a unique suffix; the caller frees it. */
char *leader_identity(const char *pod_name);

struct leaders_options {
    struct loop *engine_loop, *io_loop;
    struct object_caller caller;
    /* Called on the engine thread when leadership_fence or leadership_get_status changed. */
    void (*changed)(void *ctx);
    void *ctx;
    const char *identity; /* copied */
    uint64_t seed;
};

struct leaders *leaders_new(const struct leaders_options *options);
/* Ends the candidates without releasing leases, and waits until the I/O thread, whose loop must still run if
 * leaders_start was called, no longer uses them. The engine loop must not run any more. */
void leaders_end(struct leaders *leaders);
/* Frees everything; call after leaders_end and the last leaders_check. NULL is allowed. */
void leaders_free(struct leaders *leaders);

struct lease_config {
    const char *namespace_, *name;
    struct leader_times times;
    struct leader_names names;
    struct lease_labels labels;
};

/* Returns a deep copy, except for the names. */
struct lease_config *lease_config_copy(const struct lease_config *config);
/* NULL is allowed. */
void lease_config_free(struct lease_config *config);

/* Returns whether leaders_join would accept the config: two configs of one lease with different times or
 * labels are an error. `but` is ignored, as the caller is going to leave it; NULL: none. */
bool leaders_accept(const struct leaders *leaders, const struct lease_config *config,
                    const struct leadership *but, struct err *err);
/* Joins an election; copies the config. After leaders_start the candidate begins immediately. Call
 * leaders_leave once for it, or never: leaders_free frees it. */
struct leadership *leaders_join(struct leaders *leaders, const struct lease_config *config, struct err *err);
/* Leaves an election; the last one to leave releases the lease. */
void leaders_leave(struct leadership *leadership);
/* Returns whether anything joined it and did not leave. */
bool leadership_is_joined(const struct leadership *leadership);
bool leadership_is_of(const struct leadership *leadership, const struct lease_config *config);
/* Starts all candidates. */
void leaders_start(struct leaders *leaders);
/* Makes this process lead all leases, or none, instead of leaders_start, for tests; `changed` follows. */
void leaders_decide(struct leaders *leaders, bool lead);
/* Stops leading and releases the leases (L-8). `released` is called once, later, or never. */
void leaders_release(struct leaders *leaders, void (*released)(void *ctx), void *ctx);
/* Appends a reason if a candidate still counts as leading, although it received no renewal for longer than
 * its lease and `tolerance_ms` (L-11). From any thread. */
void leaders_check(struct leaders *leaders, int64_t tolerance_ms, struct buf *reason);

size_t leaders_count(const struct leaders *leaders);
struct leadership *leaders_at(const struct leaders *leaders, size_t i);

/* Of the term that this thread was notified of last, borrowed until the next `changed`; NULL: it does not
 * lead. It may be closed already. */
struct fence *leadership_fence(const struct leadership *leadership);

struct leadership_status {
    /* Strings borrowed until the next `changed`. The holder is "" if none is known: after the end of its own
     * term this process may not have seen the next holder yet. */
    const char *namespace_, *name, *identity, *holder, *error;
    struct leader_times times;
    bool leads;
    int64_t transitions;
    int64_t since_us; /* of the last change of leader */
    int64_t seen_us;  /* time of the holder's last seen renewal; 0: no holder */
};

void leadership_get_status(const struct leadership *leadership, struct leadership_status *out);
