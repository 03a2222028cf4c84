/* Responses to http.request in specs; see spec_web.h. */
#include "app/specs/spec_web.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>

#include "base/mem.h"
#include "base/must.h"

/* Copied headers; ends with a NULL name. */
struct headers {
    struct http_header *items;
    size_t count;
};

struct spec_web_rule {
    TAILQ_ENTRY(spec_web_rule) link;
    char *method, *url;
    int status, times;
    struct headers headers;
    struct buf body;
    int64_t delay_ms;
    unsigned refs; /* from the list, and from calls that it responds to */
};

struct spec_web_call {
    TAILQ_ENTRY(spec_web_call) link;
    struct spec_web *web;
    struct http_exchange *exchange; /* NULL: ended */
    struct timer due;
    struct spec_web_rule *rule; /* NULL: no rule matches */
    bool busy;
};

struct spec_web {
    struct http_local server;
    struct spec_web_options options;
    TAILQ_HEAD(, spec_web_rule) rules;
    TAILQ_HEAD(, spec_web_call) calls;
};

static void copy_headers(struct headers *to, const struct http_header *from)
{
    while (from && from[to->count].name) to->count++;
    to->items = xcalloc(to->count + 1, sizeof *to->items);
    for (size_t i = 0; i < to->count; i++)
        to->items[i] = (struct http_header){xstrdup(from[i].name), xstrdup(from[i].value)};
}

static void rule_unref(struct spec_web_rule *rule)
{
    if (!rule || --rule->refs > 0) return;
    for (size_t i = 0; i < rule->headers.count; i++) {
        free((char *)rule->headers.items[i].name);
        free((char *)rule->headers.items[i].value);
    }
    free(rule->headers.items);
    free(rule->method);
    free(rule->url);
    buf_clear(&rule->body);
    free(rule);
}

static void call_free(struct spec_web_call *call)
{
    TAILQ_REMOVE(&call->web->calls, call, link);
    timer_cancel(&call->due);
    rule_unref(call->rule);
    free(call);
}

static bool url_matches(const char *wanted, const char *url)
{
    size_t n = strlen(wanted);
    return n > 0 && wanted[n - 1] == '*' ? strncmp(wanted, url, n - 1) == 0 : strcmp(wanted, url) == 0;
}

/* Returns a reference to the newest matching response; a used-up one leaves the list. */
static struct spec_web_rule *find_response(struct spec_web *web, const char *method, const char *url)
{
    struct spec_web_rule *rule;
    TAILQ_FOREACH (rule, &web->rules, link)
        if ((!rule->method || strcasecmp(rule->method, method) == 0) && url_matches(rule->url, url)) break;
    if (!rule) return NULL;
    rule->refs++;
    if (rule->times > 0 && --rule->times == 0) {
        TAILQ_REMOVE(&web->rules, rule, link);
        rule_unref(rule);
    }
    return rule;
}

static const char *content_type(const struct spec_web_rule *rule)
{
    for (size_t i = 0; i < rule->headers.count; i++)
        if (strcasecmp(rule->headers.items[i].name, "content-type") == 0) return rule->headers.items[i].value;
    return "";
}

static void respond(struct spec_web_call *call)
{
    const struct spec_web_rule *rule = call->rule;
    struct err err;
    call->busy = true;
    if (!rule) {
        err_set(&err, ERR_CONNECT, "no env:http matches this request");
        http_local_end(call->exchange, &err);
    } else {
        http_local_set_headers(call->exchange, rule->headers.items);
        http_local_head(call->exchange, &(struct http_response){.status = rule->status,
                                                                .content_type = content_type(rule),
                                                                .retry_after_ms = -1});
        if (call->exchange && rule->body.len)
            http_local_body(call->exchange, rule->body.data, rule->body.len);
        if (call->exchange) http_local_end(call->exchange, NULL);
    }
    call->busy = false;
    if (!call->exchange) call_free(call);
}

static void on_due(struct timer *timer)
{
    respond(container_of(timer, struct spec_web_call, due));
}

static void begin(struct http_local *server, struct http_exchange *exchange,
                  const struct http_request *request)
{
    struct spec_web *web = container_of(server, struct spec_web, server);
    struct spec_web_call *call = NEW(struct spec_web_call);
    const char *method = request->method ? request->method : "GET";
    *call = (struct spec_web_call){
        .web = web, .exchange = exchange, .due.fn = on_due, .rule = find_response(web, method, request->url)};
    TAILQ_INSERT_TAIL(&web->calls, call, link);
    web->options.on_request(web->options.ctx,
                            &(struct spec_web_request){.method = method,
                                                       .url = request->url,
                                                       .headers = request->headers,
                                                       .body = request->body,
                                                       .status = call->rule ? call->rule->status : 0});
    timer_start(&call->due, loop_clock(web->options.loop), call->rule ? call->rule->delay_ms : 0);
}

static void gone(struct http_local *server, struct http_exchange *exchange)
{
    struct spec_web *web = container_of(server, struct spec_web, server);
    struct spec_web_call *call;
    TAILQ_FOREACH (call, &web->calls, link)
        if (call->exchange == exchange) break;
    if (!call) return;
    call->exchange = NULL;
    if (!call->busy) call_free(call);
}

struct spec_web *spec_web_new(const struct spec_web_options *options)
{
    struct spec_web *web = NEW(struct spec_web);
    web->server = (struct http_local){begin, gone};
    web->options = *options;
    TAILQ_INIT(&web->rules);
    TAILQ_INIT(&web->calls);
    return web;
}

void spec_web_free(struct spec_web *web)
{
    struct spec_web_rule *rule;
    if (!web) return;
    must(TAILQ_EMPTY(&web->calls));
    while ((rule = TAILQ_FIRST(&web->rules))) {
        TAILQ_REMOVE(&web->rules, rule, link);
        rule_unref(rule);
    }
    free(web);
}

struct http_local *spec_web_server(struct spec_web *web)
{
    return &web->server;
}

void spec_web_add(struct spec_web *web, const struct spec_web_response *response)
{
    struct spec_web_rule *rule = NEW(struct spec_web_rule);
    *rule = (struct spec_web_rule){.method = xstrdup(response->method),
                                   .url = xstrdup(response->url),
                                   .status = response->status,
                                   .times = response->times,
                                   .delay_ms = response->delay_ms,
                                   .refs = 1};
    copy_headers(&rule->headers, response->headers);
    buf_str(&rule->body, response->body);
    TAILQ_INSERT_HEAD(&web->rules, rule, link);
}
