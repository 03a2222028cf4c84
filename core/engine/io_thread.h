/* The thread of everything that touches the network: its loop, the pool, the client. Or these on the loop of
 * the engine, without a thread: for engines that are driven by hand.
 * Owner: the engine, on the main thread. What is reached through it belongs to the I/O thread once it runs:
 * talk to it by mails. */
#pragma once
#include "base/err.h"
#include "kube/api/client.h"
#include "kube/api/packers.h"
#include "net/loop.h"

struct io_thread;

/* Creates client and loop, with as many packers as `packers` says (kube/api/packers.h), and a pool unless
 * `stored`, one of an earlier run, is given, which it takes if it succeeds. With `loop` borrows that one and
 * starts no thread; released objects wait for io_thread_drain then. Returns NULL and sets err if a
 * certificate cannot be used; err names its configuration. */
struct io_thread *io_thread_new(const struct kube_client_options *options, struct loop *loop,
                                struct pool *stored, unsigned packers, struct err *err);
/* Another client on the loop of `first`, with its pool; both are borrowed, and `first` runs and ends them.
 * Returns NULL and sets err like the above. */
struct io_thread *io_thread_join(struct io_thread *first, const struct kube_client_options *options,
                                 struct err *err);
/* Calls `fn` on the thread, and waits until it has returned; if the thread does not run, at once. On the
 * engine thread. */
void io_thread_call(struct io_thread *io, void (*fn)(void *ctx), void *ctx);
void io_thread_start(struct io_thread *io);
/* Prepares to lend its turns to the thread of that loop, which outlives it (net/lending.h). Before
 * io_thread_start; without a loop of its own it has none to lend. */
void io_thread_lend_to(struct io_thread *io, struct loop *engine_loop);
/* Begins and ends to lend: around the run of that loop, on its thread. */
void io_thread_lend(struct io_thread *io, bool lends);
void io_thread_drain(struct io_thread *io);
/* Keeps the thread and its packers where a fork of the process may see them, as loop_quiesce. */
bool io_thread_quiesce(struct io_thread *io, int max_ms);
void io_thread_let_go(struct io_thread *io);
/* Pools of the thread and of its packers, while the engine thread has them. */
struct io_pools {
    struct pool *pool[1 + PACKERS_MAX];
    const char *owner[1 + PACKERS_MAX];
    size_t count;
};
/* Keeps the thread and its packers like io_thread_quiesce, and makes their pools the engine thread's. Returns
 * false if the thread was busy for `max_ms`, or has only begun. */
bool io_thread_borrow_pools(struct io_thread *io, int max_ms, struct io_pools *pools);
void io_thread_return_pools(struct io_thread *io, struct io_pools *pools);
/* Ends the loop and the thread; the pool stays for holders of objects. */
void io_thread_stop(struct io_thread *io);
/* After io_thread_stop, or if it was never started; every object must have been released. One that joined:
 * before the first is freed. */
void io_thread_free(struct io_thread *io);

struct loop *io_thread_loop(struct io_thread *io);
struct pool *io_thread_pool(struct io_thread *io);
/* For code on the I/O thread, but kube_client_plugin_running. */
struct kube_client *io_thread_client(struct io_thread *io);
