/* Module of Kafka: events go to a topic by librdkafka's idempotent producer, with their key as the key of the
 * message, which its partition follows from. */
#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "streams/stream_module.h"

enum { PIECE_MS = 100, MESSAGE_MAX = 2 << 20, CLOSE_MS = 1000 };

struct kafka_client {
    rd_kafka_conf_t *settings; /* of each producer */
    rd_kafka_t *producer;      /* NULL: to be made */
    char *topic;
    int timeout_ms;
    /* Of a delivery. */
    size_t pending;
    rd_kafka_resp_err_t failure; /* the first */
    struct stream_error problem; /* the last of a connection */
};

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

/* --- settings */

static int set(rd_kafka_conf_t *settings, const char *name, const char *value, struct stream_error *error)
{
    return rd_kafka_conf_set(settings, name, value, error->text, sizeof error->text) == RD_KAFKA_CONF_OK;
}

static int set_number(rd_kafka_conf_t *settings, const char *name, int value, struct stream_error *error)
{
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    return set(settings, name, text, error);
}

static int set_login(rd_kafka_conf_t *settings, const struct stream_settings *given,
                     struct stream_error *error)
{
    if (!given->user) return 1;
    return set(settings, "sasl.mechanism", given->mechanism ? given->mechanism : "SCRAM-SHA-512", error) &&
           set(settings, "sasl.username", given->user, error) &&
           set(settings, "sasl.password", given->password, error);
}

static int set_tls(rd_kafka_conf_t *settings, const struct stream_settings *given, struct stream_error *error)
{
    const char *ca = given->ca, *problem = stream_pem_problem(given);
    if (!given->is_tls) return 1;
    if (problem) snprintf(error->text, sizeof error->text, "%s", problem);
    if (problem) return 0;
    return set(settings, "enable.ssl.certificate.verification", "true", error) &&
           set(settings, "ssl.endpoint.identification.algorithm", "https", error) &&
           (!ca || set(settings, stream_is_path(ca) ? "ssl.ca.location" : "ssl.ca.pem", ca, error)) &&
           (!given->cert || set(settings, "ssl.certificate.pem", given->cert, error)) &&
           (!given->cert_key || set(settings, "ssl.key.pem", given->cert_key, error));
}

static const char *protocol_of(const struct stream_settings *given)
{
    if (given->user) return given->is_tls ? "sasl_ssl" : "sasl_plaintext";
    return given->is_tls ? "ssl" : "plaintext";
}

/* A message that cannot be delivered ends the producer: none behind it is delivered before it. */
static int set_all(rd_kafka_conf_t *settings, const struct stream_settings *given, struct stream_error *error)
{
    return set(settings, "bootstrap.servers", given->servers, error) &&
           set(settings, "client.id", given->name ? given->name : "kubelua", error) &&
           set(settings, "enable.idempotence", "true", error) &&
           set(settings, "enable.gapless.guarantee", "true", error) &&
           set(settings, "partitioner", "murmur2_random", error) && set(settings, "linger.ms", "2", error) &&
           set(settings, "log_level", "0", error) &&
           set_number(settings, "message.max.bytes", MESSAGE_MAX, error) &&
           set_number(settings, "message.timeout.ms", given->timeout_ms, error) &&
           set(settings, "security.protocol", protocol_of(given), error) && set_tls(settings, given, error) &&
           set_login(settings, given, error);
}

/* On the thread that polls, which is that of the delivery. */
static void on_report(rd_kafka_t *producer, const rd_kafka_message_t *message, void *ctx)
{
    struct kafka_client *client = ctx;
    client->pending--;
    if (message->err && (!client->failure || client->failure == RD_KAFKA_RESP_ERR__PURGE_QUEUE))
        client->failure = message->err;
}

/* Likewise. A login or a certificate that is refused stays so until somebody changes it; without this the
 * message would only time out. */
static void on_problem(rd_kafka_t *producer, int err, const char *reason, void *ctx)
{
    struct kafka_client *client = ctx;
    if (err == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) return;
    snprintf(client->problem.text, sizeof client->problem.text, "%s", reason);
    for (char *p = client->problem.text; *p; p++)
        if ((unsigned char)*p < ' ') *p = ' ';
    /* "(after 5ms in state SSL_HANDSHAKE)" would make each one another problem. */
    char *after = strstr(client->problem.text, " (after ");
    if (after) *after = '\0';
    if (err == RD_KAFKA_RESP_ERR__AUTHENTICATION || err == RD_KAFKA_RESP_ERR__SSL)
        client->failure = (rd_kafka_resp_err_t)err;
}

static void close_client(void *ctx)
{
    struct kafka_client *client = ctx;
    if (client->producer) rd_kafka_destroy(client->producer);
    rd_kafka_conf_destroy(client->settings);
    free(client->topic);
    free(client);
}

static void *open_client(const struct stream_settings *given, struct stream_error *error)
{
    struct kafka_client *client = calloc(1, sizeof *client);
    if (!client) abort();
    client->settings = rd_kafka_conf_new();
    client->topic = copy(given->path);
    client->timeout_ms = given->timeout_ms;
    rd_kafka_conf_set_dr_msg_cb(client->settings, on_report);
    rd_kafka_conf_set_error_cb(client->settings, on_problem);
    rd_kafka_conf_set_opaque(client->settings, client);
    if (set_all(client->settings, given, error)) return client;
    close_client(client);
    return NULL;
}

/* --- a delivery */

static int make_producer(struct kafka_client *client, struct stream_error *error)
{
    if (client->producer) return 1;
    rd_kafka_conf_t *settings = rd_kafka_conf_dup(client->settings);
    client->producer = rd_kafka_new(RD_KAFKA_PRODUCER, settings, error->text, sizeof error->text);
    if (!client->producer) rd_kafka_conf_destroy(settings);
    return client->producer != NULL;
}

/* Messages on their way are given up; some of it may have been stored. */
static void drop_producer(struct kafka_client *client)
{
    rd_kafka_purge(client->producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_flush(client->producer, CLOSE_MS);
    rd_kafka_destroy(client->producer);
    client->producer = NULL;
}

static rd_kafka_resp_err_t produce(struct kafka_client *client, const struct stream_event *event)
{
    rd_kafka_headers_t *headers = rd_kafka_headers_new(1);
    rd_kafka_header_add(headers, "content-type", -1, "application/cloudevents+json", -1);
    /* The bytes stay until the delivery is over. */
    rd_kafka_resp_err_t err = rd_kafka_producev(
        client->producer, RD_KAFKA_V_TOPIC(client->topic),
        RD_KAFKA_V_KEY(event->key_size ? event->key : NULL, event->key_size),
        RD_KAFKA_V_VALUE((void *)event->json, event->json_size), RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END);
    if (err)
        rd_kafka_headers_destroy(headers);
    else
        client->pending++;
    return err;
}

static enum stream_outcome outcome_of(rd_kafka_resp_err_t err)
{
    return err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE || err == RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE ||
                   err == RD_KAFKA_RESP_ERR_INVALID_RECORD
               ? STREAM_REFUSED
               : STREAM_RETRY;
}

/* The first of several reasons: the broker's, before what follows from it. */
static rd_kafka_resp_err_t reason(struct kafka_client *client)
{
    char text[256];
    rd_kafka_resp_err_t fatal = rd_kafka_fatal_error(client->producer, text, sizeof text);
    return client->failure && client->failure != RD_KAFKA_RESP_ERR__FATAL ? client->failure : fatal;
}

/* A connection that fails is why a message times out. */
static void tell(const struct kafka_client *client, rd_kafka_resp_err_t err, struct stream_error *error)
{
    const char *problem = client->problem.text;
    bool is_late = err == RD_KAFKA_RESP_ERR__MSG_TIMED_OUT;
    bool is_access = err == RD_KAFKA_RESP_ERR__AUTHENTICATION || err == RD_KAFKA_RESP_ERR__SSL;
    if (*problem && (is_late || is_access))
        snprintf(error->text, sizeof error->text, "%.200s", problem);
    else
        snprintf(error->text, sizeof error->text, "%s", err ? rd_kafka_err2str(err) : "the process ends");
}

static enum stream_outcome deliver(void *ctx, const struct stream_event *events, size_t count,
                                   const volatile int *ends, struct stream_error *error)
{
    struct kafka_client *client = ctx;
    rd_kafka_resp_err_t err = RD_KAFKA_RESP_ERR_NO_ERROR;
    if (!make_producer(client, error)) return STREAM_RETRY;
    client->pending = 0;
    client->failure = RD_KAFKA_RESP_ERR_NO_ERROR;
    client->problem.text[0] = '\0';
    for (size_t i = 0; !err && i < count; i++) err = produce(client, &events[i]);
    while (!err && !client->failure && client->pending > 0 && !*ends)
        rd_kafka_poll(client->producer, PIECE_MS);
    if (!err && !client->failure && client->pending == 0) return STREAM_DELIVERED;
    if (!err) err = reason(client);
    tell(client, err, error);
    drop_producer(client);
    return outcome_of(err);
}

__attribute__((visibility("default"))) const struct stream_module kubelua_stream_module = {
    STREAM_MODULE_VERSION, open_client, deliver, close_client};
