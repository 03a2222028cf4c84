/* A server for one sharded group; see shard_server.h. */
#include "core/informer/support/shard_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"

void shard_server_init(struct shard_server *server, uint64_t seed)
{
    *server = (struct shard_server){.latency_ms = 20, .slow_ms = 20, .chance = {seed}};
    virtual_clock_init(&server->world);
}

void shard_server_clear(struct shard_server *server)
{
    free(server->leases);
    buf_clear(&server->table);
    buf_clear(&server->previous);
    virtual_clock_clear(&server->world);
}

bool shard_server_one_in(struct shard_server *server, int64_t n)
{
    return jitter_between(&server->chance, 0, n) == 0;
}

int64_t shard_server_latency_ms(struct shard_server *server)
{
    int64_t most_ms = shard_server_one_in(server, 20) ? server->slow_ms : server->latency_ms;
    return jitter_between(&server->chance, 1, most_ms + 1);
}

/* --- what it does */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct shard_lease *)a)->name, ((const struct shard_lease *)b)->name);
}

static struct shard_lease *find(struct shard_server *server, const struct shard_lease *lease)
{
    return server->count ? bsearch(lease, server->leases, server->count, sizeof *lease, by_name) : NULL;
}

static void take_out(struct shard_server *server, struct shard_lease *lease)
{
    size_t at = (size_t)(lease - server->leases);
    memmove(lease, lease + 1, (server->count - at - 1) * sizeof *lease);
    server->count--;
}

void shard_server_delete_lease(struct shard_server *server, const char *name)
{
    struct shard_lease key, *found;
    snprintf(key.name, sizeof key.name, "%s", name);
    found = find(server, &key);
    if (found) take_out(server, found);
}

void shard_server_delete_table(struct shard_server *server)
{
    server->table.len = 0;
    server->table_changed(server->ctx);
}

static int write_lease(struct shard_server *server, const struct shard_lease *lease, bool creates)
{
    struct shard_lease *found = find(server, lease);
    char uid[SHARD_UID_MAX];
    bool is_other = *lease->uid && (!found || strcmp(found->uid, lease->uid) != 0);
    if (creates ? found != NULL : is_other || (found && strcmp(found->version, lease->version) != 0))
        return 409;
    if (!found) { /* by an update, too: Leases are created by it */
        server->leases = xreallocarray(server->leases, server->count + 1, sizeof *lease);
        server->leases[server->count++] = *lease;
        qsort(server->leases, server->count, sizeof *lease, by_name);
        found = find(server, lease);
        snprintf(found->uid, sizeof found->uid, "uid-%d", server->version);
    }
    snprintf(uid, sizeof uid, "%s", found->uid);
    *found = *lease;
    snprintf(found->uid, sizeof found->uid, "%s", uid);
    snprintf(found->version, sizeof found->version, "%d", ++server->version);
    return 200;
}

static int delete_lease(struct shard_server *server, const struct shard_lease *lease)
{
    struct shard_lease *found = find(server, lease);
    if (!found) return 404;
    if (strcmp(found->version, lease->version) != 0) return 409;
    take_out(server, found);
    return 200;
}

static int write_table(struct shard_server *server, struct shard_wire *wire)
{
    char version[SHARD_VERSION_MAX];
    bool creates = wire->request.verb == SHARD_TABLE_CREATE, there = server->table.len > 0;
    snprintf(version, sizeof version, "%d", server->table_version);
    if (creates ? there : there && strcmp(version, wire->version) != 0) return 409;
    if (!creates && !there) return 404;
    server->previous.len = 0;
    buf_str(&server->previous, buf_slice(&server->table));
    server->table.len = 0;
    buf_str(&server->table, buf_slice(&wire->table));
    server->table_version = ++server->version;
    server->table_changed(server->ctx);
    return 200;
}

static int serve(struct shard_wire *wire)
{
    struct shard_server *server = wire->server;
    const struct shard_lease *lease = &wire->request.lease;
    switch (wire->request.verb) {
    case SHARD_LEASE_CREATE: return write_lease(server, lease, true);
    case SHARD_LEASE_UPDATE: return write_lease(server, lease, false);
    case SHARD_LEASE_DELETE: return delete_lease(server, lease);
    case SHARD_LEASE_GET:
        if (!*lease->name) return 500; /* clients send no request without a name */
        return find(server, lease) ? 200 : 404;
    case SHARD_LEASES_LIST: return 200;
    case SHARD_TABLE_GET: return server->table.len ? 200 : 404;
    case SHARD_TABLE_CREATE:
    case SHARD_TABLE_UPDATE: return write_table(server, wire);
    }
    return 500;
}

/* Copies what the response shows: it may arrive long after others have changed it. */
static void remember(struct shard_wire *wire)
{
    struct shard_server *server = wire->server;
    bool lists = wire->request.verb == SHARD_LEASES_LIST;
    struct shard_lease *one = lists ? server->leases : find(server, &wire->request.lease);
    wire->count = lists ? server->count : one ? 1 : 0;
    free(wire->leases);
    wire->leases = xcalloc(wire->count + 1, sizeof *wire->leases);
    if (wire->count) memcpy(wire->leases, one, wire->count * sizeof *one);
    wire->answer.len = 0;
    buf_str(&wire->answer, buf_slice(&server->table));
    snprintf(wire->answer_version, sizeof wire->answer_version, "%d", server->table_version);
}

/* --- traffic */

static void count(struct shard_wire *wire)
{
    struct shard_traffic *t = wire->traffic;
    enum shard_verb verb = wire->request.verb;
    t->requests++;
    t->renewals += verb == SHARD_LEASE_UPDATE || verb == SHARD_LEASE_CREATE;
    t->looks += verb == SHARD_LEASE_GET;
    t->lists += verb == SHARD_LEASES_LIST;
    t->writes += verb == SHARD_TABLE_CREATE || verb == SHARD_TABLE_UPDATE;
    t->bytes += 2 * HEAD_BYTES + LEASE_BYTES * wire->count;
    if (verb == SHARD_LEASE_UPDATE || verb == SHARD_LEASE_CREATE) t->bytes += LEASE_BYTES;
    if (verb == SHARD_TABLE_GET) t->bytes += TABLE_BYTES + wire->answer.len;
    if (verb == SHARD_TABLE_CREATE || verb == SHARD_TABLE_UPDATE)
        t->bytes += 2 * (TABLE_BYTES + wire->table.len);
}

/* --- wires */

static void arm(struct shard_wire *wire, int64_t at_ms)
{
    struct shard_server *server = wire->server;
    timer_start(&wire->timer, &server->world.clock, at_ms - server->world.now);
}

static void answer(struct shard_wire *wire, int status)
{
    struct err err;
    struct shard_response response = {.leases = wire->leases,
                                      .count = wire->count,
                                      .table = buf_slice(&wire->answer),
                                      .version = wire->answer_version};
    if (status != 200) {
        err_set(&err, status ? ERR_HTTP : ERR_TIMEOUT, status ? "status %d" : "no response", status);
        err.http_status = status;
        response.err = &err;
    }
    wire->open = false;
    wire->done(wire->done_ctx, &response);
}

static void on_timer(struct timer *timer)
{
    struct shard_wire *wire = container_of(timer, struct shard_wire, timer);
    int64_t now_ms = wire->server->world.now;
    if (!wire->served && !wire->lost) {
        wire->served = true;
        wire->status = serve(wire);
        remember(wire);
        count(wire);
        /* The response may be lost, too. */
        wire->lost = jitter_between(&wire->server->chance, 0, 1000) < wire->server->lost_per_mille;
        arm(wire, wire->lost || wire->answer_at_ms > wire->timeout_at_ms ? wire->timeout_at_ms
                                                                         : wire->answer_at_ms);
    } else if (now_ms < *wire->frozen_until_ms) {
        arm(wire, *wire->frozen_until_ms);
    } else {
        bool late = wire->lost || *wire->is_cut || wire->answer_at_ms > wire->timeout_at_ms;
        answer(wire, late ? 0 : wire->status);
    }
}

void shard_wire_send(struct shard_wire *wire, const struct shard_request *request, shard_done *done,
                     void *done_ctx)
{
    struct shard_server *server = wire->server;
    int64_t serve_at_ms = server->world.now + shard_server_latency_ms(server);
    assert_false(wire->open);
    wire->request = *request;
    wire->table.len = 0;
    buf_str(&wire->table, request->table);
    snprintf(wire->version, sizeof wire->version, "%s", request->version ? request->version : "");
    wire->done = done;
    wire->done_ctx = done_ctx;
    wire->open = true;
    wire->served = false;
    wire->timeout_at_ms = server->world.now + request->timeout_ms;
    wire->answer_at_ms = serve_at_ms + shard_server_latency_ms(server);
    wire->lost = *wire->is_cut || jitter_between(&server->chance, 0, 1000) < server->lost_per_mille;
    wire->timer.fn = on_timer;
    arm(wire, wire->lost ? wire->timeout_at_ms : serve_at_ms);
}

void shard_wire_cancel(struct shard_wire *wire)
{
    assert_true(wire->open);
    wire->open = false;
    timer_cancel(&wire->timer);
}

void shard_wire_clear(struct shard_wire *wire)
{
    timer_cancel(&wire->timer);
    free(wire->leases);
    buf_clear(&wire->table);
    buf_clear(&wire->answer);
}
