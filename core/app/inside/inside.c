/* Connects the engine's own client to the simulator without a network; see inside.h. */
#include "app/inside/inside.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "app/inside/inside_answers.h"
#include "app/inside/inside_faults.h"
#include "base/mem.h"
#include "base/must.h"
#include "net/http_local.h"

/* A watch that ends by its timeout is seen so late at most. */
enum { TICK_MS = 10000 };

struct spec_cluster {
    struct http_local server;
    struct spec_cluster_options options;
    struct sim_inside *inside;
    struct spec_faults faults;
    struct spec_answers answers;
    TAILQ_HEAD(, inside_call) calls;
    struct timer tick;
};

/* One exchange. */
struct inside_call {
    TAILQ_ENTRY(inside_call) link;
    struct spec_cluster *cluster;
    struct http_exchange *exchange; /* NULL: it is over */
    bool busy;                      /* it is being served or answered */
    struct timer due;               /* until it is served, and then until the response */
    char *method, *target, *accept, *content_type;
    struct buf body;
    struct spec_outcome outcome;
    struct sim_inside_response due_response; /* made when the request came, and not given yet */
    struct sim_stream *stream;               /* of a watch that is answered */
};

static void call_free(struct inside_call *call)
{
    TAILQ_REMOVE(&call->cluster->calls, call, link);
    timer_cancel(&call->due);
    if (call->stream) sim_inside_close(call->stream);
    sim_inside_response_clear(&call->due_response);
    free(call->method);
    free(call->target);
    free(call->accept);
    free(call->content_type);
    buf_clear(&call->body);
    spec_outcome_clear(&call->outcome);
    free(call);
}

static struct sim_inside_request request_of(const struct inside_call *call)
{
    return (struct sim_inside_request){.method = call->method,
                                       .target = call->target,
                                       .accept = call->accept,
                                       .content_type = call->content_type,
                                       .body = buf_slice(&call->body)};
}

/* --- responses */

static void observe(struct inside_call *call)
{
    const struct spec_cluster_options *o = &call->cluster->options;
    const struct sim_inside_request request = request_of(call);
    struct sim_inside_about about;
    if (!o->written || strcmp(call->method, "GET") == 0) return;
    sim_inside_about(call->cluster->inside, &request, &about);
    o->written(o->ctx, &about, &request, &call->due_response);
    sim_inside_about_clear(&about);
}

/* The owner of the exchange may end it in each of these. */
static void write_part(struct inside_call *call, const struct sim_inside_response *response, const char *data,
                       size_t len)
{
    if (response && call->exchange)
        http_local_head(call->exchange,
                        &(struct http_response){
                            .status = response->code,
                            .content_type = response->content_type,
                            .retry_after_ms = response->retry_after_s ? response->retry_after_s * 1000 : -1,
                        });
    if (call->exchange) http_local_body(call->exchange, data, len);
}

static void finish(struct inside_call *call)
{
    call->busy = false;
    if (!call->exchange) call_free(call);
}

/* Sends what a watch has for its client now; returns true if there was anything. */
static bool go_on(struct inside_call *call)
{
    struct buf out = {0};
    if (http_local_is_paused(call->exchange)) return false;
    bool open = sim_inside_read(call->stream, &out), any = out.len > 0 || !open;
    call->busy = true;
    write_part(call, NULL, out.data, out.len);
    if (!open && call->exchange) http_local_end(call->exchange, NULL);
    buf_clear(&out);
    finish(call);
    return any;
}

static void on_response(struct timer *timer)
{
    struct inside_call *call = container_of(timer, struct inside_call, due);
    const struct sim_inside_response *a = &call->due_response;
    call->busy = true;
    call->stream = a->stream;
    call->due_response.stream = NULL;
    write_part(call, a, a->body.data, a->body.len);
    if (!call->stream && call->exchange) http_local_end(call->exchange, NULL);
    sim_inside_response_clear(&call->due_response);
    finish(call);
}

/* Executes the request as soon as it comes, whoever waits for the response. */
static void on_serve(struct timer *timer)
{
    struct inside_call *call = container_of(timer, struct inside_call, due);
    const struct sim_inside_request request = request_of(call);
    const struct spec_outcome *outcome = &call->outcome;
    call->busy = true;
    if (!http_local_send(call->exchange)) {
        finish(call);
        return;
    }
    if (outcome->code)
        sim_inside_refuse(outcome->code, outcome->reason, outcome->message, outcome->retry_after_s,
                          &call->due_response);
    else if (!spec_answers_meet(&call->cluster->answers, &request, &call->due_response))
        sim_inside_serve(call->cluster->inside, &request, &call->due_response);
    observe(call);
    call->busy = false;
    timer->fn = on_response;
    if (outcome->delay_ms > 0)
        timer_start(timer, loop_clock(call->cluster->options.loop), outcome->delay_ms);
    else
        on_response(timer);
}

/* --- the server's side of exchanges */

static char *header(const struct http_request *request, const char *name)
{
    for (const struct http_header *h = request->headers; h && h->name; h++)
        if (strcasecmp(h->name, name) == 0) return xstrdup(h->value);
    return NULL;
}

/* "/api/v1/pods?..." of "http://host/api/v1/pods?...". */
static char *target_of(const char *url)
{
    const char *host = strstr(url, "://"), *path = host ? strchr(host + 3, '/') : url;
    return xstrdup(path ? path : "/");
}

static void begin(struct http_local *server, struct http_exchange *exchange, const struct http_request *from)
{
    struct spec_cluster *cluster = container_of(server, struct spec_cluster, server);
    struct inside_call *call = NEW(struct inside_call);
    struct sim_inside_about about;
    *call = (struct inside_call){.cluster = cluster,
                                 .exchange = exchange,
                                 .due.fn = on_serve,
                                 .method = xstrdup(from->method ? from->method : "GET"),
                                 .target = target_of(from->url),
                                 .accept = header(from, "Accept"),
                                 .content_type = header(from, "Content-Type")};
    if (from->body.p) buf_str(&call->body, from->body);
    TAILQ_INSERT_TAIL(&cluster->calls, call, link);
    const struct sim_inside_request request = request_of(call);
    sim_inside_about(cluster->inside, &request, &about);
    spec_faults_meet(&cluster->faults, &about, call->content_type, &call->outcome);
    sim_inside_about_clear(&about);
    timer_start(&call->due, loop_clock(cluster->options.loop), 0);
}

static void gone(struct http_local *server, struct http_exchange *exchange)
{
    struct spec_cluster *cluster = container_of(server, struct spec_cluster, server);
    struct inside_call *call;
    TAILQ_FOREACH (call, &cluster->calls, link)
        if (call->exchange == exchange) break;
    if (!call) return;
    call->exchange = NULL;
    if (!call->busy) call_free(call);
}

/* --- life */

static void on_tick(struct timer *timer)
{
    struct spec_cluster *cluster = container_of(timer, struct spec_cluster, tick);
    timer_start(timer, loop_clock(cluster->options.loop), TICK_MS);
}

struct spec_cluster *spec_cluster_new(const struct spec_cluster_options *options)
{
    struct spec_cluster *cluster = NEW(struct spec_cluster);
    cluster->server = (struct http_local){begin, gone};
    cluster->options = *options;
    cluster->inside = sim_inside_new(options->loop);
    cluster->tick.fn = on_tick;
    spec_faults_init(&cluster->faults);
    TAILQ_INIT(&cluster->calls);
    on_tick(&cluster->tick);
    return cluster;
}

void spec_cluster_free(struct spec_cluster *cluster)
{
    if (!cluster) return;
    must(TAILQ_EMPTY(&cluster->calls));
    timer_cancel(&cluster->tick);
    spec_faults_clear(&cluster->faults);
    spec_answers_clear(&cluster->answers);
    sim_inside_free(cluster->inside);
    free(cluster);
}

void test_cluster_connect(struct spec_cluster *cluster, char *server, struct cluster_config *config,
                          struct kube_client_options *client)
{
    static char source[] = "memory", ns[] = "default";
    *config = (struct cluster_config){.server = server, .source = source, .namespace_ = ns};
    *client = (struct kube_client_options){.config = config, .local = &cluster->server};
}

struct sim_inside *spec_cluster_inside(struct spec_cluster *cluster)
{
    return cluster->inside;
}

/* A response may begin and end other calls: restart the walk. */
bool spec_cluster_pump(struct spec_cluster *cluster)
{
    struct inside_call *call = TAILQ_FIRST(&cluster->calls);
    while (call) {
        struct inside_call *next = TAILQ_NEXT(call, link);
        if (call->stream && go_on(call)) return true;
        call = next;
    }
    return false;
}

void spec_cluster_add_fault(struct spec_cluster *cluster, const struct spec_fault *fault)
{
    spec_faults_add(&cluster->faults, fault);
}

bool spec_cluster_has_unmet(const struct spec_cluster *cluster, int id)
{
    return spec_faults_has_unmet(&cluster->faults, id);
}

void spec_cluster_answer(struct spec_cluster *cluster, const struct spec_answer *answer)
{
    spec_answers_add(&cluster->answers, answer);
}

void spec_cluster_clear_faults(struct spec_cluster *cluster)
{
    spec_faults_clear(&cluster->faults);
}
