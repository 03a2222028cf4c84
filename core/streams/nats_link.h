/* Connection of the modules to NATS: to the first of several servers that takes it, encrypted and with a
 * login as the settings say. One that is lost stays so until the next call of nats_link_connect. Owner: the
 * client of the module, on its one thread. Threads of the library call back when they get to it, also after a
 * connection and its context were destroyed: what they are given is a ticket, which is nobody's then. */
#pragma once
#include <nats/nats.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "streams/stream_module.h"

enum { NATS_LINK_CONNECT_MS = 5000 };

/* The first failure of what is sent, as threads of the library tell it: several, at the same time. */
struct nats_failure {
    atomic_int state; /* enum in nats_link.c */
    int code;         /* of JetStream; 0: none */
    struct stream_error error;
};

struct nats_link {
    char *servers, *name;
    int is_tls;
    char *ca, *cert, *cert_key, *user, *password, *token;
    char *jwt, *seed;
    char *files[STREAM_FILES];  /* NULL: the text is no file's */
    natsConnection *connection; /* NULL: not connected */
    LIST_ENTRY(nats_link) link; /* among those with a ticket */
    uintptr_t ticket;           /* 0: none */
    /* Requests that a server refuses without an answer; on a thread of the library, with all links locked.
     * Set before connecting; may be NULL. */
    void (*on_denied)(void *ctx, const char *text);
    void *ctx;
};

/* Copies what the link needs of the settings. 0 and an error: they are wrong. Clear it in any case. */
int nats_link_init(struct nats_link *link, const struct stream_settings *settings,
                   struct stream_error *error);
void nats_link_clear(struct nats_link *link);
/* 1: there is a connection, perhaps a new one. */
int nats_link_connect(struct nats_link *link, struct stream_error *error);
/* No callback follows. */
void nats_link_disconnect(struct nats_link *link);
/* The closure of callbacks about this connection, for nats_link_lock. */
void *nats_link_ticket(const struct nats_link *link);
/* On a thread of the library. Returns the link of a ticket, which stays as it is until nats_links_unlock;
 * NULL, with nothing locked: it is over. */
struct nats_link *nats_link_lock(void *ticket);
void nats_links_unlock(void);
/* On any thread; nothing if there is one. */
void nats_failure_note(struct nats_failure *failure, int code, const char *text);
/* 1: there is one, which stays as it is. */
int nats_failure_is_noted(struct nats_failure *failure);
/* While nothing is on its way. */
void nats_failure_clear(struct nats_failure *failure);
/* "WHAT: what the library says", which is more than its status. */
void nats_link_fail(struct stream_error *error, const char *what, natsStatus status);
