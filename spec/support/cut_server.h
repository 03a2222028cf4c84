/* A server for units that breaks off one answer at a chosen byte: over HTTP/1.1, plain or TLS, or over
 * HTTP/2. What it answers is the test's. Owner: the test frees it before its loop. Everything runs on the
 * loop's thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "net/loop.h"
#include "support/tiny_server.h"
#include "support/tls_files.h"

/* Every byte; a sanitizer, which takes four times as long, looks at some. */
#ifdef __SANITIZE_ADDRESS__
enum { CUT_STEP = 5 };
#else
enum { CUT_STEP = 1 };
#endif

enum cut_wire { WIRE_PLAIN, WIRE_TLS, WIRE_H2, WIRE_COUNT };

enum cut_way {
    CUT_END,   /* the connection ends in good order: a FIN, over TLS with its own word before it */
    CUT_DROP,  /* a FIN alone, as when the program died; the same as CUT_END without TLS */
    CUT_RESET, /* a RST */
    CUT_WAYS,
};

/* Everything borrowed as long as the server lives. */
struct cut_answer {
    int status;
    const char *headers;       /* lines with their ends; NULL: none */
    const char *const *pieces; /* of the body, each a chunk or a DATA frame; ends with NULL; NULL: none */
    const char *trailers;      /* lines with their ends; NULL: none */
    bool stays;                /* its end does not come: a watch */
    bool closes;               /* over HTTP/1.1: the connection ends with it */
    const char *raw;           /* over HTTP/1.1: the whole answer, in the place of all that; NULL: that */
};

struct cut_server;

struct cut_server_options {
    struct loop *loop;
    enum cut_wire wire;
    const struct tls_pair *leaf; /* the server's, for TLS */
    const struct cut_answer *(*answer)(void *ctx, const char *method, const char *path);
    void *ctx;
};

struct cut_server *cut_server_new(const struct cut_server_options *options);
void cut_server_free(struct cut_server *server);
/* "https://127.0.0.1:PORT"; borrowed. */
const char *cut_server_url(const struct cut_server *server);
/* Of the requests from now on the one after `skip` others gets `at` bytes of its answer, and then the
 * connection ends; an answer that is no longer comes whole. */
void cut_server_arm(struct cut_server *server, unsigned skip, size_t at, enum cut_way way);
/* HTTP/2: it gets a RST_STREAM with this code, or the connection a GOAWAY, in the place of an answer. */
void cut_server_arm_reset(struct cut_server *server, unsigned code);
void cut_server_arm_goaway(struct cut_server *server, unsigned code);
/* Whether an answer was broken off since then, and how long the armed request's whole answer was. */
bool cut_server_has_cut(const struct cut_server *server);
size_t cut_server_length(const struct cut_server *server);
/* Whether the request that it was armed for is still to come. */
bool cut_server_is_armed(const struct cut_server *server);
/* Calls `run` for each byte of an answer, the server armed each time for the request after `skip` others,
 * until that came whole; each time another way. Gives at how many bytes it was broken off. */
size_t cut_each(struct cut_server *server, unsigned skip, void (*run)(void *ctx), void *ctx);
/* Requests so far, since the server was armed. */
size_t cut_server_requests(const struct cut_server *server);
const char *cut_wire_name(enum cut_wire wire);
const char *cut_way_name(enum cut_way way);
