/* Module of NATS: events go to JetStream, whose acknowledgement tells that a stream has stored them, with
 * their id as Nats-Msg-Id. Events of different keys are sent at a time, those of one key one after the other:
 * the server stores what it is sent in any order once a message is lost. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "streams/nats_link.h"

enum { PIECE_MS = 100, MESSAGE_TOO_LARGE = 10054 };

struct nats_client {
    struct nats_link link;
    char *subject;
    int timeout_ms;
    jsCtx *stream; /* NULL: not connected */
    /* By threads of the library, until the connection is closed. */
    atomic_int refused;
    struct nats_failure failure;
};

/* --- the connection */

/* On a thread of the library. */
static void on_refused(jsCtx *stream, jsPubAckErr *problem, void *ticket)
{
    const struct nats_link *link = nats_link_lock(ticket);
    if (!link) return;
    struct nats_client *client = link->ctx;
    char text[sizeof client->failure.error.text];
    if (problem->ErrCode == (jsErrCode)MESSAGE_TOO_LARGE) atomic_store(&client->refused, 1);
    if (problem->Err == NATS_NO_RESPONDERS)
        snprintf(text, sizeof text, "no stream has the subject %s", client->subject);
    else
        snprintf(text, sizeof text, "%s",
                 problem->ErrText ? problem->ErrText : natsStatus_GetText(problem->Err));
    nats_failure_note(&client->failure, (int)problem->ErrCode, text);
    nats_links_unlock();
}

/* Likewise. */
static void on_denied(void *ctx, const char *text)
{
    struct nats_client *client = ctx;
    nats_failure_note(&client->failure, 0, text);
}

static natsStatus open_stream(struct nats_client *client)
{
    jsOptions stream;
    natsStatus s = jsOptions_Init(&stream);
    if (s != NATS_OK) return s;
    stream.PublishAsync.ErrHandler = on_refused;
    stream.PublishAsync.ErrHandlerClosure = nats_link_ticket(&client->link);
    return natsConnection_JetStream(&client->stream, client->link.connection, &stream);
}

static void disconnect(struct nats_client *client)
{
    jsCtx_Destroy(client->stream);
    client->stream = NULL;
    nats_link_disconnect(&client->link);
}

static int connect_client(struct nats_client *client, struct stream_error *error)
{
    if (client->stream && !natsConnection_IsClosed(client->link.connection)) return 1;
    disconnect(client);
    if (!nats_link_connect(&client->link, error)) return 0;
    natsStatus s = open_stream(client);
    if (s == NATS_OK) return 1;
    nats_link_fail(error, client->link.servers, s);
    disconnect(client);
    return 0;
}

/* --- the client */

static void close_client(void *ctx)
{
    struct nats_client *client = ctx;
    disconnect(client);
    nats_link_clear(&client->link);
    free(client->subject);
    free(client);
}

static void *open_client(const struct stream_settings *settings, struct stream_error *error)
{
    struct nats_client *client = calloc(1, sizeof *client);
    if (!client) abort();
    client->subject = settings->path ? strdup(settings->path) : NULL;
    client->timeout_ms = settings->timeout_ms;
    if (nats_link_init(&client->link, settings, error)) {
        client->link.on_denied = on_denied;
        client->link.ctx = client;
        return client;
    }
    close_client(client);
    return NULL;
}

/* --- a delivery */

static natsStatus send_one(struct nats_client *client, const struct stream_event *event)
{
    natsMsg *message = NULL;
    natsStatus s = natsMsg_Create(&message, client->subject, NULL, event->json, (int)event->json_size);
    if (s == NATS_OK) s = natsMsgHeader_Set(message, "Nats-Msg-Id", event->id);
    if (s == NATS_OK) s = natsMsgHeader_Set(message, "Content-Type", "application/cloudevents+json");
    if (s == NATS_OK) s = js_PublishMsgAsync(client->stream, &message, NULL);
    natsMsg_Destroy(message);
    return s;
}

static int is_of_wave(const struct stream_event *events, size_t from, size_t at)
{
    if (events[at].key_size == 0) return 1;
    for (size_t i = from; i < at; i++)
        if (events[i].key_size == events[at].key_size &&
            memcmp(events[i].key, events[at].key, events[at].key_size) == 0)
            return 0;
    return 1;
}

/* Waits for the acknowledgements of what was sent. */
static natsStatus await_acks(struct nats_client *client, const volatile int *ends)
{
    natsStatus s = NATS_TIMEOUT;
    for (int ms = 0; s == NATS_TIMEOUT && ms < client->timeout_ms && !*ends; ms += PIECE_MS) {
        if (nats_failure_is_noted(&client->failure)) return NATS_ERR;
        jsPubOptions options;
        jsPubOptions_Init(&options);
        options.MaxWait = PIECE_MS;
        s = js_PublishAsyncComplete(client->stream, &options);
        if (natsConnection_IsClosed(client->link.connection)) return NATS_CONNECTION_CLOSED;
    }
    return s;
}

static enum stream_outcome deliver_waves(struct nats_client *client, const struct stream_event *events,
                                         size_t count, const volatile int *ends, struct stream_error *error)
{
    size_t at = 0;
    while (at < count) {
        size_t from = at;
        natsStatus s = NATS_OK;
        while (s == NATS_OK && at < count && is_of_wave(events, from, at))
            s = send_one(client, &events[at++]);
        if (s == NATS_OK) s = await_acks(client, ends);
        bool has_failed = nats_failure_is_noted(&client->failure);
        if (s == NATS_OK && !has_failed) continue;
        if (has_failed)
            *error = client->failure.error;
        else
            nats_link_fail(error, client->link.servers, s);
        return s == NATS_MAX_PAYLOAD || atomic_load(&client->refused) ? STREAM_REFUSED : STREAM_RETRY;
    }
    return STREAM_DELIVERED;
}

static enum stream_outcome deliver(void *ctx, const struct stream_event *events, size_t count,
                                   const volatile int *ends, struct stream_error *error)
{
    struct nats_client *client = ctx;
    nats_failure_clear(&client->failure);
    atomic_store(&client->refused, 0);
    if (!connect_client(client, error)) return STREAM_RETRY;
    enum stream_outcome outcome = deliver_waves(client, events, count, ends, error);
    /* Messages on their way would be stored behind those that are sent again. */
    if (outcome != STREAM_DELIVERED) disconnect(client);
    return outcome;
}

__attribute__((visibility("default"))) const struct stream_module kubelua_stream_module = {
    STREAM_MODULE_VERSION, open_client, deliver, close_client};
