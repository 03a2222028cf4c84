/* Questions to a server, one after the other; see command_client.h. */
#include "app/check/command_client.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/discoverer.h"
#include "kube/api/kube_call.h"
#include "object/parse/tape.h"

enum { DOCUMENT_MAX = 64 << 20 };

/* Travels to the I/O thread and back. */
struct access_mail {
    struct mail mail;
    struct access_check *checks;
    size_t count;
    struct access_review *review; /* of the I/O thread, until it has stopped */
    struct err err;
};

/* Likewise. */
struct get_mail {
    struct mail mail;
    const char *path;       /* borrowed */
    struct buf *out;        /* the caller's */
    struct kube_call *call; /* of the I/O thread, until it has stopped */
    struct err err;
    bool is_done; /* has its response */
};

struct command_client {
    struct loop *loop;
    struct io_thread *io;
    struct discoverer *discoverer; /* NULL: kinds were not asked for */
    struct catalogue *kinds;
    struct access_mail access;
    struct get_mail get;
    int64_t timeout_ms;
    struct timer timer;
    struct err err;  /* of the call under way */
    bool is_stopped; /* a document was late: its thread is no more, and further ones would be late, too */
};

static void finish(struct command_client *client, const struct err *err)
{
    if (err) client->err = *err;
    loop_stop(client->loop);
}

static void on_late(struct timer *timer)
{
    struct command_client *client = container_of(timer, struct command_client, timer);
    struct err err;
    err_set(&err, ERR_TIMEOUT, "no response within %g s", (double)client->timeout_ms / 1000);
    finish(client, &err);
}

/* Until the client has the result. */
static bool wait(struct command_client *client, struct err *err)
{
    timer_start(&client->timer, loop_clock(client->loop), client->timeout_ms);
    loop_run(client->loop);
    timer_cancel(&client->timer);
    if (client->err.code == ERR_NONE) return true;
    *err = client->err;
    return false;
}

/* --- kinds */

static void on_found(void *ctx, const struct catalogue *catalogue)
{
    struct command_client *client = ctx;
    if (catalogue_is_partial(catalogue)) return; /* all of it is needed */
    if (!client->kinds) client->kinds = catalogue_ref(catalogue);
    finish(client, NULL);
}

static void on_failed(void *ctx, const struct err *err)
{
    finish(ctx, err);
}

struct catalogue *command_client_kinds(struct command_client *client, struct err *err)
{
    err_clear(&client->err);
    client->discoverer = discoverer_new(&(struct discoverer_options){.engine_loop = client->loop,
                                                                     .io = client->io,
                                                                     .found = on_found,
                                                                     .failed = on_failed,
                                                                     .is_one_shot = true,
                                                                     .ctx = client});
    discoverer_refresh(client->discoverer, 0);
    if (!wait(client, err)) return NULL;
    return catalogue_ref(client->kinds);
}

/* --- access */

static void on_reviewed(struct mail *mail)
{
    struct command_client *client = container_of(mail, struct command_client, access.mail);
    finish(client, &client->access.err);
}

/* On the I/O thread. */
static void on_review(void *ctx, const struct err *err)
{
    struct command_client *client = ctx;
    client->access.review = NULL;
    if (err) client->access.err = *err;
    client->access.mail.deliver = on_reviewed;
    mailbox_post(loop_mailbox(client->loop), &client->access.mail);
}

/* On the I/O thread. */
static void on_access_mail(struct mail *mail)
{
    struct command_client *client = container_of(mail, struct command_client, access.mail);
    client->access.review = access_review_start(io_thread_client(client->io), client->access.checks,
                                                client->access.count, on_review, client);
}

bool command_client_access(struct command_client *client, struct access_check *checks, size_t count,
                           struct err *err)
{
    if (client->is_stopped) return err_set(err, ERR_TIMEOUT, "the server did not respond before");
    err_clear(&client->err);
    client->access = (struct access_mail){.mail.deliver = on_access_mail, .checks = checks, .count = count};
    err_clear(&client->access.err);
    mailbox_post(loop_mailbox(io_thread_loop(client->io)), &client->access.mail);
    if (wait(client, err)) return true;
    io_thread_stop(client->io); /* which writes to the checks, and they are the caller's */
    return false;
}

/* --- documents */

static void on_got(struct mail *mail)
{
    struct command_client *client = container_of(mail, struct command_client, get.mail);
    client->get.is_done = true;
    finish(client, &client->get.err);
}

/* On the I/O thread. */
static void on_document(void *ctx, const struct kube_response *response, const struct err *err)
{
    struct command_client *client = ctx;
    client->get.call = NULL;
    if (err)
        client->get.err = *err;
    else
        buf_append(client->get.out, response->body, response->len);
    client->get.mail.deliver = on_got;
    mailbox_post(loop_mailbox(client->loop), &client->get.mail);
}

/* On the I/O thread. */
static void on_get_mail(struct mail *mail)
{
    struct command_client *client = container_of(mail, struct command_client, get.mail);
    client->get.call = kube_call_start(
        io_thread_client(client->io), &(struct kube_request){.path = client->get.path, .limit = DOCUMENT_MAX},
        on_document, client);
}

bool command_client_get(struct command_client *client, const char *path, struct buf *out, struct err *err)
{
    if (client->is_stopped)
        return err_set(err, ERR_TIMEOUT, "GET %s: the server did not respond before", path);
    err_clear(&client->err);
    client->get = (struct get_mail){.mail.deliver = on_get_mail, .path = path, .out = out};
    err_clear(&client->get.err);
    mailbox_post(loop_mailbox(io_thread_loop(client->io)), &client->get.mail);
    if (!wait(client, err)) {
        /* It writes to `out`, and that is the caller's. */
        if (!client->get.is_done) io_thread_stop(client->io);
        client->is_stopped = !client->get.is_done;
        return err_wrap(err, "GET %s", path);
    }
    memset(buf_reserve(out, TAPE_PADDING), 0, TAPE_PADDING);
    return true;
}

/* --- the whole */

struct command_client *command_client_new(const struct command_client_options *options, struct err *err)
{
    struct command_client *client = NEW(struct command_client);
    const struct kube_client_options client_options = {.config = options->cluster,
                                                       .request_timeout_ms = options->request_timeout_ms};
    client->loop = loop_new();
    client->timeout_ms = options->timeout_ms;
    if (client->timeout_ms < options->request_timeout_ms) client->timeout_ms = options->request_timeout_ms;
    client->timer.fn = on_late;
    client->io = io_thread_new(&client_options, NULL, NULL, 0, err);
    if (client->io) {
        io_thread_start(client->io);
        return client;
    }
    loop_free(client->loop);
    free(client);
    return NULL;
}

void command_client_free(struct command_client *client)
{
    if (!client) return;
    io_thread_stop(client->io);
    access_review_cancel(client->access.review);
    kube_call_cancel(client->get.call);
    discoverer_free(client->discoverer);
    io_thread_free(client->io);
    catalogue_free(client->kinds);
    loop_free(client->loop);
    free(client);
}

struct catalogue *refresh_kinds(const struct command_client_options *options, struct err *err)
{
    struct command_client *client = command_client_new(options, err);
    struct catalogue *kinds = client ? command_client_kinds(client, err) : NULL;
    command_client_free(client);
    return kinds;
}

bool names_a_server(const struct cluster_flags *flags)
{
    return flags->kubeconfig || flags->context || flags->cluster || flags->user || flags->server;
}
