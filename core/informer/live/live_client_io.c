/* I/O thread's half of live reads; see live_client.h. */
#include <stdlib.h>

#include "base/array.h"
#include "informer/live/live_client_internal.h"

static void post_response(struct live_read *read)
{
    read->is_awaited = false;
    mailbox_post(loop_mailbox(read->live->options.engine_loop), &read->response);
}

static void respond_error(struct live_read *read, const struct err *err)
{
    read->out = (struct live_response){.last = true, .err = &read->out_err};
    read->out_err = *err;
    post_response(read);
}

static void on_response(void *ctx, const struct object_response *response)
{
    struct live_read *read = ctx;
    read->call = NULL;
    read->result = *response;
    buf_str(&read->text, response->text);
    read->result.text = buf_slice(&read->text);
    if (response->err) {
        read->out_err = *response->err;
        read->result.err = &read->out_err;
    }
    post_response(read);
}

static void on_page(void *ctx, const struct page *page, const struct err *err)
{
    struct live_read *read = ctx;
    if (err) {
        respond_error(read, err);
        return;
    }
    read->out_version.len = 0;
    buf_puts(&read->out_version, page->resource_version);
    read->out = (struct live_response){
        .objects = page->objects,
        .count = page->count,
        .resource_version = buf_text(&read->out_version),
        .from_start = page->from_start,
        .last = page->last,
    };
    post_response(read);
}

/* Responds with the events so far, if there are any and the engine thread waits. An error follows after all
 * events before it. */
static void respond_events(struct live_read *read)
{
    if (!read->is_awaited || (read->filling.count == 0 && !read->over)) return;
    if (read->filling.count == 0) {
        respond_error(read, &read->err);
        return;
    }
    read->out = read->filling;
    read->filling = (struct live_response){0};
    post_response(read);
    if (!read->over) retry_watcher_pause(read->watcher, false);
}

/* Adds an event. A slow reader loses nothing: the transfer is paused until it has read. */
static void on_event(void *ctx, enum lw_event_type type, struct root *object)
{
    struct live_read *read = ctx;
    struct live_response *filling = &read->filling;
    size_t of_objects = filling->count;
    *array_add(filling->objects, of_objects) = object;
    *array_add(filling->types, filling->count) = type;
    if (filling->count >= LIVE_EVENTS_MAX) retry_watcher_pause(read->watcher, true);
    respond_events(read);
}

static void on_error(void *ctx, const struct err *err)
{
    struct live_read *read = ctx;
    read->over = true;
    read->err = *err;
    respond_events(read);
}

/* --- a text that grows */

/* Responds with the text so far, if there is any and the engine thread waits. The end follows after all of
 * it. */
static void respond_text(struct live_read *read)
{
    if (!read->is_awaited || (read->filling.text.len == 0 && !read->over)) return;
    if (read->filling.text.len > 0) {
        read->out = read->filling;
        read->filling = (struct live_response){0};
        post_response(read);
        if (read->stream) read->live->options.texts.pause(read->stream, false);
    } else if (read->err.code != ERR_NONE) {
        respond_error(read, &read->err);
    } else {
        read->out = (struct live_response){.last = true};
        post_response(read);
    }
}

static void on_text(void *ctx, const char *data, size_t len)
{
    struct live_read *read = ctx;
    buf_append(&read->filling.text, data, len);
    if (read->filling.text.len >= LIVE_TEXT_MAX) read->live->options.texts.pause(read->stream, true);
    respond_text(read);
}

static void on_text_end(void *ctx, const struct err *err)
{
    struct live_read *read = ctx;
    read->stream = NULL;
    read->over = true;
    if (err) read->err = *err;
    respond_text(read);
}

static void start_text(struct live_read *read)
{
    static const struct text_sink sink = {on_text, on_text_end};
    const struct text_caller *texts = &read->live->options.texts;
    err_clear(&read->err);
    read->stream = texts->start(texts->ctx, read->path, &sink, read);
}

/* --- lists and watches */

static struct list_watch *new_source(struct live_read *read)
{
    const struct live_options *o = &read->live->options;
    const struct lw_scope scope = {.namespace_ = read->namespace_,
                                   .label_selector = read->label_selector,
                                   .field_selector = read->field_selector};
    return o->new_source(o->ctx, &read->resource, &scope);
}

static void start_list(struct live_read *read)
{
    read->pager = pager_new(&(struct pager_options){
        .source = new_source(read),
        .clock = loop_clock(read->live->options.io_loop),
        .resource_version = read->version,
        .resource_version_match = read->version_match,
        .page_size = read->page_size,
        .limit = read->limit,
        .page_max = LIVE_OBJECTS_MAX,
        .whole_if_expired = read->whole_if_expired,
        .page = on_page,
        .ctx = read,
    });
    pager_next(read->pager);
}

static void start_watch(struct live_read *read)
{
    struct buf name = {0};
    struct err err;
    resource_name(&read->resource, &name);
    read->watcher = retry_watcher_new(
        &(struct retry_watcher_options){
            .name = buf_text(&name),
            .source = new_source(read),
            .clock = loop_clock(read->live->options.io_loop),
            .resource_version = read->version,
            .seed = read->seed,
            .event = on_event,
            .error = on_error,
            .ctx = read,
        },
        &err);
    buf_clear(&name);
    if (read->watcher)
        retry_watcher_start(read->watcher);
    else
        respond_error(read, &err);
}

void live_io_start(struct mail *mail)
{
    struct live_read *read = container_of(mail, struct live_read, start);
    const struct object_caller *caller = &read->live->options.caller;
    read->is_awaited = true;
    if (read->request)
        read->call = caller->start(caller->ctx, read->request, on_response, read);
    else if (read->verb == LIVE_LIST)
        start_list(read);
    else if (read->verb == LIVE_TEXT)
        start_text(read);
    else
        start_watch(read);
}

void live_io_next(struct mail *mail)
{
    struct live_read *read = container_of(mail, struct live_read, next);
    read->is_awaited = true;
    if (read->pager)
        pager_next(read->pager);
    else if (read->verb == LIVE_TEXT)
        respond_text(read);
    else
        respond_events(read);
}

void live_io_stop(struct mail *mail)
{
    struct live_read *read = container_of(mail, struct live_read, stop);
    struct live_client *live = read->live;
    if (read->call) live->options.caller.cancel(read->call);
    pager_free(read->pager);
    retry_watcher_free(read->watcher);
    if (read->stream) live->options.texts.cancel(read->stream);
    live_response_clear(&read->filling);
    mailbox_post(loop_mailbox(live->options.engine_loop), &read->gone); /* live_on_gone frees the read */
    /* Signalled with the lock held: a thread that sees the count may free `live` as soon as it gets the lock.
     */
    pthread_mutex_lock(&live->lock);
    live->running--;
    pthread_cond_signal(&live->ended);
    pthread_mutex_unlock(&live->lock);
}
