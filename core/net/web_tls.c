/* Transports of requests with certificates of their own, as those of sinks: one for all with the same texts,
 * so that they share connections. I/O thread only; see web.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/web_internal.h"

enum { IDLE_MAX = 8 };

static bool is_same(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

struct web_tls *web_tls_copy(const struct transport_tls *tls)
{
    struct web_tls *copy = NEW(struct web_tls);
    const struct str *from[] = {&tls->ca_pem, &tls->client_cert_pem, &tls->client_key_pem};
    struct str *to[] = {&copy->tls.ca_pem, &copy->tls.client_cert_pem, &copy->tls.client_key_pem};
    for (size_t i = 0; i < ARRAY_LEN(from); i++)
        if (from[i]->n > 0) *to[i] = (struct str){xstrndup(from[i]->p, from[i]->n), from[i]->n};
    return copy;
}

void web_tls_free(struct web_tls *own)
{
    if (!own) return;
    transport_free(own->transport);
    free((char *)own->tls.ca_pem.p);
    free((char *)own->tls.client_cert_pem.p);
    if (own->tls.client_key_pem.p)
        explicit_bzero((char *)own->tls.client_key_pem.p, own->tls.client_key_pem.n);
    free((char *)own->tls.client_key_pem.p);
    free(own);
}

static struct web_tls *find(const struct web *web, const struct transport_tls *tls)
{
    struct web_tls *one;
    TAILQ_FOREACH (one, &web->own_tls, link)
        if (is_same(one->tls.ca_pem, tls->ca_pem) &&
            is_same(one->tls.client_cert_pem, tls->client_cert_pem) &&
            is_same(one->tls.client_key_pem, tls->client_key_pem))
            return one;
    return NULL;
}

/* The last used ones come first. */
static void drop_idle(struct web *web)
{
    struct web_tls *one, *before;
    size_t idle = 0;
    TAILQ_FOREACH (one, &web->own_tls, link) idle += one->uses == 0;
    for (one = TAILQ_LAST(&web->own_tls, web_tls_list); one && idle > IDLE_MAX; one = before) {
        before = TAILQ_PREV(one, web_tls_list, link);
        if (one->uses > 0) continue;
        TAILQ_REMOVE(&web->own_tls, one, link);
        web_tls_free(one);
        idle--;
    }
}

struct transport *web_tls_use(struct web_call *call, struct err *err)
{
    struct web *web = call->web;
    struct web_tls *one = find(web, &call->tls->tls);
    if (one) {
        TAILQ_REMOVE(&web->own_tls, one, link);
    } else {
        struct transport *transport = web_transport_new(web, &call->tls->tls, err);
        if (!transport) return NULL;
        one = web_tls_copy(&call->tls->tls);
        one->transport = transport;
    }
    TAILQ_INSERT_HEAD(&web->own_tls, one, link);
    one->uses++;
    call->used = one;
    drop_idle(web);
    return one->transport;
}

void web_tls_leave(struct web_call *call)
{
    if (call->used) call->used->uses--;
    call->used = NULL;
}
