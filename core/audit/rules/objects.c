/* Objects in memory as a server; see objects.h. */
#include "audit/rules/objects.h"

#include <stdlib.h>
#include <string.h>

#include "audit/rules/rule_kinds.h"
#include "base/array.h"
#include "object/value/value.h"

struct stored_object {
    struct root *object;
    uint32_t file; /* number in `files` */
    size_t line;
};

struct audit_objects {
    struct loop *loop;
    struct stored_object *items;
    size_t count;
    char **files;
    size_t file_count;
};

/* --- objects */

struct audit_objects *audit_objects_new(struct loop *loop)
{
    struct audit_objects *objects = NEW(struct audit_objects);
    objects->loop = loop;
    return objects;
}

void audit_objects_free(struct audit_objects *objects)
{
    if (!objects) return;
    for (size_t i = 0; i < objects->count; i++) root_unref(objects->items[i].object);
    for (size_t i = 0; i < objects->file_count; i++) free(objects->files[i]);
    free(objects->files);
    free(objects->items);
    free(objects);
}

/* They come file by file. */
static uint32_t file_number(struct audit_objects *objects, struct str file)
{
    size_t n = objects->file_count;
    if (n == 0 || !str_is(file, objects->files[n - 1])) {
        *array_add(objects->files, objects->file_count) = xstrndup(file.p, file.n);
    }
    return (uint32_t)(objects->file_count - 1);
}

void audit_objects_add(struct audit_objects *objects, const struct audit_subject *subject)
{
    *array_add(objects->items, objects->count) =
        (struct stored_object){root_ref(subject->object), file_number(objects, subject->file), subject->line};
}

size_t audit_objects_count(const struct audit_objects *objects)
{
    return objects->count;
}

struct audit_subject audit_objects_at(const struct audit_objects *objects, size_t i)
{
    const struct stored_object *stored = &objects->items[i];
    return (struct audit_subject){
        .object = stored->object, .file = str_of(objects->files[stored->file]), .line = stored->line};
}

/* --- as a server */

struct memory_source {
    struct list_watch base;
    const struct audit_objects *objects;
    char *group, *kind, *namespace_;
};

/* Call of a memory source: its struct lw_call, which only the source itself looks into. */
struct rule_list_call {
    struct memory_source *source;
    struct lw_sink sink;
    void *ctx;
    struct timer timer; /* nothing comes from inside of lw_start */
    bool is_delivering, is_over;
};

static bool is_of(const struct root *object, const char *group, const char *kind)
{
    struct text text;
    struct value whole = root_value(object);
    struct str own_group, version;
    if (!value_str_is(value_field(whole, STR("kind")), str_of(kind))) return false;
    api_version_cut(value_str(value_field(whole, STR("apiVersion")), &text), &own_group, &version);
    return str_is(rule_kinds_group(own_group, str_of(kind)), group);
}

static void deliver(struct rule_list_call *call)
{
    const struct memory_source *source = call->source;
    const struct lw_list_meta meta = {.resource_version = STR("1"), .remaining = -1};
    struct text text;
    for (size_t i = 0; !call->is_over && i < source->objects->count; i++) {
        struct root *object = source->objects->items[i].object;
        if (!is_of(object, source->group, source->kind)) continue;
        if (*source->namespace_ && !str_is(root_namespace(object, &text), source->namespace_)) continue;
        call->sink.item(call->ctx, root_ref(object));
    }
    if (!call->is_over) call->sink.list_end(call->ctx, &meta);
}

static void on_time(struct timer *timer)
{
    struct rule_list_call *call = container_of(timer, struct rule_list_call, timer);
    call->is_delivering = true;
    deliver(call);
    if (!call->is_over) call->sink.done(call->ctx, NULL);
    free(call);
}

/* A watch stays open and says nothing. */
static struct lw_call *start(struct list_watch *base, const struct lw_options *options,
                             const struct lw_sink *sink, void *ctx)
{
    struct memory_source *source = container_of(base, struct memory_source, base);
    struct rule_list_call *call = NEW(struct rule_list_call);
    *call = (struct rule_list_call){.source = source, .sink = *sink, .ctx = ctx, .timer = {.fn = on_time}};
    if (options->verb == LW_LIST) timer_start(&call->timer, loop_clock(source->objects->loop), 0);
    return (struct lw_call *)call;
}

static void cancel(struct lw_call *handle)
{
    struct rule_list_call *call = (struct rule_list_call *)handle;
    timer_cancel(&call->timer);
    call->is_over = true;
    if (!call->is_delivering) free(call);
}

static void free_source(struct list_watch *base)
{
    struct memory_source *source = container_of(base, struct memory_source, base);
    free(source->group);
    free(source->kind);
    free(source->namespace_);
    free(source);
}

static void pause_call(struct lw_call *call, bool paused) {}

struct list_watch *audit_objects_source(void *objects, const struct resource *resource,
                                        const struct lw_scope *scope)
{
    static const struct list_watch_ops ops = {start, cancel, free_source, pause_call, NULL, NULL};
    struct memory_source *source = NEW(struct memory_source);
    *source = (struct memory_source){.base.ops = &ops,
                                     .objects = objects,
                                     .group = xstrdup(resource->group),
                                     .kind = xstrdup(resource->kind),
                                     .namespace_ = xstrdup(scope->namespace_)};
    return &source->base;
}
