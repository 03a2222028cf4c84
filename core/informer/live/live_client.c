/* Engine thread's half of live reads; see live_client.h. */
#include "informer/live/live_client.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "informer/live/live_client_internal.h"

void live_response_clear(struct live_response *response)
{
    for (size_t i = 0; i < response->count; i++) root_unref(response->objects[i]);
    free(response->objects);
    free(response->types);
    buf_clear(&response->text);
    *response = (struct live_response){0};
}

static void post(struct live_read *read, struct mail *request)
{
    mailbox_post(loop_mailbox(read->live->options.io_loop), request);
}

/* Sends a request, or queues it if too many are in flight. A watch and a stream do not count: its response
 * stays open while nothing happens, which is no load. */
static void send_request(struct live_read *read, struct mail *request)
{
    struct live_client *live = read->live;
    if (read->verb != LIVE_LIST) {
        post(read, request);
    } else if (live->under_way < LIVE_UNDER_WAY_MAX) {
        live->under_way++;
        read->counted = true;
        post(read, request);
    } else {
        read->queued = request;
        TAILQ_INSERT_TAIL(&live->queue, read, queue_link);
    }
}

static void leave_queue(struct live_read *read)
{
    if (!read->queued) return;
    read->queued = NULL;
    TAILQ_REMOVE(&read->live->queue, read, queue_link);
}

/* A request has its response, or never will: the next one is sent. */
static void settle(struct live_read *read)
{
    struct live_client *live = read->live;
    if (!read->counted) return;
    read->counted = false;
    live->under_way--;
    struct live_read *next = TAILQ_FIRST(&live->queue);
    if (!next) return;
    struct mail *request = next->queued;
    leave_queue(next);
    send_request(next, request);
}

static void free_read(struct live_read *read)
{
    LIST_REMOVE(read, link);
    live_response_clear(&read->out);
    root_unref(read->result.object);
    buf_clear(&read->text);
    buf_clear(&read->out_version);
    object_request_free(read->request);
    resource_clear(&read->resource);
    free(read->namespace_);
    free(read->path);
    free(read->label_selector);
    free(read->field_selector);
    free(read->version);
    free(read->version_match);
    free(read);
}

void live_on_response(struct mail *mail)
{
    struct live_read *read = container_of(mail, struct live_read, response);
    struct live_response response = read->out;
    struct object_response result = read->result;
    settle(read);
    if (read->closed) return; /* the response is freed with it */
    read->out = (struct live_response){0};
    read->result.object = NULL;
    if (read->request)
        read->done(read->ctx, &result);
    else
        read->answered(read->ctx, &response);
}

void live_on_gone(struct mail *mail)
{
    struct live_read *read = container_of(mail, struct live_read, gone);
    settle(read);
    free_read(read);
}

static char *copy(const char *text)
{
    return xstrdup(text ? text : "");
}

static struct live_read *new_read(struct live_client *live, void *ctx)
{
    struct live_read *read = NEW(struct live_read);
    read->live = live;
    read->ctx = ctx;
    read->start.deliver = live_io_start;
    read->next.deliver = live_io_next;
    read->stop.deliver = live_io_stop;
    read->response.deliver = live_on_response;
    read->gone.deliver = live_on_gone;
    return read;
}

static struct live_read *begin(struct live_read *read)
{
    struct live_client *live = read->live;
    LIST_INSERT_HEAD(&live->reads, read, link);
    pthread_mutex_lock(&live->lock);
    live->running++;
    pthread_mutex_unlock(&live->lock);
    send_request(read, &read->start);
    return read;
}

struct live_read *live_start(struct live_client *live, const struct live_request *q,
                             void (*answered)(void *ctx, const struct live_response *response), void *ctx)
{
    struct live_read *read = new_read(live, ctx);
    read->answered = answered;
    read->verb = q->verb;
    if (q->resource) resource_copy(&read->resource, q->resource);
    read->path = copy(q->path);
    read->namespace_ = copy(q->scope.namespace_);
    read->label_selector = copy(q->scope.label_selector);
    read->field_selector = copy(q->scope.field_selector);
    read->version = copy(q->resource_version);
    read->version_match = copy(q->resource_version_match);
    read->limit = q->limit;
    read->page_size = q->page_size ? q->page_size : live->options.page_size;
    read->whole_if_expired = q->whole_if_expired;
    read->seed = live->options.seed + ++live->started;
    return begin(read);
}

struct live_read *live_call(struct live_client *live, const struct object_request *request, object_done *done,
                            void *ctx)
{
    struct live_read *read = new_read(live, ctx);
    read->done = done;
    read->request = object_request_copy(request);
    return begin(read);
}

void live_next(struct live_read *read)
{
    must(!read->closed);
    send_request(read, &read->next);
}

void live_close(struct live_read *read)
{
    must(!read->closed);
    read->closed = true;
    leave_queue(read); /* the I/O thread may never have received it, which is fine */
    post(read, &read->stop);
}

struct live_client *live_new(const struct live_options *options)
{
    struct live_client *live = NEW(struct live_client);
    live->options = *options;
    LIST_INIT(&live->reads);
    TAILQ_INIT(&live->queue);
    pthread_mutex_init(&live->lock, NULL);
    pthread_cond_init(&live->ended, NULL);
    return live;
}

void live_free(struct live_client *live)
{
    if (!live) return;
    struct live_read *read;
    LIST_FOREACH (read, &live->reads, link)
        if (!read->closed) live_close(read);
    pthread_mutex_lock(&live->lock);
    while (live->running > 0) loop_wait(live->options.io_loop, &live->ended, &live->lock);
    pthread_mutex_unlock(&live->lock);
    while ((read = LIST_FIRST(&live->reads))) {
        mailbox_withdraw(loop_mailbox(live->options.engine_loop), &read->response);
        mailbox_withdraw(loop_mailbox(live->options.engine_loop), &read->gone);
        free_read(read);
    }
    pthread_mutex_destroy(&live->lock);
    pthread_cond_destroy(&live->ended);
    free(live);
}
