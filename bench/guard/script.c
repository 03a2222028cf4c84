/* One script on updates that come from memory; see script.h. */
#include "script.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "kube/api/list_watch.h"
#include "kube/kinds/catalogue.h"
#include "script/generation/script.h"
#include "script/vm/cpu_watch.h"
#include "script/vm/turns.h"

enum { BATCH = 100 }; /* events that one look at the network brings */

struct lw_call {
    struct guard_script *of;
};

struct guard_script {
    struct list_watch source;
    struct lw_call call; /* there is at most one */
    struct lw_sink sink;
    void *ctx;
    enum lw_verb verb;

    struct loop *loop;
    struct turns turns;
    struct cluster_parts parts;
    struct script_host host;
    struct script *script;
};

static struct lw_call *start(struct list_watch *source, const struct lw_options *options,
                             const struct lw_sink *sink, void *ctx)
{
    struct guard_script *g = container_of(source, struct guard_script, source);
    g->sink = *sink;
    g->ctx = ctx;
    g->verb = options->verb;
    g->call.of = g;
    return &g->call;
}

static void cancel(struct lw_call *call)
{
    call->of = NULL;
}

static void free_source(struct list_watch *source) {}

static struct list_watch *new_source(void *ctx, const struct resource *resource, const struct lw_scope *scope)
{
    static const struct list_watch_ops ops = {.start = start, .cancel = cancel, .free = free_source};
    struct guard_script *g = ctx;
    g->source.ops = &ops;
    return &g->source;
}

static struct catalogue *pods_alone(void)
{
    static const char resources[] = "{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\",\"resources\":["
                                    "{\"name\":\"pods\",\"singularName\":\"pod\",\"namespaced\":true,"
                                    "\"kind\":\"Pod\",\"verbs\":[\"get\",\"list\",\"watch\"]}]}";
    struct catalogue *catalogue = catalogue_new();
    struct tape_parser *parser = tape_parser_new();
    struct buf text = {0};
    struct tape tape;
    buf_puts(&text, resources);
    memset(buf_reserve(&text, TAPE_PADDING), 0, TAPE_PADDING);
    must(tape_parse(parser, text.data, text.len, &tape, NULL));
    catalogue_add_legacy(catalogue, &tape, STR(""), STR("v1"), 0, 0);
    catalogue_finish(catalogue);
    tape_parser_free(parser);
    buf_clear(&text);
    return catalogue;
}

static void unknown(void *ctx, struct informer_claim *claim, const struct err *err)
{
    fprintf(stderr, "guard: %s\n", err->text);
    exit(1);
}

/* Handlers wait for the first list. */
static void on_changed(void *ctx, struct informer_claim *claim)
{
    const struct guard_script *g = ctx;
    if (g->script) script_claims_changed(g->script);
}

static void wait_for(struct guard_script *g, enum lw_verb verb)
{
    while (!g->call.of || g->verb != verb) loop_once(g->loop, false);
}

static void list(struct guard_script *g, struct root *const *objects, size_t count)
{
    const struct lw_list_meta meta = {.resource_version = STR("1"), .remaining = -1};
    wait_for(g, LW_LIST);
    for (size_t i = 0; i < count; i++) g->sink.item(g->ctx, root_ref(objects[i]));
    g->sink.list_end(g->ctx, &meta);
    g->call.of = NULL;
    g->sink.done(g->ctx, NULL);
    wait_for(g, LW_WATCH);
    while (!script_has_synced(g->script)) loop_once(g->loop, false);
}

/* callgrind makes the thread some fifty times slower, and the CPU watch goes by its clock: its ticks would
 * hold back events of a script that is within its share, more or fewer of them by chance. */
static void block_ticks(void)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
}

struct guard_script *guard_script_new(const char *path, struct root *const *objects, size_t count)
{
    struct guard_script *g = NEW(struct guard_script);
    struct err err;
    g->loop = loop_new();
    turns_init(&g->turns);
    g->parts.factory = shared_factory_new(&(struct shared_factory_options){.engine_loop = g->loop,
                                                                           .io_loop = g->loop,
                                                                           .new_source = new_source,
                                                                           .changed = on_changed,
                                                                           .ctx = g});
    g->host = (struct script_host){
        .cluster = &g->parts, .loop = g->loop, .turns = &g->turns, .default_namespace = ""};
    g->host.watch = cpu_watch_new(&err); /* as the engine has it: without one, scripts would have a hook */
    must(g->host.watch);
    block_ticks();
    g->script = script_load(&g->host, path, "guard", &err);
    if (!g->script) {
        fprintf(stderr, "guard: %s\n", err.text);
        exit(1);
    }
    shared_factory_resolve(g->parts.factory, pods_alone(), unknown, NULL);
    list(g, objects, count);
    return g;
}

void guard_script_update(struct guard_script *g, struct root *const *objects, size_t count)
{
    uint64_t told = script_counters(g->script).updates;
    for (size_t i = 0; i < count; i++) {
        g->sink.event(g->ctx, LW_MODIFIED, root_ref(objects[i]), 0);
        if ((i + 1) % BATCH && i + 1 < count) continue;
        while (script_counters(g->script).updates < told + i + 1) loop_once(g->loop, false);
    }
    must(script_counters(g->script).errors == 0);
}
