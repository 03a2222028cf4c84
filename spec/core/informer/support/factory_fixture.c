/* A shared factory on sources played by hand; see factory_fixture.h. */
#include "core/informer/support/factory_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/informer/support/small_catalogue.h"

struct loop *loop;
struct shared_factory *factory;
struct scripted_source sources[SOURCES];
char *scopes[SOURCES]; /* what each source was made for */
size_t source_count;
size_t factory_changed, factory_synced;
struct buf factory_unknown; /* kinds that resolving did not find */

static struct list_watch *new_source(void *ctx, const struct resource *resource, const struct lw_scope *scope)
{
    assert_in_range(source_count, 0, SOURCES - 1);
    scopes[source_count] = xasprintf("%s ns=%s l=%s f=%s", resource->plural, scope->namespace_,
                                     scope->label_selector, scope->field_selector);
    return scripted_source_init(&sources[source_count++]);
}

static void on_changed(void *ctx, struct informer_claim *claim)
{
    factory_changed++;
}

static void on_synced(void *ctx, const char *informer, size_t objects)
{
    factory_synced++;
}

static void on_unknown(void *ctx, struct informer_claim *claim, const struct err *err)
{
    buf_printf(&factory_unknown, "%s;", claim_spec(claim)->kind);
}

static void new_factory(int64_t grace_ms)
{
    factory = shared_factory_new(&(struct shared_factory_options){
        .engine_loop = loop,
        .io_loop = loop,
        .new_source = new_source,
        .seed = 1,
        .grace_ms = grace_ms,
        .changed = on_changed,
        .synced = on_synced,
    });
}

void factory_restart(int64_t grace_ms)
{
    shared_factory_free(factory);
    new_factory(grace_ms);
}

int factory_open(void **state)
{
    objects_open();
    log_take();
    source_count = factory_changed = factory_synced = 0;
    loop = loop_new();
    new_factory(0);
    return 0;
}

int factory_close(void **state)
{
    if (factory) shared_factory_free(factory);
    loop_free(loop);
    for (size_t i = 0; i < source_count; i++) {
        scripted_source_clear(&sources[i]);
        free(scopes[i]);
    }
    buf_clear(&factory_unknown);
    objects_close();
    return 0;
}

/* Lets mails and wakes arrive. */
void settle(void)
{
    for (int i = 0; i < 10; i++) loop_once(loop, false);
}

void resolve(bool with_widgets)
{
    resolve_with(with_widgets ? "v1" : NULL);
}

void resolve_with(const char *widgets)
{
    struct catalogue *catalogue = small_catalogue_with(widgets);
    factory_unknown.len = 0;
    shared_factory_resolve(factory, catalogue, on_unknown, NULL);
    catalogue_free(catalogue);
    settle();
}

struct informer_claim *claim_scope(const char *kind, const char *ns, const char *labels, const char *fields)
{
    return shared_factory_claim(
        factory, &(struct informer_spec){
                     .kind = kind, .namespace_ = ns, .label_selector = labels, .field_selector = fields});
}

struct informer_claim *claim(const char *kind)
{
    return claim_scope(kind, "", "", "");
}

struct claim_handler *claim_history(struct informer_claim *c, struct history *h)
{
    struct event_handler handler = history_handler(h);
    return claim_add_handler(c, &handler);
}

struct claim_status status_of(struct informer_claim *c)
{
    struct claim_status status;
    claim_get_status(c, &status);
    return status;
}
