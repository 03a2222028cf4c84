/* See cut_client.h. */
#include "core/kube/support/cut_client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "support/jump_clock.h"

void cut_client_open(struct cut_client *c, enum cut_wire wire, cut_answer_fn *answer)
{
    struct err err;
    *c = (struct cut_client){.loop = loop_new_alone(), .pool = pool_new(NULL), .ca = tls_new_ca("unit CA")};
    jump_clock_init(c->loop);
    c->leaf = tls_new_leaf(&c->ca, "server", "IP:127.0.0.1");
    c->server = cut_server_new(
        &(struct cut_server_options){.loop = c->loop, .wire = wire, .leaf = &c->leaf, .answer = answer});
    struct cluster_config config = {.server = (char *)cut_server_url(c->server), .ca_pem = c->ca.cert_pem};
    c->client = kube_client_new(c->loop, c->pool, &(struct kube_client_options){.config = &config}, &err);
    if (!c->client) fail_msg("%s", err.text);
}

void cut_client_close(struct cut_client *c)
{
    kube_client_free(c->client);
    cut_server_free(c->server);
    tls_pair_clear(&c->ca);
    tls_pair_clear(&c->leaf);
    pool_free(c->pool);
    loop_free(c->loop);
}
