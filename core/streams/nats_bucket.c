/* Module of buckets in NATS: JetStream's key-value stores, which are streams that keep the last message of
 * each subject. It reads by consumers of its own rather than by the library's watchers: whoever reads decides
 * what a lost connection means. Writes name the message that must be the last one, so that of two writers one
 * notices. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "streams/bucket_module.h"
#include "streams/nats_link.h"

enum {
    SUBJECT_MAX = 2048,
    HEARTBEAT_MS = 5000,
    SILENT_MS = 3 * HEARTBEAT_MS,
    PIECE_MS = 100,
    HEAD_ROOM = 4096, /* of headers, in a message of the largest size; at most half of it */
    WRONG_LAST = 10071,
    NO_STREAM = 10059,
    NO_MESSAGE = 10037,
};
static const char version_header[] = "Kubelua-Version", encoding_header[] = "Kubelua-Encoding",
                  operation_header[] = "KV-Operation";

struct bucket_client {
    struct nats_link link;
    char *bucket, *stream;
    jsCtx *js; /* NULL: not connected */
    natsSubscription *reading;
    natsMsg *current;  /* what was returned last */
    uint64_t expected; /* number of the next message of the consumer */
    int64_t heard_ms;
    size_t value_max; /* as of the last look at the bucket */
    /* By threads of the library, while messages are written. */
    struct nats_failure failure;
};

static enum bucket_outcome fail(struct stream_error *error, const char *what, natsStatus status)
{
    nats_link_fail(error, what, status);
    return BUCKET_FAILED;
}

static void end_reading(struct bucket_client *client)
{
    natsMsg_Destroy(client->current);
    natsSubscription_Destroy(client->reading);
    client->current = NULL;
    client->reading = NULL;
}

static void disconnect(struct bucket_client *client)
{
    end_reading(client);
    jsCtx_Destroy(client->js);
    client->js = NULL;
    nats_link_disconnect(&client->link);
}

static void close_client(void *ctx)
{
    struct bucket_client *client = ctx;
    disconnect(client);
    nats_link_clear(&client->link);
    free(client->bucket);
    free(client->stream);
    free(client);
}

/* --- the connection */

/* On a thread of the library. */
static void on_refused(jsCtx *js, jsPubAckErr *problem, void *ticket)
{
    const struct nats_link *link = nats_link_lock(ticket);
    if (!link) return;
    struct bucket_client *client = link->ctx;
    nats_failure_note(&client->failure, (int)problem->ErrCode,
                      problem->ErrText ? problem->ErrText : natsStatus_GetText(problem->Err));
    nats_links_unlock();
}

/* On another one. */
static void on_denied(void *ctx, const char *text)
{
    struct bucket_client *client = ctx;
    nats_failure_note(&client->failure, 0, text);
}

static void *open_client(const struct stream_settings *settings, struct stream_error *error)
{
    struct bucket_client *client = calloc(1, sizeof *client);
    size_t room = strlen(settings->path) + sizeof "KV_";
    if (!client || !(client->stream = malloc(room)) || !(client->bucket = strdup(settings->path))) abort();
    snprintf(client->stream, room, "KV_%s", settings->path);
    if (nats_link_init(&client->link, settings, error)) {
        client->link.on_denied = on_denied;
        client->link.ctx = client;
        return client;
    }
    close_client(client);
    return NULL;
}

static natsStatus open_js(struct bucket_client *client)
{
    jsOptions js;
    natsStatus s = jsOptions_Init(&js);
    if (s != NATS_OK) return s;
    js.Wait = BUCKET_WAIT_MS;
    js.PublishAsync.ErrHandler = on_refused;
    js.PublishAsync.ErrHandlerClosure = nats_link_ticket(&client->link);
    return natsConnection_JetStream(&client->js, client->link.connection, &js);
}

static enum bucket_outcome connect_client(struct bucket_client *client, struct stream_error *error)
{
    if (client->js && !natsConnection_IsClosed(client->link.connection)) return BUCKET_DONE;
    disconnect(client);
    if (!nats_link_connect(&client->link, error)) return BUCKET_FAILED;
    natsStatus s = open_js(client);
    if (s == NATS_OK) return BUCKET_DONE;
    fail(error, client->link.servers, s);
    disconnect(client);
    return BUCKET_FAILED;
}

/* Of a call that the server did not answer as it should. */
static enum bucket_outcome refused(struct bucket_client *client, natsStatus s, jsErrCode code,
                                   struct stream_error *error)
{
    if ((int)code == NO_STREAM) {
        snprintf(error->text, sizeof error->text, "there is no bucket %s", client->bucket);
        return BUCKET_MISSING;
    }
    if (s == NATS_NO_RESPONDERS)
        snprintf(error->text, sizeof error->text, "%s: JetStream is not enabled", client->link.servers);
    else
        fail(error, client->bucket, s);
    disconnect(client);
    return BUCKET_FAILED;
}

/* The server counts headers in both. */
static void note_value_max(struct bucket_client *client, const jsStreamConfig *config)
{
    int64_t max = natsConnection_GetMaxPayload(client->link.connection);
    if (config && config->MaxMsgSize > 0 && config->MaxMsgSize < max) max = config->MaxMsgSize;
    if (max > 0) client->value_max = (size_t)(max / 2 < HEAD_ROOM ? max / 2 : max - HEAD_ROOM);
}

static bool expires(const jsStreamConfig *config)
{
    bool is_bounded = config && (config->MaxMsgs > 0 || config->MaxBytes > 0);
    return config && (config->MaxAge > 0 || (is_bounded && config->Discard == js_DiscardOld));
}

static enum bucket_outcome inspect(void *ctx, struct bucket_state *state, struct stream_error *error)
{
    struct bucket_client *client = ctx;
    jsStreamInfo *info = NULL;
    jsErrCode code = 0;
    if (connect_client(client, error) != BUCKET_DONE) return BUCKET_FAILED;
    natsStatus s = js_GetStreamInfo(&info, client->js, client->stream, NULL, &code);
    if (s != NATS_OK) return refused(client, s, code, error);
    *state = (struct bucket_state){
        .created = info->Created, .last = info->State.LastSeq, .expires = expires(info->Config)};
    note_value_max(client, info->Config);
    jsStreamInfo_Destroy(info);
    return BUCKET_DONE;
}

static enum bucket_outcome create(void *ctx, int replicas, struct stream_error *error)
{
    struct bucket_client *client = ctx;
    kvConfig config;
    kvStore *store = NULL;
    if (connect_client(client, error) != BUCKET_DONE) return BUCKET_FAILED;
    kvConfig_Init(&config);
    config.Bucket = client->bucket;
    config.Description = "objects of a cluster, by kubelua publish";
    config.History = 1;
    config.Replicas = replicas;
    natsStatus s = js_CreateKeyValue(&store, client->js, &config);
    kvStore_Destroy(store);
    return s == NATS_OK ? BUCKET_DONE : refused(client, s, 0, error);
}

static void put_subject(const struct bucket_client *client, const char *key, char *out)
{
    snprintf(out, SUBJECT_MAX, "$KV.%s.%s", client->bucket, key);
}

/* --- reading */

static natsStatus add_consumer(struct bucket_client *client, const char *filter, uint64_t after,
                               int heads_only, uint64_t *pending, jsErrCode *code)
{
    char subject[SUBJECT_MAX];
    jsConsumerConfig config;
    jsConsumerInfo *info = NULL;
    put_subject(client, filter, subject);
    jsConsumerConfig_Init(&config);
    config.DeliverPolicy = after ? js_DeliverByStartSequence : js_DeliverLastPerSubject;
    config.OptStartSeq = after ? after + 1 : 0;
    config.AckPolicy = js_AckNone;
    config.MaxDeliver = 1;
    config.FilterSubject = subject;
    config.FlowControl = true;
    config.Heartbeat = HEARTBEAT_MS * (int64_t)1000000;
    config.HeadersOnly = heads_only != 0;
    config.MemoryStorage = true;
    config.Replicas = 1;
    config.DeliverSubject = natsSubscription_GetSubject(client->reading);
    natsStatus s = js_AddConsumer(&info, client->js, client->stream, &config, NULL, code);
    if (s == NATS_OK) *pending = info->NumPending;
    jsConsumerInfo_Destroy(info);
    return s;
}

static enum bucket_outcome read_bucket(void *ctx, const char *filter, uint64_t after, int heads_only,
                                       uint64_t *pending, struct stream_error *error)
{
    struct bucket_client *client = ctx;
    natsInbox *inbox = NULL;
    jsErrCode code = 0;
    if (connect_client(client, error) != BUCKET_DONE) return BUCKET_FAILED;
    end_reading(client);
    natsStatus s = natsInbox_Create(&inbox);
    if (s == NATS_OK) s = natsConnection_SubscribeSync(&client->reading, client->link.connection, inbox);
    /* Flow control bounds what waits here. */
    if (s == NATS_OK) s = natsSubscription_SetPendingLimits(client->reading, -1, -1);
    if (s == NATS_OK) s = add_consumer(client, filter, after, heads_only, pending, &code);
    natsInbox_Destroy(inbox);
    client->expected = 1;
    client->heard_ms = nats_Now();
    return s == NATS_OK ? BUCKET_DONE : refused(client, s, code, error);
}

/* Questions whether everything before them was taken: a message of their own, or in a heartbeat. */
static bool answer_control(struct bucket_client *client)
{
    const char *stalled = NULL, *reply = natsMsg_GetReply(client->current);
    natsMsgHeader_Get(client->current, "Nats-Consumer-Stalled", &stalled);
    if (!reply || !*reply) reply = stalled;
    if (reply) natsConnection_PublishString(client->link.connection, reply, "");
    return reply != NULL;
}

static enum bucket_next lost(const struct bucket_client *client, struct stream_error *error)
{
    snprintf(error->text, sizeof error->text, "%s: messages were lost on their way", client->bucket);
    return BUCKET_NEXT_OVER;
}

/* A consumer that has nothing to deliver tells what it delivered. The last one of what was pending may have
 * been removed meanwhile: no message says so then. */
static enum bucket_next take_control(struct bucket_client *client, struct bucket_message *out,
                                     struct stream_error *error)
{
    const char *consumer = NULL, *stream = NULL;
    bool waits = answer_control(client);
    if (natsMsgHeader_Get(client->current, "Nats-Last-Consumer", &consumer) != NATS_OK || !consumer)
        return BUCKET_NEXT_NONE;
    if (strtoull(consumer, NULL, 10) >= client->expected) return lost(client, error);
    if (waits || natsMsgHeader_Get(client->current, "Nats-Last-Stream", &stream) != NATS_OK || !stream)
        return BUCKET_NEXT_NONE;
    *out = (struct bucket_message){.sequence = strtoull(stream, NULL, 10)};
    return BUCKET_NEXT_LEVEL;
}

static void take_heads(natsMsg *message, struct bucket_message *out)
{
    const char *text = NULL;
    out->is_deleted = natsMsgHeader_Get(message, operation_header, &text) == NATS_OK && text &&
                      (strcmp(text, "DEL") == 0 || strcmp(text, "PURGE") == 0);
    text = NULL;
    natsMsgHeader_Get(message, version_header, &text);
    out->version = text ? text : "";
    text = NULL;
    natsMsgHeader_Get(message, encoding_header, &text);
    out->encoding = text ? text : "";
    out->value = natsMsg_GetData(message);
    out->size = (size_t)natsMsg_GetDataLength(message);
}

/* Behind "$KV.BUCKET.". */
static const char *key_of(const struct bucket_client *client, natsMsg *message)
{
    return natsMsg_GetSubject(message) + strlen("$KV..") + strlen(client->bucket);
}

static enum bucket_next take(struct bucket_client *client, struct bucket_message *out,
                             struct stream_error *error)
{
    jsMsgMetaData *about = NULL;
    natsStatus s = natsMsg_GetMetaData(&about, client->current);
    if (s != NATS_OK) {
        fail(error, client->bucket, s);
        return BUCKET_NEXT_OVER;
    }
    int is_next = about->Sequence.Consumer == client->expected++;
    *out = (struct bucket_message){.key = key_of(client, client->current),
                                   .sequence = about->Sequence.Stream,
                                   .pending = about->NumPending};
    jsMsgMetaData_Destroy(about);
    take_heads(client->current, out);
    return is_next ? BUCKET_NEXT_MESSAGE : lost(client, error);
}

static enum bucket_next next(void *ctx, int timeout_ms, struct bucket_message *message,
                             struct stream_error *error)
{
    struct bucket_client *client = ctx;
    const char *status = NULL;
    natsMsg_Destroy(client->current);
    client->current = NULL;
    if (!client->reading) {
        snprintf(error->text, sizeof error->text, "%s: not read", client->bucket);
        return BUCKET_NEXT_OVER;
    }
    natsStatus s = natsSubscription_NextMsg(&client->current, client->reading, timeout_ms);
    if (s == NATS_TIMEOUT && nats_Now() - client->heard_ms < SILENT_MS) return BUCKET_NEXT_NONE;
    if (s != NATS_OK) {
        fail(error, client->link.servers, s);
        return BUCKET_NEXT_OVER;
    }
    client->heard_ms = nats_Now();
    if (natsMsgHeader_Get(client->current, "Status", &status) != NATS_OK || !status)
        return take(client, message, error);
    if (strcmp(status, "100") == 0) return take_control(client, message, error);
    snprintf(error->text, sizeof error->text, "%s: the server ended the consumer: status %s", client->bucket,
             status);
    return BUCKET_NEXT_OVER;
}

static void stop_reading(void *ctx)
{
    end_reading(ctx);
}

static enum bucket_outcome get(void *ctx, const char *key, struct bucket_message *message,
                               struct stream_error *error)
{
    struct bucket_client *client = ctx;
    char subject[SUBJECT_MAX];
    jsErrCode code = 0;
    if (connect_client(client, error) != BUCKET_DONE) return BUCKET_FAILED;
    natsMsg_Destroy(client->current);
    client->current = NULL;
    put_subject(client, key, subject);
    natsStatus s = js_GetLastMsg(&client->current, client->js, client->stream, subject, NULL, &code);
    if (s == NATS_NOT_FOUND || (int)code == NO_MESSAGE) {
        snprintf(error->text, sizeof error->text, "there is no key %s", key);
        return BUCKET_MISSING;
    }
    if (s != NATS_OK) return refused(client, s, code, error);
    *message = (struct bucket_message){.key = key_of(client, client->current),
                                       .sequence = natsMsg_GetSequence(client->current)};
    take_heads(client->current, message);
    return BUCKET_DONE;
}

/* --- writing */

static natsStatus send_one(struct bucket_client *client, const struct bucket_message *message, uint64_t last)
{
    char subject[SUBJECT_MAX];
    natsMsg *sent = NULL;
    jsPubOptions options;
    put_subject(client, message->key, subject);
    jsPubOptions_Init(&options);
    options.ExpectLastSeq = last;
    natsStatus s = natsMsg_Create(&sent, subject, NULL, message->value, (int)message->size);
    if (s == NATS_OK && message->version && *message->version)
        s = natsMsgHeader_Set(sent, version_header, message->version);
    if (s == NATS_OK && message->encoding && *message->encoding)
        s = natsMsgHeader_Set(sent, encoding_header, message->encoding);
    if (s == NATS_OK && message->is_deleted) s = natsMsgHeader_Set(sent, operation_header, "DEL");
    if (s == NATS_OK) s = js_PublishMsgAsync(client->js, &sent, &options);
    natsMsg_Destroy(sent);
    return s;
}

static natsStatus await_acks(struct bucket_client *client)
{
    natsStatus s = NATS_TIMEOUT;
    for (int ms = 0; s == NATS_TIMEOUT && ms < BUCKET_WAIT_MS; ms += PIECE_MS) {
        if (nats_failure_is_noted(&client->failure)) return NATS_ERR;
        jsPubOptions options;
        jsPubOptions_Init(&options);
        options.MaxWait = PIECE_MS;
        s = js_PublishAsyncComplete(client->js, &options);
        if (natsConnection_IsClosed(client->link.connection)) return NATS_CONNECTION_CLOSED;
    }
    return s;
}

static enum bucket_outcome write_bucket(void *ctx, const struct bucket_message *messages, size_t count,
                                        uint64_t *last, struct stream_error *error)
{
    struct bucket_client *client = ctx;
    natsStatus s = NATS_OK;
    if (connect_client(client, error) != BUCKET_DONE) return BUCKET_FAILED;
    nats_failure_clear(&client->failure);
    for (size_t i = 0; s == NATS_OK && i < count && !nats_failure_is_noted(&client->failure); i++)
        s = send_one(client, &messages[i], *last ? *last + i : 0);
    if (s == NATS_OK) s = await_acks(client);
    int failed = nats_failure_is_noted(&client->failure);
    if (s == NATS_OK && !failed) {
        if (*last) *last += count;
        return BUCKET_DONE;
    }
    if (failed)
        *error = client->failure.error;
    else
        fail(error, client->link.servers, s);
    /* Messages on their way would be stored behind those that are sent again. */
    disconnect(client);
    return failed && client->failure.code == WRONG_LAST ? BUCKET_OUTDONE : BUCKET_FAILED;
}

static enum bucket_outcome forget(void *ctx, const char *key, uint64_t sequence, struct stream_error *error)
{
    struct bucket_client *client = ctx;
    char subject[SUBJECT_MAX];
    jsOptions options;
    jsErrCode code = 0;
    if (connect_client(client, error) != BUCKET_DONE) return BUCKET_FAILED;
    put_subject(client, key, subject);
    jsOptions_Init(&options);
    options.Wait = BUCKET_WAIT_MS;
    options.Stream.Purge.Subject = subject;
    options.Stream.Purge.Sequence = sequence + 1;
    natsStatus s = js_PurgeStream(client->js, client->stream, &options, &code);
    return s == NATS_OK ? BUCKET_DONE : refused(client, s, code, error);
}

static size_t value_max(void *ctx)
{
    const struct bucket_client *client = ctx;
    return client->value_max;
}

__attribute__((visibility("default"))) const struct bucket_module kubelua_bucket_module = {
    BUCKET_MODULE_VERSION, open_client, inspect,      create, read_bucket, next,
    stop_reading,          get,         write_bucket, forget, value_max,   close_client};
