/* A server with one Lease; see lease_server.h. */
#include "core/informer/support/lease_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/err.h"

void lease_server_clear(struct lease_server *server)
{
    buf_clear(&server->lease);
    *server = (struct lease_server){0};
}

static const char VERSION[] = "\"resourceVersion\":\"", AFTER[] = "\"namespace\":\"ops\"";

/* Takes `json` with a version of its own. */
static void put(struct lease_server *server, const char *json)
{
    struct buf out = {0};
    char version[64];
    snprintf(version, sizeof version, "%s%d\"", VERSION, ++server->version);
    const char *old = strstr(json, VERSION), *at = strstr(json, AFTER);
    assert_non_null(at);
    if (old) {
        buf_append(&out, json, (size_t)(old - json));
        buf_puts(&out, version);
        buf_puts(&out, strchr(old + strlen(VERSION), '"') + 1);
    } else {
        at += strlen(AFTER);
        buf_append(&out, json, (size_t)(at - json));
        buf_printf(&out, ",%s%s", version, at);
    }
    buf_clear(&server->lease);
    server->lease = out;
}

void lease_server_put(struct lease_server *server, const char *spec)
{
    struct buf json = {0};
    buf_printf(
        &json,
        "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":\"rules\","
        "\"namespace\":\"ops\",\"labels\":{\"a\":\"1\",\"b\":\"2\"}},\"spec\":%s}",
        spec);
    put(server, buf_text(&json));
    buf_clear(&json);
}

void assert_lease_has(const struct lease_server *server, const char *text)
{
    struct buf copy = {0};
    buf_str(&copy, buf_slice(&server->lease));
    if (!strstr(buf_text(&copy), text)) fail_msg("%s is not in %s", text, copy.data);
    buf_clear(&copy);
}

void assert_lease_lacks(const struct lease_server *server, const char *text)
{
    struct buf copy = {0};
    buf_str(&copy, buf_slice(&server->lease));
    if (strstr(buf_text(&copy), text)) fail_msg("%s is in %s", text, copy.data);
    buf_clear(&copy);
}

/* 200, 201, or why not. */
static int serve(struct lease_way *way)
{
    struct lease_server *server = way->server;
    bool there = server->lease.len > 0;
    if (way->verb == LEASE_GET) return there ? 200 : 404;
    if (way->verb == LEASE_CREATE && there) return 409;
    if (way->verb == LEASE_UPDATE) {
        char version[64];
        if (!there) return 404;
        snprintf(version, sizeof version, "%s%d\"", VERSION, server->version);
        if (!strstr(buf_text(&way->body), version)) return 409;
    }
    put(server, buf_text(&way->body));
    return 200;
}

static void ask(void *ctx, enum lease_verb verb, struct str body, int64_t timeout_ms,
                void (*done)(void *ctx, struct root *lease, const struct err *err), void *done_ctx)
{
    struct lease_way *way = ctx;
    assert_null(way->done);
    way->verb = verb;
    way->body.len = 0;
    buf_str(&way->body, body);
    way->timeout_ms = timeout_ms;
    way->done = done;
    way->done_ctx = done_ctx;
    way->served = 0;
    way->asked++;
}

static void cancel(void *ctx)
{
    struct lease_way *way = ctx;
    assert_non_null(way->done);
    way->done = NULL;
    way->cancelled++;
}

void lease_way_init(struct lease_way *way, struct lease_server *server)
{
    *way = (struct lease_way){.source = {.send = ask, .cancel = cancel, .ctx = way}, .server = server};
}

void lease_way_clear(struct lease_way *way)
{
    buf_clear(&way->body);
    buf_clear(&way->answer);
}

const char *lease_way_open(const struct lease_way *way)
{
    static const char *const verbs[] = {"get", "create", "update"};
    return way->done ? verbs[way->verb] : "";
}

void lease_way_refuse(struct lease_way *way, int status)
{
    void (*done)(void *ctx, struct root *lease, const struct err *err) = way->done;
    struct err err;
    assert_non_null(done);
    way->done = NULL;
    err_set(&err, status ? ERR_HTTP : ERR_CONNECT, status ? "status %d" : "no connection", status);
    err.http_status = status;
    done(way->done_ctx, NULL, &err);
}

void lease_way_serve(struct lease_way *way)
{
    way->served = serve(way);
    way->answer.len = 0;
    buf_str(&way->answer, buf_slice(&way->server->lease));
}

void lease_way_answer(struct lease_way *way)
{
    void (*done)(void *ctx, struct root *lease, const struct err *err) = way->done;
    assert_non_null(done);
    if (!way->served) lease_way_serve(way);
    if (way->served != 200) {
        lease_way_refuse(way, way->served);
        return;
    }
    way->done = NULL;
    done(way->done_ctx, object_from_json(buf_text(&way->answer)), NULL);
}

void lease_way_lose_answer(struct lease_way *way)
{
    if (!way->served) lease_way_serve(way);
    lease_way_refuse(way, 0);
}
