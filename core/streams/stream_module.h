/* A module of the package kubelua-streams: a client that delivers events to NATS or Kafka. It is a
 * shared object, opened when the first sink needs it, that shares nothing with the program but this file.
 * Owner: the program has the module, for as long as it runs; a sink has its client, on its one thread for
 * deliveries. */
#pragma once
#include <stddef.h>
#include <string.h>

enum { STREAM_MODULE_VERSION = 3 };
#define STREAM_MODULE_SYMBOL "kubelua_stream_module"

/* Files that some of the texts are from. */
enum stream_file {
    STREAM_FILE_PASSWORD,
    STREAM_FILE_TOKEN,
    STREAM_FILE_CREDENTIALS,
    STREAM_FILE_CA,
    STREAM_FILE_CERT,
    STREAM_FILE_CERT_KEY,
    STREAM_FILES
};

/* Borrowed until `open` returns; NULL: none. */
struct stream_settings {
    const char *servers; /* "host:port,host" */
    const char *path;    /* a subject, or a topic */
    int is_tls;
    const char *ca;              /* PEM, or a path that begins with a slash; NULL: the system's authorities */
    const char *cert, *cert_key; /* of the client, PEM */
    const char *user, *password, *token;
    const char *credentials; /* a JWT of NATS with its seed, as files of it have them */
    const char *mechanism;   /* of SASL */
    const char *name;        /* of the client, for its server */
    /* Read again for each connection, as they change; one that cannot be read is as it was. */
    const char *files[STREAM_FILES];
    int timeout_ms; /* of a delivery */
};

/* `id` is terminated. */
struct stream_event {
    const char *id;
    const char *key;
    size_t key_size;
    const char *json;
    size_t json_size;
};

enum stream_outcome {
    STREAM_DELIVERED, /* all of them */
    STREAM_RETRY,
    STREAM_REFUSED, /* one of them will never be */
};

/* Text of a failure: one line. */
struct stream_error {
    char text[256];
};

/* Of the texts that are to be PEM: the libraries say less. NULL: none. */
static inline const char *stream_pem_problem(const struct stream_settings *settings)
{
    const char *ca = settings->ca, *cert = settings->cert, *key = settings->cert_key;
    if (ca && *ca != '/' && !strstr(ca, "-----BEGIN ")) return "ca is neither PEM nor a path";
    if (cert && !strstr(cert, "-----BEGIN ")) return "cert is not PEM";
    return key && !strstr(key, "PRIVATE KEY-----") ? "cert_key is not a private key in PEM" : NULL;
}

/* A path, rather than what such a file has. */
static inline int stream_is_path(const char *text)
{
    return *text == '/';
}

struct stream_module {
    int version; /* STREAM_MODULE_VERSION */
    /* Need not connect. NULL and an error: the settings are wrong. */
    void *(*open)(const struct stream_settings *settings, struct stream_error *error);
    /* Waits until all are delivered, or one is not. Ends soon once `*ends`. Events of one key are delivered
     * in their order, again from the first one after STREAM_RETRY. */
    enum stream_outcome (*deliver)(void *client, const struct stream_event *events, size_t count,
                                   const volatile int *ends, struct stream_error *error);
    void (*close)(void *client);
};
