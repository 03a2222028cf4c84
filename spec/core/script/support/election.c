/* An election with a server of the spec's; see election.h. */
#include "core/script/support/election.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <pthread.h>

#include "base/mem.h"
#include "base/must.h"
#include "script/handlers/leading.h"

enum { WAIT_MS = 20000, LOOK_MS = 2 };

static struct loop *io;
static pthread_t thread;
static struct pool *pool;
static struct packer *packer;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static bool is_holding; /* `held`, which the I/O thread waits for */
static enum election_server server;
static char holder[256];
static struct mail hold_mail;
static bool released;

/* --- the server, on the I/O thread */

struct object_call {
    struct timer timer;
    struct buf body;
    bool is_get, is_event;
    object_done *done;
    void *ctx;
};

static enum election_server mode(void)
{
    pthread_mutex_lock(&lock);
    enum election_server now = server;
    pthread_mutex_unlock(&lock);
    return now;
}

static struct root *lease(struct buf *json)
{
    struct root *root;
    struct err err;
    memset(buf_reserve(json, TAPE_PADDING), 0, TAPE_PADDING);
    must(pack_text(packer, json->data, json->len, NULL, &root, &err));
    return root;
}

/* Remembers who wrote. */
static struct root *take(struct object_call *call)
{
    static const char name[] = "\"holderIdentity\":\"";
    const char *text = strstr(buf_text(&call->body), name) + strlen(name);
    pthread_mutex_lock(&lock);
    snprintf(holder, sizeof holder, "%.*s", (int)strcspn(text, "\""), text);
    pthread_mutex_unlock(&lock);
    return lease(&call->body);
}

static struct root *look(enum election_server now)
{
    struct buf json = {0};
    buf_printf(&json,
               "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":"
               "\"kubelua\",\"namespace\":\"ops\"},\"spec\":{\"holderIdentity\":\"%s\","
               "\"leaseDurationSeconds\":%d}}",
               now == ELECTION_TAKEN ? "other" : election_holder(), 1000);
    struct root *root = lease(&json);
    buf_clear(&json);
    return root;
}

static void answer(struct timer *timer)
{
    struct object_call *call = container_of(timer, struct object_call, timer);
    enum election_server now = mode();
    struct root *root = NULL;
    struct err err;
    if (now == ELECTION_SILENT) {
        timer_start(timer, loop_clock(io), LOOK_MS);
        return;
    }
    err_set(&err, ERR_HTTP, "conflict");
    err.http_status = 409;
    if (call->is_event)
        root = lease(&call->body);
    else if (call->is_get)
        root = look(now);
    else if (now == ELECTION_GRANTS)
        root = take(call);
    call->done(call->ctx, &(struct object_response){.object = root, .err = root ? NULL : &err});
    buf_clear(&call->body);
    free(call);
}

static struct object_call *start_call(void *ctx, const struct object_request *request, object_done *done,
                                      void *done_ctx)
{
    struct object_call *call = NEW(struct object_call);
    must(strcmp(request->place.namespace_, "ops") == 0);
    call->is_event = strcmp(request->place.resource->plural, "events") == 0;
    call->is_get = request->verb == OBJECT_GET;
    buf_str(&call->body, request->body);
    call->done = done;
    call->ctx = done_ctx;
    call->timer.fn = answer;
    timer_start(&call->timer, loop_clock(io), 0);
    return call;
}

static void cancel_call(struct object_call *call)
{
    timer_cancel(&call->timer);
    buf_clear(&call->body);
    free(call);
}

static void *run_io(void *arg)
{
    pool_adopt(pool);
    loop_run(io);
    return NULL;
}

static void wait_until_let_go(struct mail *mail)
{
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
}

/* --- the spec's side */

static void on_changed(void *ctx)
{
    struct cluster *c = ctx;
    if (c->script) script_leadership_changed(c->script);
}

void election_open(struct cluster *c)
{
    server = ELECTION_GRANTS;
    *holder = '\0';
    io = loop_new();
    pool = pool_new(NULL);
    packer = packer_new(pool);
    c->parts.leaders = leaders_new(&(struct leaders_options){.engine_loop = c->loop,
                                                             .io_loop = io,
                                                             .caller = {start_call, cancel_call, NULL},
                                                             .changed = on_changed,
                                                             .ctx = c,
                                                             .identity = "me",
                                                             .seed = 1});
    c->host.lease = (struct lease_config){.namespace_ = "ops", .name = "kubelua", .times = {1000, 900, 10}};
    must(pthread_create(&thread, NULL, run_io, NULL) == 0);
}

void election_close(struct cluster *c)
{
    if (is_holding) election_hold_io(c, false); /* the test failed meanwhile */
    leaders_end(c->parts.leaders);
    loop_stop(io);
    pthread_join(thread, NULL);
    leaders_free(c->parts.leaders);
    pool_adopt(pool);
    pool_drain(pool);
    assert_int_equal(pool_stats(pool).roots, 0);
    packer_free(packer);
    pool_free(pool);
    loop_free(io);
}

void election_set(enum election_server now)
{
    pthread_mutex_lock(&lock);
    server = now;
    pthread_mutex_unlock(&lock);
}

void election_start(struct cluster *c)
{
    leaders_start(c->parts.leaders);
}

void election_hold_io(struct cluster *c, bool hold)
{
    is_holding = hold;
    if (!hold) {
        pthread_mutex_unlock(&held);
        return;
    }
    pthread_mutex_lock(&held);
    hold_mail.deliver = wait_until_let_go;
    mailbox_post(loop_mailbox(io), &hold_mail);
}

const char *election_holder(void)
{
    static _Thread_local char copy[sizeof holder];
    pthread_mutex_lock(&lock);
    memcpy(copy, holder, sizeof copy);
    pthread_mutex_unlock(&lock);
    return copy;
}

static void nothing(struct timer *timer) {}

void election_turn(struct cluster *c)
{
    struct timer soon = {.fn = nothing};
    timer_start(&soon, loop_clock(c->loop), LOOK_MS);
    while (timer_running(&soon)) loop_once(c->loop, true);
}

static void on_released(void *ctx)
{
    released = true;
}

void election_release(struct cluster *c)
{
    released = false;
    leaders_release(c->parts.leaders, on_released, NULL);
    for (int64_t end = clock_now_ms(clock_real()) + WAIT_MS; !released;) {
        assert_true(clock_now_ms(clock_real()) < end);
        election_turn(c);
    }
}

void await_told(struct cluster *c, bool leads)
{
    int64_t end = clock_now_ms(clock_real()) + WAIT_MS;
    while (c->script->own.leading->notified != leads) {
        assert_true(clock_now_ms(clock_real()) < end);
        election_turn(c);
    }
}

void await_ask(struct cluster *c, const char *lua, const char *expected)
{
    int64_t end = clock_now_ms(clock_real()) + WAIT_MS;
    while (strcmp(cluster_ask(c, c->script, lua), expected) != 0) {
        if (clock_now_ms(clock_real()) > end) fail_msg("%s is not %s", c->result.data, expected);
        election_turn(c);
    }
}
