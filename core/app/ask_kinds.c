/* Asking a server for its kinds; see ask_kinds.h. */
#include "app/ask_kinds.h"

#include "app/discoverer.h"
#include "base/mem.h"

struct question {
    struct loop *loop;
    struct catalogue *answer; /* NULL: none came */
    struct err err;
    struct timer timer;
};

static void on_found(void *ctx, const struct catalogue *catalogue)
{
    struct question *question = ctx;
    if (!question->answer) question->answer = catalogue_ref(catalogue);
    loop_stop(question->loop);
}

static void on_failed(void *ctx, const struct err *err)
{
    struct question *question = ctx;
    question->err = *err;
    loop_stop(question->loop);
}

static void on_late(struct timer *timer)
{
    struct question *question = container_of(timer, struct question, timer);
    err_set(&question->err, ERR_TIMEOUT, "no answer in time");
    loop_stop(question->loop);
}

struct catalogue *ask_kinds(const struct cluster_config *cluster, int64_t patience_ms, struct err *err)
{
    struct question question = {.loop = loop_new(), .timer = {.fn = on_late}};
    const struct kube_client_options client = {.config = cluster};
    struct io_thread *io = io_thread_new(&client, err);
    if (io) {
        struct discoverer *discoverer =
            discoverer_new(&(struct discoverer_options){.engine_loop = question.loop,
                                                        .io = io,
                                                        .found = on_found,
                                                        .failed = on_failed,
                                                        .ctx = &question});
        io_thread_start(io);
        discoverer_ask(discoverer, 0);
        timer_start(&question.timer, loop_clock(question.loop), patience_ms);
        loop_run(question.loop);
        io_thread_stop(io);
        discoverer_free(discoverer);
        io_thread_free(io);
        *err = question.err;
        timer_cancel(&question.timer);
    }
    loop_free(question.loop);
    return question.answer;
}

bool names_a_server(const struct cluster_flags *flags)
{
    return flags->kubeconfig || flags->context || flags->cluster || flags->user || flags->server;
}
