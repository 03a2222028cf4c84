/* List with a field selector; see list_single.h. */
#include "informer/live/list_single.h"

#include <stdlib.h>

#include "base/mem.h"
#include "informer/live/pager.h"
#include "object/value/value.h"

enum { OBJECTS_MAX = 1000 /* bounds a server that ignores the selector */ };

struct single_response {
    const struct list_single *alone;
    struct err *err;
    struct root *object;
    struct timer deadline;
    bool has_come, is_late;
};

static bool is_it(const struct list_single *alone, const struct root *object)
{
    struct text ns, name;
    return str_is(root_name(object, &name), alone->place.name) &&
           str_is(root_namespace(object, &ns), alone->place.namespace_);
}

static void take(struct single_response *response, const struct page *page)
{
    for (size_t i = 0; i < page->count; i++) {
        /* Checked here, as a server that ignores the selector returns other objects too. */
        if (!response->object && is_it(response->alone, page->objects[i]))
            response->object = page->objects[i];
        else
            root_unref(page->objects[i]);
    }
    free(page->objects);
    if (!response->object && (page->count > 0 || !page->last))
        err_set(response->err, ERR_INVALID, "the server returned other objects than the requested %s",
                response->alone->place.name);
}

static void on_page(void *ctx, const struct page *page, const struct err *err)
{
    struct single_response *response = ctx;
    response->has_come = true;
    if (err)
        *response->err = *err;
    else
        take(response, page);
}

static void on_refused(void *ctx, const struct lw_refusal *refusal)
{
    refusals_note(((struct single_response *)ctx)->alone->refusals, refusal);
}

static void on_late(struct timer *timer)
{
    container_of(timer, struct single_response, deadline)->is_late = true;
}

static struct pager *new_pager(const struct list_single *alone, const char *fields,
                               struct single_response *response)
{
    const struct resource *resource = alone->place.resource;
    const struct lw_scope scope = {
        .namespace_ = resource->namespaced ? alone->place.namespace_ : "",
        .label_selector = alone->selector,
        .field_selector = fields,
        .projection = (struct projection *)alone->projection, /* the source takes a reference */
        .packer = alone->packer};
    return pager_new(&(const struct pager_options){.source = list_watch_new(alone->client, resource, &scope),
                                                   .clock = loop_clock(alone->loop),
                                                   .resource_version = "",
                                                   .resource_version_match = "",
                                                   .page_max = OBJECTS_MAX,
                                                   .page = on_page,
                                                   .refused = on_refused,
                                                   .ctx = response});
}

struct root *list_alone(const struct list_single *alone, struct err *err)
{
    struct single_response response = {.alone = alone, .err = err, .deadline = {.fn = on_late}};
    char *fields = xasprintf("metadata.name=%s", alone->place.name);
    struct pager *pager = new_pager(alone, fields, &response);
    err_clear(err);
    timer_start(&response.deadline, loop_clock(alone->loop), alone->wait_ms);
    pager_next(pager);
    while (!response.has_come && !response.is_late) loop_once(alone->loop, true);
    timer_cancel(&response.deadline);
    if (!response.has_come) err_set(err, ERR_TIMEOUT, "no response within --sync-timeout");
    pager_free(pager);
    free(fields);
    return response.object;
}
