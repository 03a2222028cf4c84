/* Questions to a server, one after the other; see command_client.h. */
#include "app/check/command_client.h"

#include <stdlib.h>

#include "base/mem.h"
#include "engine/discoverer.h"

/* Travels to the I/O thread and back. */
struct access_mail {
    struct mail mail;
    struct access_check *checks;
    size_t count;
    struct access_review *review; /* of the I/O thread, until it has stopped */
    struct err err;
};

struct command_client {
    struct loop *loop;
    struct io_thread *io;
    struct discoverer *discoverer; /* NULL: kinds were not asked for */
    struct catalogue *kinds;
    struct access_mail access;
    int64_t patience_ms;
    struct timer timer;
    struct err err; /* of the call under way */
};

static void finish(struct command_client *asker, const struct err *err)
{
    if (err) asker->err = *err;
    loop_stop(asker->loop);
}

static void on_late(struct timer *timer)
{
    struct command_client *asker = container_of(timer, struct command_client, timer);
    struct err err;
    err_set(&err, ERR_TIMEOUT, "no response within %g s", (double)asker->patience_ms / 1000);
    finish(asker, &err);
}

/* Until the client has the result. */
static bool wait(struct command_client *asker, struct err *err)
{
    timer_start(&asker->timer, loop_clock(asker->loop), asker->patience_ms);
    loop_run(asker->loop);
    timer_cancel(&asker->timer);
    if (asker->err.code == ERR_NONE) return true;
    *err = asker->err;
    return false;
}

/* --- kinds */

static void on_found(void *ctx, const struct catalogue *catalogue)
{
    struct command_client *asker = ctx;
    if (!asker->kinds) asker->kinds = catalogue_ref(catalogue);
    finish(asker, NULL);
}

static void on_failed(void *ctx, const struct err *err)
{
    finish(ctx, err);
}

struct catalogue *command_client_kinds(struct command_client *asker, struct err *err)
{
    err_clear(&asker->err);
    asker->discoverer = discoverer_new(&(struct discoverer_options){
        .engine_loop = asker->loop, .io = asker->io, .found = on_found, .failed = on_failed, .ctx = asker});
    discoverer_refresh(asker->discoverer, 0);
    if (!wait(asker, err)) return NULL;
    return catalogue_ref(asker->kinds);
}

/* --- access */

static void on_reviewed(struct mail *mail)
{
    struct command_client *asker = container_of(mail, struct command_client, access.mail);
    finish(asker, &asker->access.err);
}

/* On the I/O thread. */
static void on_review(void *ctx, const struct err *err)
{
    struct command_client *asker = ctx;
    asker->access.review = NULL;
    if (err) asker->access.err = *err;
    asker->access.mail.deliver = on_reviewed;
    mailbox_post(loop_mailbox(asker->loop), &asker->access.mail);
}

/* On the I/O thread. */
static void on_access_mail(struct mail *mail)
{
    struct command_client *asker = container_of(mail, struct command_client, access.mail);
    asker->access.review = access_review_start(io_thread_client(asker->io), asker->access.checks,
                                               asker->access.count, on_review, asker);
}

bool command_client_access(struct command_client *asker, struct access_check *checks, size_t count,
                           struct err *err)
{
    err_clear(&asker->err);
    asker->access = (struct access_mail){.mail.deliver = on_access_mail, .checks = checks, .count = count};
    err_clear(&asker->access.err);
    mailbox_post(loop_mailbox(io_thread_loop(asker->io)), &asker->access.mail);
    if (wait(asker, err)) return true;
    io_thread_stop(asker->io); /* which writes to the checks, and they are the caller's */
    return false;
}

/* --- the whole */

struct command_client *command_client_new(const struct command_client_options *options, struct err *err)
{
    struct command_client *asker = NEW(struct command_client);
    const struct kube_client_options client = {.config = options->cluster,
                                               .request_timeout_ms = options->request_timeout_ms};
    asker->loop = loop_new();
    asker->patience_ms = options->patience_ms;
    if (asker->patience_ms < options->request_timeout_ms) asker->patience_ms = options->request_timeout_ms;
    asker->timer.fn = on_late;
    asker->io = io_thread_new(&client, NULL, err);
    if (asker->io) {
        io_thread_start(asker->io);
        return asker;
    }
    loop_free(asker->loop);
    free(asker);
    return NULL;
}

void command_client_free(struct command_client *asker)
{
    if (!asker) return;
    io_thread_stop(asker->io);
    access_review_cancel(asker->access.review);
    discoverer_free(asker->discoverer);
    io_thread_free(asker->io);
    catalogue_free(asker->kinds);
    loop_free(asker->loop);
    free(asker);
}

struct catalogue *refresh_kinds(const struct command_client_options *options, struct err *err)
{
    struct command_client *asker = command_client_new(options, err);
    struct catalogue *kinds = asker ? command_client_kinds(asker, err) : NULL;
    command_client_free(asker);
    return kinds;
}

bool names_a_server(const struct cluster_flags *flags)
{
    return flags->kubeconfig || flags->context || flags->cluster || flags->user || flags->server;
}
