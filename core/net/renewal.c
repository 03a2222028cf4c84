/* Replacement of certificates while requests run (T-6): connections of the old ones are closed, all at once,
 * by a new multi handle of libcurl; see transport_internal.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/pem.h"
#include "net/transport_internal.h"

static void clear(struct str *pem)
{
    struct buf bytes = {(char *)pem->p, pem->n, pem->n};
    buf_wipe(&bytes);
    *pem = (struct str){0};
}

void transport_tls_clear(struct transport_tls *tls)
{
    clear(&tls->ca_pem);
    clear(&tls->client_cert_pem);
    clear(&tls->client_key_pem);
}

static struct str copy(struct str pem)
{
    return pem.n ? (struct str){xstrndup(pem.p, pem.n), pem.n} : (struct str){0};
}

void transport_tls_copy(struct transport_tls *to, const struct transport_tls *from)
{
    *to = (struct transport_tls){copy(from->ca_pem), copy(from->client_cert_pem), copy(from->client_key_pem)};
}

bool transport_tls_check(const struct transport_tls *tls, bool insecure, struct err *err)
{
    if (tls->ca_pem.n && insecure) /* T-1 */
        return err_set(err, ERR_TLS,
                       "a certificate authority and insecure-skip-tls-verify are mutually exclusive");
    if (tls->ca_pem.n && !pem_check_certificates(tls->ca_pem, err))
        return err_wrap(err, "certificate authority");
    if (!tls->client_cert_pem.n != !tls->client_key_pem.n)
        return err_set(err, ERR_TLS, "a client %s without its %s",
                       tls->client_cert_pem.n ? "certificate" : "key",
                       tls->client_cert_pem.n ? "key" : "certificate");
    return !tls->client_cert_pem.n || pem_check_pair(tls->client_cert_pem, tls->client_key_pem, err);
}

static bool same(const struct transport_tls *a, const struct transport_tls *b)
{
    return str_eq(a->ca_pem, b->ca_pem) && str_eq(a->client_cert_pem, b->client_cert_pem) &&
           str_eq(a->client_key_pem, b->client_key_pem);
}

bool transport_set_tls(struct transport *transport, const struct transport_tls *fresh, struct err *err)
{
    const struct transport_tls *now = transport->renewing ? &transport->next_tls : &transport->options.tls;
    const struct transport_tls wanted = {
        fresh->ca_pem.p ? fresh->ca_pem : now->ca_pem,
        fresh->client_cert_pem.p ? fresh->client_cert_pem : now->client_cert_pem,
        fresh->client_key_pem.p ? fresh->client_key_pem : now->client_key_pem,
    };
    struct transport_tls copied;
    if (!transport_tls_check(&wanted, transport->options.insecure_skip_tls_verify, err)) return false;
    if (same(&wanted, now)) return true;
    transport_tls_copy(&copied, &wanted);
    transport_tls_clear(&transport->next_tls);
    transport->next_tls = copied;
    transport->renewing = transport->put_off = true;
    transport_kick(transport);
    return true;
}

static struct http_exchange *first_running(struct transport *transport)
{
    struct http_exchange *exchange;
    TAILQ_FOREACH (exchange, &transport->exchanges, link) {
        if (exchange->state == EXCHANGE_RUNNING) return exchange;
    }
    return NULL;
}

/* Ends running exchanges. Searches from the start each time, as an on_done may change the list. */
static void end_running(struct transport *transport)
{
    struct http_exchange *exchange;
    while ((exchange = first_running(transport))) {
        struct err err;
        err_set(&err, ERR_CLOSED, "%s: connection closed: the certificates have changed", exchange->where);
        exchange_finish(exchange, CURLE_OK, &err);
    }
}

void transport_renew(struct transport *transport)
{
    struct http_exchange *exchange;
    if (!transport->renewing) return;
    end_running(transport);
    curl_multi_cleanup(transport->multi);
    transport->multi = transport_new_multi(transport);
    transport_tls_clear(&transport->options.tls);
    transport->options.tls = transport->next_tls;
    transport->next_tls = (struct transport_tls){0};
    transport->renewing = transport->many_connections = false;
    TAILQ_FOREACH (exchange, &transport->exchanges, link) {
        if (exchange->state == EXCHANGE_NEW) exchange_set_tls(exchange);
    }
}
