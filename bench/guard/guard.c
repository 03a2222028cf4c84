/* guard HANDLER.lua: the phases whose instructions bench/guard/run counts under callgrind: the same work on
 * the same generated pods at every start. Only what run_phase calls counts; what a phase needs is made
 * before. Prints "NAME OBJECTS" for each, in the order in which they ran. What is made lives as long as the
 * process. */
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/must.h"
#include "informer/shared/shared_informer.h"
#include "informer/store/lister.h"
#include "kube/api/stream.h"
#include "object/parse/simdjson.h"
#include "pods.h"
#include "run.h"
#include "script.h"

enum {
    PODS = 1200,     /* more than LABEL_INDEX_OBJECTS_MIN */
    READ = 16 << 10, /* bytes that the network gives at once */
    LISTS = 200,
    ROUNDS = 4,  /* updates of each pod for the handler in Lua, whose garbage collector has its own rhythm */
    BATCH = 100, /* deltas that come at once */
    OBJECT_MAX = 1 << 20,
    SEED = 20260102,
};

struct guard {
    struct guard_pods pods;
    struct simdjson_parser *reference;
    struct pool *pool;
    struct packer *packer;
    struct tape_parser *parser;
    struct root *held[PODS]; /* the last state of each pod */
    size_t next;             /* the pod that the next object is a state of */
    struct shared_informer *informer;
    struct selector *selector;
    size_t told; /* updates that the handler in C has received */
    const char *handler;
    struct guard_script *script;
    struct root *updates[ROUNDS][PODS];
    struct kind_run *kind;
    size_t objects; /* that the phase was about */
};

/* --- the sink: the new state takes the place of the last one, which goes, as in a store */

static void hold(struct guard *g, struct root *object)
{
    struct root *before = g->held[g->next];
    g->held[g->next] = object;
    g->next = (g->next + 1) % PODS;
    root_unref(before);
}

static void on_item(void *ctx, struct root *object)
{
    hold(ctx, object);
}

static void on_event(void *ctx, enum lw_event_type type, struct root *object, int64_t received_us)
{
    hold(ctx, object);
}

static void on_list_end(void *ctx, const struct lw_list_meta *meta) {}

static void on_bookmark(void *ctx, const struct lw_bookmark *bookmark) {}

static void on_refused(void *ctx, const struct lw_refusal *refusal)
{
    fprintf(stderr, "guard: refused: %s\n", refusal->err->text);
    exit(1);
}

static size_t receive(struct guard *g, struct stream *(*make)(const struct stream_options *options),
                      const struct buf *body)
{
    static const struct lw_sink sink = {.item = on_item,
                                        .list_end = on_list_end,
                                        .event = on_event,
                                        .bookmark = on_bookmark,
                                        .refused = on_refused};
    struct stream *stream = make(&(struct stream_options){.packer = g->packer,
                                                          .parser = g->parser,
                                                          .max_object_size = OBJECT_MAX,
                                                          .type = {STR("v1"), STR("Pod")},
                                                          .sink = &sink,
                                                          .ctx = g});
    struct err err;
    for (size_t at = 0; at < body->len; at += READ)
        must(stream_feed(stream, body->data + at, body->len - at < READ ? body->len - at : READ, 0, &err));
    must(stream_end(stream, &err));
    stream_free(stream);
    must(g->next == 0 && g->held[PODS - 1]);
    return PODS;
}

/* --- bytes to objects */

/* What everything is measured by: simdjson reads the same texts into its own form. */
static size_t phase_reference(struct guard *g)
{
    const uint64_t *words;
    const uint8_t *strings;
    for (size_t i = 0; i < PODS; i++)
        must(!simdjson_parse(g->reference, g->pods.objects[i].p, g->pods.objects[i].n, &words, &strings));
    return PODS;
}

/* The first watch-list. */
static size_t phase_sync(struct guard *g)
{
    return receive(g, watch_stream_new, &g->pods.added);
}

/* The same watch-list again: texts that are known. */
static size_t phase_relist(struct guard *g)
{
    return receive(g, watch_stream_new, &g->pods.added);
}

/* The same pods as a list, whose items do not say their kind: the texts are new, the objects are not. */
static size_t phase_list(struct guard *g)
{
    return receive(g, list_stream_new, &g->pods.list);
}

/* Each pod's next state. */
static size_t phase_update(struct guard *g)
{
    return receive(g, watch_stream_new, &g->pods.modified);
}

/* --- objects to handlers */

static void on_update(void *ctx, struct root *old_object, struct root *new_object,
                      const struct event_info *info)
{
    struct guard *g = ctx;
    g->told++;
}

static void drain(struct guard *g)
{
    while (shared_informer_process(g->informer, BATCH) > 0) {}
}

static void advance(struct guard *g)
{
    guard_pods_advance(&g->pods);
    receive(g, watch_stream_new, &g->pods.modified);
}

static void make_informer(struct guard *g)
{
    struct registration *registration;
    struct root **objects = xcalloc(PODS, sizeof(struct root *));
    g->informer = shared_informer_new("pods", NULL, NULL);
    shared_informer_add_handler(g->informer, &(struct event_handler){.on_update = on_update, .ctx = g},
                                &registration);
    for (size_t i = 0; i < PODS; i++) objects[i] = root_ref(g->held[i]);
    delta_fifo_replace(shared_informer_fifo(g->informer), "1", objects, PODS, NULL, 0);
    drain(g);
    advance(g);
}

/* An update of each pod through the queue into the store and to a handler in C. */
static size_t phase_apply(struct guard *g)
{
    struct delta_fifo *fifo = shared_informer_fifo(g->informer);
    for (size_t i = 0; i < PODS; i++) {
        delta_fifo_add(fifo, DELTA_UPDATED, root_ref(g->held[i]), 0);
        if ((i + 1) % BATCH == 0) drain(g);
    }
    must(g->told == PODS);
    return PODS;
}

/* --- reading the store */

static size_t select_once(struct guard *g)
{
    struct lister_list found;
    lister_list(shared_informer_indexer(g->informer), STR(""), g->selector, NULL, &found);
    size_t count = found.count;
    lister_free_list(&found);
    return count;
}

/* Asked for again and again, the label gets an index. */
static void make_selector(struct guard *g)
{
    static const struct str key = STR("app.kubernetes.io/version");
    struct text value;
    struct buf text = {0};
    struct err err;
    struct str version = value_str(value_field(root_labels(g->held[0]), key), &value);
    buf_printf(&text, "%.*s=%.*s", STR_ARG(key), STR_ARG(version));
    g->selector = selector_parse(buf_slice(&text), &err);
    must(g->selector);
    for (size_t i = 0; i < LISTS; i++) must(select_once(g) > 0);
    must(indexer_path_index(shared_informer_indexer(g->informer),
                            STR("metadata.labels['app.kubernetes.io/version']")));
    buf_clear(&text);
}

/* Pods by a label that has an index. */
static size_t phase_select(struct guard *g)
{
    size_t found = 0;
    for (size_t i = 0; i < LISTS; i++) found += select_once(g);
    return found;
}

/* --- the same updates to a handler in Lua */

static void make_script(struct guard *g)
{
    g->script = guard_script_new(g->handler, g->held, PODS);
    for (size_t round = 0; round < ROUNDS; round++) {
        advance(g);
        for (size_t i = 0; i < PODS; i++) g->updates[round][i] = root_ref(g->held[i]);
    }
}

/* From the reflector to a handler that reads three fields. */
static size_t phase_handler(struct guard *g)
{
    for (size_t round = 0; round < ROUNDS; round++) guard_script_update(g->script, g->updates[round], PODS);
    return (size_t)ROUNDS * PODS;
}

static const struct {
    const char *name;
    void (*prepare)(struct guard *g); /* NULL: nothing */
    size_t (*run)(struct guard *g);   /* gives how many objects it was about */
} phases[] = {
    {"reference", NULL, phase_reference},    {"sync", NULL, phase_sync},
    {"relist", NULL, phase_relist},          {"list", NULL, phase_list},
    {"update", NULL, phase_update},          {"apply", make_informer, phase_apply},
    {"select", make_selector, phase_select}, {"handler", make_script, phase_handler},
};

/* callgrind writes down what it has counted when one of these two is called: what a phase took comes between.
 */
static __attribute__((noinline)) void run_phase(struct guard *g, size_t (*run)(struct guard *g))
{
    g->objects = run(g);
}

static __attribute__((noinline)) void report_phase(const struct guard *g, const char *kind, const char *name)
{
    printf("%s%s%s %zu\n", kind, *kind ? "-" : "", name, g->objects);
}

static size_t phase_kind_reference(struct guard *g)
{
    return kind_run_reference(g->kind);
}

static size_t phase_kind_state(struct guard *g)
{
    return kind_run_state(g->kind);
}

/* Of each kind, its first list, and the second of two updates: the first one finds all as the list left it.
 */
static void run_kind(struct guard *g, const struct kind_source *source)
{
    struct kind_texts texts;
    kind_texts_init(&texts, source, source->guarded);
    g->kind = kind_run_new(&texts);
    run_phase(g, phase_kind_reference);
    report_phase(g, source->name, "reference");
    run_phase(g, phase_kind_state);
    report_phase(g, source->name, "sync");
    kind_run_state(g->kind);
    run_phase(g, phase_kind_state);
    report_phase(g, source->name, "update");
    kind_run_free(g->kind);
    kind_texts_clear(&texts);
}

int main(int argc, char **argv)
{
    static struct guard g;
    if (argc != 2) {
        fprintf(stderr, "Usage: %s HANDLER.lua\n", argv[0]);
        return 2;
    }
    g.handler = argv[1];
    hash_set_seed(SEED); /* otherwise more or fewer entries collide at each start */
    guard_pods_init(&g.pods, PODS);
    g.reference = simdjson_parser_new();
    g.pool = pool_new(NULL);
    g.packer = packer_new(g.pool);
    g.parser = tape_parser_new();
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        if (phases[i].prepare) phases[i].prepare(&g);
        run_phase(&g, phases[i].run);
        report_phase(&g, "", phases[i].name);
    }
    const struct kind_source *source;
    for (size_t i = 0; (source = kind_source(i)) != NULL; i++)
        if (source->guarded) run_kind(&g, source);
    return 0;
}
