/* A list with a field selector; see list_single.h. */
#include "informer/live/list_single.h"

#include <stdlib.h>

#include "base/mem.h"
#include "informer/live/pager.h"
#include "object/value/value.h"

enum { OBJECTS_MAX = 1000 /* of a server that does not know the selector */ };

struct answer {
    const struct list_single *alone;
    struct err *err;
    struct root *object;
    struct timer deadline;
    bool has_come, is_late;
};

static bool is_it(const struct list_single *alone, const struct root *object)
{
    struct text ns, name;
    return str_is(root_name(object, &name), alone->name) &&
           str_is(root_namespace(object, &ns), alone->namespace_);
}

static void take(struct answer *answer, const struct page *page)
{
    for (size_t i = 0; i < page->count; i++) {
        if (!answer->object && is_it(answer->alone, page->objects[i]))
            answer->object = page->objects[i];
        else
            root_unref(page->objects[i]);
    }
    free(page->objects);
    if (!answer->object && (page->count > 0 || !page->last))
        err_set(answer->err, ERR_INVALID, "the server returned other objects than the requested %s",
                answer->alone->name);
}

static void on_page(void *ctx, const struct page *page, const struct err *err)
{
    struct answer *answer = ctx;
    answer->has_come = true;
    if (err)
        *answer->err = *err;
    else
        take(answer, page);
}

static void on_refused(void *ctx, const struct lw_refusal *refusal)
{
    refusals_note(((struct answer *)ctx)->alone->refusals, refusal);
}

static void on_late(struct timer *timer)
{
    container_of(timer, struct answer, deadline)->is_late = true;
}

static struct pager *new_pager(const struct list_single *alone, const char *fields, struct answer *answer)
{
    const struct lw_scope scope = {.namespace_ = alone->resource->namespaced ? alone->namespace_ : "",
                                   .label_selector = alone->selector,
                                   .field_selector = fields,
                                   .projection =
                                       (struct projection *)alone->projection, /* it takes a reference */
                                   .packer = alone->packer};
    return pager_new(
        &(const struct pager_options){.source = list_watch_new(alone->client, alone->resource, &scope),
                                      .clock = loop_clock(alone->loop),
                                      .resource_version = "",
                                      .resource_version_match = "",
                                      .page_max = OBJECTS_MAX,
                                      .page = on_page,
                                      .refused = on_refused,
                                      .ctx = answer});
}

struct root *list_alone(const struct list_single *alone, struct err *err)
{
    struct answer answer = {.alone = alone, .err = err, .deadline = {.fn = on_late}};
    char *fields = xasprintf("metadata.name=%s", alone->name);
    struct pager *pager = new_pager(alone, fields, &answer);
    err_clear(err);
    timer_start(&answer.deadline, loop_clock(alone->loop), alone->wait_ms);
    pager_next(pager);
    while (!answer.has_come && !answer.is_late) loop_once(alone->loop, true);
    timer_cancel(&answer.deadline);
    if (!answer.has_come) err_set(err, ERR_TIMEOUT, "no response within --sync-timeout");
    pager_free(pager);
    free(fields);
    return answer.object;
}
