/* Internals of the HTTP server: web_server.c has its thread and connections, web_exchange.c the requests.
 * Owner and threads as in web_server.h. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include <microhttpd.h>

#include "net/server/web_server.h"

/* A connection; used on the server's thread only, but for the last members. */
struct web_client {
    struct web_server *server;
    struct MHD_Connection *connection;
    int fd;
    int64_t since_ms; /* when it was opened, or its last request ended */
    bool answered;    /* its request arrived, and the response is being made or sent */
    bool ended;       /* shut down, and still to be closed by the library */
    TAILQ_ENTRY(web_client) link;
    bool is_suspended;               /* under the lock, as the next ones */
    int resumed;                     /* see struct web_request */
    TAILQ_ENTRY(web_client) waiting; /* while it is suspended */
};

TAILQ_HEAD(web_client_list, web_client);

struct web_server {
    struct web_server_options options;
    struct buf where;
    struct MHD_Daemon *daemon;
    int fd;                         /* that it listens on; -1: the library has closed it */
    struct web_client_list clients; /* those without a request for the longest time first */
    size_t client_count;            /* without ended ones */
    size_t body_bytes;              /* of all requests */
    bool shares_socket;             /* with the server after it */
    bool starved;                   /* no accept has worked since that was said; of the server's thread */
    pthread_mutex_t lock;
    pthread_cond_t finished;          /* a request has ended */
    struct web_client_list suspended; /* under the lock, as the next ones */
    size_t requests;                  /* that arrived and are not over */
    bool is_ending;
    _Atomic size_t connections;
    _Atomic bool is_replaced; /* takes no connection any more, and ends its own after their request */
};

/* The connection's time, of any one clock. */
int64_t web_now_ms(void);
/* In which a whole request must arrive. */
int64_t web_request_ms(const struct web_server *server);
struct web_client *web_client_of(struct MHD_Connection *connection);
/* Returns the value that the client was resumed with, once; 0: it was not. */
int web_take_resumed(struct web_client *client);

/* --- web_exchange.c: callbacks of the library, with the server */

enum MHD_Result web_on_request(void *server, struct MHD_Connection *connection, const char *path,
                               const char *method, const char *version, const char *upload,
                               size_t *upload_size, void **exchange);
void web_on_completed(void *server, struct MHD_Connection *connection, void **exchange,
                      enum MHD_RequestTerminationCode code);
