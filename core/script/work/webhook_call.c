/* Calls of webhooks, from a request to its response; see webhook.h. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/must.h"
#include "script/handlers/handler.h"
#include "script/handlers/leading.h"
#include "script/vm/args.h"
#include "script/vm/task.h"
#include "script/vm/turns.h"
#include "script/work/bind_webhook.h"
#include "script/work/webhook.h"
#include "script/work/webhook_paths.h"

FAMILY(family_requests, 119, COUNTER, "kubelua_webhook_requests_total", "script,path,code", NULL,
       "Number of requests to webhooks of scripts.");

enum { RETRY_S = 1 };

const char *webhook_method_name(enum webhook_method method)
{
    static const char *const names[] = {[WEBHOOK_GET] = "GET",
                                        [WEBHOOK_POST] = "POST",
                                        [WEBHOOK_PUT] = "PUT",
                                        [WEBHOOK_PATCH] = "PATCH",
                                        [WEBHOOK_DELETE] = "DELETE"};
    return names[method];
}

const char *webhook_header(const struct webhook_request *request, const char *name)
{
    struct str rest = request->headers;
    while (rest.n > 0) {
        const char *key = rest.p, *value = key + strlen(key) + 1;
        const char *end = value + strlen(value) + 1;
        if (strcasecmp(key, name) == 0) return value;
        rest.n -= (size_t)(end - rest.p);
        rest.p = end;
    }
    return NULL;
}

/* --- responses */

void webhook_response_clear(struct webhook_response *response)
{
    buf_clear(&response->allow);
    buf_clear(&response->headers);
    buf_clear(&response->body);
    *response = (struct webhook_response){0};
}

void webhook_response_set(struct webhook_response *response, int status, const char *text)
{
    webhook_response_clear(response);
    response->status = status;
    buf_printf(&response->body, "%s\n", text);
}

static void set_busy(struct webhook_response *response, const char *text)
{
    webhook_response_set(response, 503, text);
    response->retry_after_s = RETRY_S;
}

static struct series *requests_of(struct webhook *hook, int status)
{
    static const char *const classes[] = {"0xx", "1xx", "2xx", "3xx", "4xx", "5xx"};
    struct series **series = &hook->requests[status / 100 % ARRAY_LEN(classes)];
    if (!*series)
        *series = SERIES(&family_requests, hook->script->id.name, hook->path, classes[status / 100]);
    return *series;
}

void webhook_open_series(struct webhook *hook)
{
    requests_of(hook, 200);
    requests_of(hook, 400);
    requests_of(hook, 500);
}

static void finish(struct webhook_call *call)
{
    struct script_webhooks *own = call->hook->script->own.webhooks;
    TAILQ_REMOVE(call->is_begun ? &own->running : &own->waiting, call, link);
    own->call_count--;
    timer_cancel(&call->timeout);
    series_inc(requests_of(call->hook, call->response.status));
    call->done(call->ctx, &call->response);
    webhook_response_clear(&call->response);
    free(call);
}

static void finish_busy(struct webhook_call *call, const char *text)
{
    set_busy(&call->response, text);
    finish(call);
}

/* --- the call */

static void report(struct webhook_call *call, enum script_result result)
{
    struct webhook *hook = call->hook;
    if (result == SCRIPT_OK || result == SCRIPT_CANCELLED) return;
    failure_log_set_place(&hook->report, hook->script->L, hook->function);
    failure_log_add(&hook->report, hook->script, SCRIPT_WEBHOOK, result,
                    (const struct log_field[]){F("webhook", hook->path), {.key = NULL}});
}

static void ended(void *ctx, enum script_result result)
{
    struct webhook_call *call = ctx;
    call->task = NULL;
    report(call, result);
    quarantine_note(&call->hook->quarantine, QUARANTINE_CALL, result);
    if (call->is_late)
        webhook_response_set(&call->response, 504, "the webhook did not respond in time");
    else if (result == SCRIPT_CANCELLED)
        set_busy(&call->response, "the webhook was cancelled");
    else if (result != SCRIPT_OK)
        webhook_response_set(&call->response, 500, "the webhook failed");
    else if (!call->response.status)
        call->response = (struct webhook_response){.status = 204, .is_empty = true};
    finish(call);
}

static void push_call(lua_State *L, void *ctx)
{
    const struct webhook_call *call = ctx;
    webhook_push_call(L, call);
}

/* For the write log. */
static void describe(void *ctx, struct buf *caller, struct buf *trigger)
{
    const struct webhook_call *call = ctx;
    buf_puts(caller, call->hook->path);
    buf_printf(trigger, "%s %s", call->request->method, call->request->path);
}

static void begin(struct webhook_call *call)
{
    struct webhook *hook = call->hook;
    struct script *script = hook->script;
    struct script_webhooks *own = script->own.webhooks;
    if (hook->leader && !script_leads(script)) {
        finish_busy(call, "this replica is not the leader");
        return;
    }
    TAILQ_REMOVE(&own->waiting, call, link);
    TAILQ_INSERT_TAIL(&own->running, call, link);
    call->is_begun = true;
    const struct task_call task = {.what = "a webhook",
                                   .function = script->refs[REF_RUN_WEBHOOK],
                                   .prepare = push_call,
                                   .prepare_ctx = call,
                                   .finishes = true,
                                   .fence = hook->leader ? leading_fence(script) : NULL,
                                   .done = ended,
                                   .describe = describe,
                                   .ctx = call};
    enum script_result result = task_run(script, &task, &call->task);
    if (result != SCRIPT_YIELDED) ended(call, result);
    handlers_attach(script);
}

void webhooks_turn(struct script *script)
{
    struct script_webhooks *own = script->own.webhooks;
    struct webhook_call *call;
    while ((call = TAILQ_FIRST(&own->waiting))) {
        begin(call);
        if (turns_expired(script)) break;
    }
    if (!TAILQ_EMPTY(&own->waiting)) turns_schedule(script);
}

struct webhook_call *webhook_call_current(const struct script *script)
{
    must(script->tasks.current);
    return script->tasks.current->ctx;
}

void webhook_call_cancel(struct webhook_call *call)
{
    if (call->task)
        task_cancel(call->task);
    else
        finish_busy(call, "the webhook was cancelled");
}

static void on_timeout(struct timer *timer)
{
    struct webhook_call *call = container_of(timer, struct webhook_call, timeout);
    call->is_late = true;
    if (call->task)
        task_cancel(call->task);
    else {
        webhook_response_set(&call->response, 504, "the webhook did not respond in time");
        finish(call);
    }
}

/* Returns false, and sets the response, if the webhook cannot take the request now. */
static bool has_room(struct webhook *hook, struct webhook_response *response)
{
    const struct script *script = hook->script;
    if (script->phase != SCRIPT_RUNNING)
        set_busy(response, "the script is stopping");
    else if (script->restoring)
        set_busy(response, "the script reads its state first");
    else if (hook->leader && !script_leads(script))
        set_busy(response, "this replica is not the leader");
    else if (script->own.webhooks->call_count >= WEBHOOK_CALLS_MAX)
        set_busy(response, "the script has 100 requests in flight, which is the limit");
    else if (quarantine_skips(&hook->quarantine))
        set_busy(response, "the webhook is in quarantine after consecutive calls exceeded a limit");
    else
        return true;
    return false;
}

struct webhook_call *webhook_call_start(struct webhook_paths *paths, const struct webhook_request *request,
                                        webhook_done *done, void *ctx)
{
    size_t body_max;
    struct webhook_response response = {0};
    bool ok = webhook_paths_admit(paths, request, &body_max, &response);
    struct webhook *hook = ok ? webhook_paths_find(paths, request->path) : NULL;
    if (ok && request->body.n > body_max) {
        webhook_response_set(&response, 413, "the body is too large");
        ok = false;
    }
    ok = ok && (webhook_paths_is_verified(paths, request) || webhook_paths_verify(paths, request, &response));
    if (!ok || !has_room(hook, &response)) {
        if (hook) series_inc(requests_of(hook, response.status));
        done(ctx, &response);
        webhook_response_clear(&response);
        return NULL;
    }
    struct webhook_call *call = NEW(struct webhook_call);
    *call = (struct webhook_call){
        .hook = hook, .request = request, .timeout.fn = on_timeout, .done = done, .ctx = ctx};
    struct script_webhooks *own = hook->script->own.webhooks;
    TAILQ_INSERT_TAIL(&own->waiting, call, link);
    own->call_count++;
    timer_start(&call->timeout, script_clock(hook->script), hook->timeout_ms);
    turns_schedule(hook->script);
    return call;
}

/* --- the script's life */

struct webhook *webhook_find(const struct script *script, const char *path)
{
    for (size_t i = 0; i < script->own.webhooks->count; i++)
        if (strcmp(script->own.webhooks->items[i]->path, path) == 0) return script->own.webhooks->items[i];
    return NULL;
}

size_t script_webhook_count(const struct script *script)
{
    return script->own.webhooks->count;
}

static size_t count_of(const struct webhook_call_list *list, const struct webhook *hook)
{
    const struct webhook_call *call;
    size_t n = 0;
    TAILQ_FOREACH (call, list, link) n += call->hook == hook;
    return n;
}

void script_get_webhook_status(const struct script *script, size_t i, struct script_webhook_status *status,
                               struct buf *methods)
{
    const struct script_webhooks *own = script->own.webhooks;
    const struct webhook *hook = own->items[i];
    *status = (struct script_webhook_status){hook->path, hook->leader,
                                             count_of(&own->waiting, hook) + count_of(&own->running, hook)};
    webhook_put_methods(&hook->rules, methods);
}

void webhooks_refuse_waiting(struct script *script)
{
    struct webhook_call *call;
    while ((call = TAILQ_FIRST(&script->own.webhooks->waiting))) finish_busy(call, "the script is stopping");
}

void webhooks_stop_leading(struct script *script)
{
    struct webhook_call *call, *next;
    for (call = TAILQ_FIRST(&script->own.webhooks->running); call; call = next) {
        next = TAILQ_NEXT(call, link);
        if (call->hook->leader && call->task) task_cancel(call->task);
    }
}

void webhooks_cancel(struct script *script)
{
    struct webhook_call *call, *next;
    webhooks_refuse_waiting(script);
    for (call = TAILQ_FIRST(&script->own.webhooks->running); call; call = next) {
        next = TAILQ_NEXT(call, link);
        if (call->task) task_cancel(call->task);
    }
}

void webhooks_move_waiting(struct script *from, struct script *to)
{
    struct script_webhooks *old = from->own.webhooks, *own = to->own.webhooks;
    struct webhook_call *call;
    while ((call = TAILQ_FIRST(&old->waiting))) {
        struct webhook *hook = webhook_find(to, call->hook->path);
        if (!hook) {
            finish_busy(call, "the script was replaced");
            continue;
        }
        TAILQ_REMOVE(&old->waiting, call, link);
        old->call_count--;
        call->hook = hook;
        TAILQ_INSERT_TAIL(&own->waiting, call, link);
        own->call_count++;
    }
    if (!TAILQ_EMPTY(&own->waiting)) turns_schedule(to);
}
