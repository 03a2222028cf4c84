/* Module of NATS: events go to JetStream, whose acknowledgement tells that a stream has stored them, with
 * their id as Nats-Msg-Id. Events of different keys are sent at a time, those of one key one after the other:
 * the server stores what it is sent in any order once a message is lost. */
#include <nats/nats.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "streams/stream_module.h"

enum { PIECE_MS = 100, CONNECT_MS = 5000, URL_MAX = 512, MESSAGE_TOO_LARGE = 10054 };

struct nats_client {
    char *urls, *subject, *user, *password, *token, *name;
    int timeout_ms;
    natsConnection *connection; /* NULL: not connected */
    jsCtx *stream;
    /* By threads of the library, during a delivery. */
    atomic_int failures, refusals; /* whether there was one */
    struct stream_error failure;   /* of the first one */
};

static void fail(struct stream_error *error, const char *what, natsStatus status)
{
    snprintf(error->text, sizeof error->text, "%s: %s", what, natsStatus_GetText(status));
}

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

static void close_client(void *ctx)
{
    struct nats_client *client = ctx;
    jsCtx_Destroy(client->stream);
    natsConnection_Destroy(client->connection);
    free(client->urls);
    free(client->subject);
    free(client->user);
    free(client->password);
    free(client->token);
    free(client->name);
    free(client);
}

static void *open_client(const struct stream_settings *settings, struct stream_error *error)
{
    struct nats_client *client = calloc(1, sizeof *client);
    if (!client) abort();
    client->urls = copy(settings->servers);
    client->subject = copy(settings->path);
    client->user = copy(settings->user);
    client->password = copy(settings->password);
    client->token = copy(settings->token);
    client->name = copy(settings->name);
    client->timeout_ms = settings->timeout_ms;
    return client;
}

/* --- the connection */

/* On a thread of the library. */
static void on_refused(jsCtx *stream, jsPubAckErr *problem, void *ctx)
{
    struct nats_client *client = ctx;
    if (problem->ErrCode == (jsErrCode)MESSAGE_TOO_LARGE) atomic_store(&client->refusals, 1);
    /* Calls come one after the other: the first one writes its text before it is counted. */
    if (atomic_load(&client->failures) > 0) return;
    if (problem->Err == NATS_NO_RESPONDERS)
        snprintf(client->failure.text, sizeof client->failure.text, "no stream has the subject %s",
                 client->subject);
    else
        snprintf(client->failure.text, sizeof client->failure.text, "%s",
                 problem->ErrText ? problem->ErrText : natsStatus_GetText(problem->Err));
    atomic_store(&client->failures, 1);
}

static natsStatus set_servers(natsOptions *options, struct nats_client *client)
{
    char copy_of[URL_MAX], *rest = NULL;
    const char *urls[16];
    int count = 0;
    snprintf(copy_of, sizeof copy_of, "%s", client->urls);
    for (char *one = strtok_r(copy_of, ",", &rest); one && count < 16; one = strtok_r(NULL, ",", &rest))
        urls[count++] = one;
    return natsOptions_SetServers(options, urls, count);
}

/* A connection that is lost is made anew by the next delivery, so that nothing is sent twice behind its back.
 */
static natsStatus connect_with(struct nats_client *client, natsOptions *options)
{
    jsOptions stream;
    natsStatus s = set_servers(options, client);
    if (s == NATS_OK) s = natsOptions_SetAllowReconnect(options, false);
    if (s == NATS_OK) s = natsOptions_SetTimeout(options, CONNECT_MS);
    if (s == NATS_OK && client->name) s = natsOptions_SetName(options, client->name);
    if (s == NATS_OK && client->token) s = natsOptions_SetToken(options, client->token);
    if (s == NATS_OK && client->user)
        s = natsOptions_SetUserInfo(options, client->user, client->password ? client->password : "");
    if (s == NATS_OK) s = natsConnection_Connect(&client->connection, options);
    if (s == NATS_OK) s = jsOptions_Init(&stream);
    if (s != NATS_OK) return s;
    stream.PublishAsync.ErrHandler = on_refused;
    stream.PublishAsync.ErrHandlerClosure = client;
    return natsConnection_JetStream(&client->stream, client->connection, &stream);
}

static void disconnect(struct nats_client *client)
{
    jsCtx_Destroy(client->stream);
    natsConnection_Destroy(client->connection);
    client->stream = NULL;
    client->connection = NULL;
}

static natsStatus connect_client(struct nats_client *client)
{
    natsOptions *options = NULL;
    if (client->stream && !natsConnection_IsClosed(client->connection)) return NATS_OK;
    disconnect(client);
    natsStatus s = natsOptions_Create(&options);
    if (s == NATS_OK) s = connect_with(client, options);
    natsOptions_Destroy(options);
    return s;
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
        jsPubOptions options;
        jsPubOptions_Init(&options);
        options.MaxWait = PIECE_MS;
        s = js_PublishAsyncComplete(client->stream, &options);
        if (natsConnection_IsClosed(client->connection)) return NATS_CONNECTION_CLOSED;
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
        if (s == NATS_OK && atomic_load(&client->failures) == 0) continue;
        if (atomic_load(&client->failures) > 0)
            *error = client->failure;
        else
            fail(error, client->urls, s);
        return s == NATS_MAX_PAYLOAD || atomic_load(&client->refusals) > 0 ? STREAM_REFUSED : STREAM_RETRY;
    }
    return STREAM_DELIVERED;
}

static enum stream_outcome deliver(void *ctx, const struct stream_event *events, size_t count,
                                   const volatile int *ends, struct stream_error *error)
{
    struct nats_client *client = ctx;
    natsStatus s = connect_client(client);
    if (s != NATS_OK) {
        fail(error, client->urls, s);
        disconnect(client);
        return STREAM_RETRY;
    }
    atomic_store(&client->failures, 0);
    atomic_store(&client->refusals, 0);
    enum stream_outcome outcome = deliver_waves(client, events, count, ends, error);
    /* Messages on their way would be stored behind those that are sent again. */
    if (outcome != STREAM_DELIVERED) disconnect(client);
    return outcome;
}

__attribute__((visibility("default"))) const struct stream_module kubelua_stream_module = {
    STREAM_MODULE_VERSION, open_client, deliver, close_client};
