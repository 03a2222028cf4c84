/* A client of the cluster on a server that breaks off answers (cut_server.h).
 * Owner: the spec, by cut_client_open and cut_client_close, once for each wire. */
#pragma once
#include "kube/api/client.h"
#include "support/cut_server.h"

struct cut_client {
    struct loop *loop; /* its clock can be moved on (jump_clock.h) */
    struct pool *pool;
    struct tls_pair ca, leaf;
    struct cut_server *server;
    struct kube_client *client;
};

typedef const struct cut_answer *cut_answer_fn(void *ctx, const char *method, const char *path);

void cut_client_open(struct cut_client *c, enum cut_wire wire, cut_answer_fn *answer);
void cut_client_close(struct cut_client *c);
