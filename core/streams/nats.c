/* Module of NATS: events go to JetStream, whose acknowledgement tells that a stream has stored them, with
 * their id as Nats-Msg-Id. Events of different keys are sent at a time, those of one key one after the other:
 * the server stores what it is sent in any order once a message is lost. */
#include <nats/nats.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "streams/stream_module.h"

enum { PIECE_MS = 100, CONNECT_MS = 5000, SERVERS_MAX = 2100, MESSAGE_TOO_LARGE = 10054, CLOSE_MS = 2000 };
enum { NO_FAILURE, BEING_NOTED, NOTED };

struct nats_client {
    char *urls, *subject, *name;
    int timeout_ms, is_tls;
    char *ca, *cert, *cert_key, *user, *password, *token;
    char *jwt, *seed;
    natsConnection *connection; /* NULL: not connected */
    jsCtx *stream;
    /* By threads of the library, until the connection is closed. */
    atomic_int closed, failed, refused; /* `failed`: NOTED, and the text is that of the first failure */
    struct stream_error failure;
};

/* What the library says of the last failure is more than its status. */
static void fail(struct stream_error *error, const char *what, natsStatus status)
{
    natsStatus of;
    const char *text = nats_GetLastError(&of);
    if (!text || !*text || of != status) text = natsStatus_GetText(status);
    /* "(conn.c:733): " */
    const char *place = *text == '(' ? strstr(text, "): ") : NULL;
    if (place) text = place + 3;
    snprintf(error->text, sizeof error->text, "%s: %s", what, text);
    for (char *p = error->text; *p; p++)
        if ((unsigned char)*p < ' ') *p = ' ';
}

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

static void wipe(char *secret)
{
    if (secret) explicit_bzero(secret, strlen(secret));
    free(secret);
}

/* --- settings */

/* The line behind the one that begins with `begin`, as files of credentials have it; NULL: there is none. */
static char *line_after(const char *text, const char *begin)
{
    const char *at = strstr(text, begin), *end = at ? strchr(at, '\n') : NULL;
    if (!end) return NULL;
    end += strspn(end, " \r\n");
    size_t n = strcspn(end, " \r\n");
    return n > 0 && *end != '-' ? strndup(end, n) : NULL;
}

static int read_credentials(struct nats_client *client, const struct stream_settings *settings,
                            struct stream_error *error)
{
    const char *text = settings->credentials, *problem = stream_pem_problem(settings);
    if (problem) snprintf(error->text, sizeof error->text, "%s", problem);
    if (problem || !text) return !problem;
    client->jwt = line_after(text, "-----BEGIN NATS USER JWT-----");
    client->seed = line_after(text, "-----BEGIN USER NKEY SEED-----");
    if (client->jwt && client->seed) return 1;
    snprintf(error->text, sizeof error->text,
             "credentials must be the content of a creds file: there is no %s in them",
             client->jwt ? "USER NKEY SEED" : "NATS USER JWT");
    return 0;
}

/* --- the connection */

static void note(struct nats_client *client, const char *text)
{
    int none = NO_FAILURE;
    if (!atomic_compare_exchange_strong(&client->failed, &none, BEING_NOTED)) return;
    snprintf(client->failure.text, sizeof client->failure.text, "%s", text);
    atomic_store(&client->failed, NOTED);
}

/* On a thread of the library. */
static void on_refused(jsCtx *stream, jsPubAckErr *problem, void *ctx)
{
    struct nats_client *client = ctx;
    char text[sizeof client->failure.text];
    if (problem->ErrCode == (jsErrCode)MESSAGE_TOO_LARGE) atomic_store(&client->refused, 1);
    if (problem->Err == NATS_NO_RESPONDERS)
        snprintf(text, sizeof text, "no stream has the subject %s", client->subject);
    else
        snprintf(text, sizeof text, "%s",
                 problem->ErrText ? problem->ErrText : natsStatus_GetText(problem->Err));
    note(client, text);
}

/* Likewise: the user may not publish, of which no acknowledgement tells. Without a handler the library writes
 * to stderr. */
static void on_error(natsConnection *connection, natsSubscription *subscription, natsStatus err, void *ctx)
{
    const char *text = NULL;
    if (err != NATS_NOT_PERMITTED) return;
    if (natsConnection_GetLastError(connection, &text) == NATS_OK || !text || !*text)
        text = natsStatus_GetText(err);
    note(ctx, text);
}

/* The last call for a connection. */
static void on_closed(natsConnection *connection, void *ctx)
{
    struct nats_client *client = ctx;
    atomic_store(&client->closed, 1);
}

static natsStatus give_jwt(char **jwt, char **error, void *ctx)
{
    struct nats_client *client = ctx;
    *jwt = copy(client->jwt);
    return NATS_OK;
}

static natsStatus sign(char **error, unsigned char **signature, int *size, const char *nonce, void *ctx)
{
    struct nats_client *client = ctx;
    return nats_Sign(client->seed, nonce, signature, size);
}

static natsStatus set_access(natsOptions *options, struct nats_client *client)
{
    if (client->token) return natsOptions_SetToken(options, client->token);
    if (client->user) return natsOptions_SetUserInfo(options, client->user, client->password);
    if (client->jwt) return natsOptions_SetUserCredentialsCallbacks(options, give_jwt, client, sign, client);
    return NATS_OK;
}

/* The name that the certificate must have is said by us: whether the library looks at it is a setting of its
 * build. */
static natsStatus set_tls(natsOptions *options, struct nats_client *client, const char *host)
{
    natsStatus s = natsOptions_SetExpectedHostname(options, host);
    if (s == NATS_OK && client->ca)
        s = stream_is_path(client->ca) ? natsOptions_LoadCATrustedCertificates(options, client->ca)
                                       : natsOptions_SetCATrustedCertificates(options, client->ca);
    if (s == NATS_OK && client->cert)
        s = natsOptions_SetCertificatesChain(options, client->cert, client->cert_key);
    return s == NATS_OK ? natsOptions_SetSecure(options, true) : s;
}

/* "host:4222", "[::1]:4222" */
static void host_of(const char *server, char host[SERVERS_MAX])
{
    const char *end = strrchr(server, ':'), *bracket = strchr(server, ']');
    if (bracket) end = bracket;
    if (*server == '[') server++;
    snprintf(host, SERVERS_MAX, "%.*s", end ? (int)(end - server) : (int)strlen(server), server);
}

/* A connection that is lost is made anew by the next delivery, so that nothing is sent twice behind its back.
 */
static natsStatus set_options(natsOptions *options, struct nats_client *client, const char *server)
{
    char url[SERVERS_MAX], host[SERVERS_MAX];
    snprintf(url, sizeof url, "nats://%s", server);
    host_of(server, host);
    natsStatus s = natsOptions_SetURL(options, url);
    if (s == NATS_OK) s = natsOptions_SetAllowReconnect(options, false);
    if (s == NATS_OK) s = natsOptions_SetIgnoreDiscoveredServers(options, true);
    if (s == NATS_OK) s = natsOptions_SetTimeout(options, CONNECT_MS);
    if (s == NATS_OK) s = natsOptions_SetErrorHandler(options, on_error, client);
    if (s == NATS_OK) s = natsOptions_SetClosedCB(options, on_closed, client);
    if (s == NATS_OK && client->name) s = natsOptions_SetName(options, client->name);
    if (s == NATS_OK) s = set_access(options, client);
    return s == NATS_OK && client->is_tls ? set_tls(options, client, host) : s;
}

static natsStatus open_stream(struct nats_client *client)
{
    jsOptions stream;
    natsStatus s = jsOptions_Init(&stream);
    if (s != NATS_OK) return s;
    stream.PublishAsync.ErrHandler = on_refused;
    stream.PublishAsync.ErrHandlerClosure = client;
    return natsConnection_JetStream(&client->stream, client->connection, &stream);
}

static void disconnect(struct nats_client *client)
{
    if (!client->connection) return;
    jsCtx_Destroy(client->stream);
    natsConnection_Destroy(client->connection);
    for (int ms = 0; !atomic_load(&client->closed) && ms < CLOSE_MS; ms++) nats_Sleep(1);
    client->stream = NULL;
    client->connection = NULL;
}

static int connect_to(struct nats_client *client, const char *server, struct stream_error *error)
{
    natsOptions *options = NULL;
    atomic_store(&client->closed, 0);
    natsStatus s = natsOptions_Create(&options);
    if (s == NATS_OK) s = set_options(options, client, server);
    if (s == NATS_OK) s = natsConnection_Connect(&client->connection, options);
    if (s == NATS_OK) s = open_stream(client);
    if (s != NATS_OK) {
        fail(error, server, s);
        disconnect(client);
    }
    natsOptions_Destroy(options);
    return s == NATS_OK;
}

/* To the first server that takes it; the error is that of the last one. */
static int connect_client(struct nats_client *client, struct stream_error *error)
{
    char servers[SERVERS_MAX], *rest = NULL;
    if (client->stream && !natsConnection_IsClosed(client->connection)) return 1;
    disconnect(client);
    snprintf(servers, sizeof servers, "%s", client->urls);
    for (char *one = strtok_r(servers, ",", &rest); one; one = strtok_r(NULL, ",", &rest))
        if (connect_to(client, one, error)) return 1;
    return 0;
}

/* --- the client */

static void close_client(void *ctx)
{
    struct nats_client *client = ctx;
    disconnect(client);
    free(client->urls);
    free(client->subject);
    free(client->name);
    free(client->ca);
    free(client->cert);
    wipe(client->cert_key);
    wipe(client->user);
    wipe(client->password);
    wipe(client->token);
    wipe(client->jwt);
    wipe(client->seed);
    free(client);
}

static void *open_client(const struct stream_settings *settings, struct stream_error *error)
{
    struct nats_client *client = calloc(1, sizeof *client);
    if (!client) abort();
    client->urls = copy(settings->servers);
    client->subject = copy(settings->path);
    client->name = copy(settings->name);
    client->timeout_ms = settings->timeout_ms;
    client->is_tls = settings->is_tls;
    client->ca = copy(settings->ca);
    client->cert = copy(settings->cert);
    client->cert_key = copy(settings->cert_key);
    client->user = copy(settings->user);
    client->password = copy(settings->password);
    client->token = copy(settings->token);
    if (read_credentials(client, settings, error)) return client;
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
        if (atomic_load(&client->failed) == NOTED) return NATS_ERR;
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
        bool has_failed = atomic_load(&client->failed) == NOTED;
        if (s == NATS_OK && !has_failed) continue;
        if (has_failed)
            *error = client->failure;
        else
            fail(error, client->urls, s);
        return s == NATS_MAX_PAYLOAD || atomic_load(&client->refused) ? STREAM_REFUSED : STREAM_RETRY;
    }
    return STREAM_DELIVERED;
}

static enum stream_outcome deliver(void *ctx, const struct stream_event *events, size_t count,
                                   const volatile int *ends, struct stream_error *error)
{
    struct nats_client *client = ctx;
    atomic_store(&client->failed, NO_FAILURE);
    atomic_store(&client->refused, 0);
    if (!connect_client(client, error)) return STREAM_RETRY;
    enum stream_outcome outcome = deliver_waves(client, events, count, ends, error);
    /* Messages on their way would be stored behind those that are sent again. */
    if (outcome != STREAM_DELIVERED) disconnect(client);
    return outcome;
}

__attribute__((visibility("default"))) const struct stream_module kubelua_stream_module = {
    STREAM_MODULE_VERSION, open_client, deliver, close_client};
