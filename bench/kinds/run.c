/* Objects of a kind from their texts; see run.h. */
#include "run.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "kube/api/stream.h"
#include "object/pack/projection.h"
#include "object/parse/simdjson.h"

enum {
    READ = 16 << 10, /* bytes that the network gives at once */
    OBJECT_MAX = 4 << 20,
};

struct kind_run {
    const struct kind_texts *texts;
    struct projection *projection;
    size_t state;
    struct simdjson_parser *reference;
    struct pool *pool;
    struct packer *packer;
    struct tape_parser *parser;
    struct root **held; /* the last state of each object */
    size_t next;
};

static struct projection_paths paths_of(const char *const *texts)
{
    struct projection_paths paths = {texts, 0};
    while (texts && texts[paths.count]) paths.count++;
    return paths;
}

struct kind_run *kind_run_new(const struct kind_texts *texts)
{
    struct kind_run *run = NEW(struct kind_run);
    const struct kind_source *source = texts->source;
    run->texts = texts;
    if (source->fields || source->prune)
        run->projection = projection_new(paths_of(source->fields), paths_of(source->prune), NULL);
    run->reference = simdjson_parser_new();
    run->pool = pool_new(NULL);
    run->packer = packer_new(run->pool);
    run->parser = tape_parser_new();
    run->held = xcalloc(texts->count, sizeof(struct root *));
    return run;
}

void kind_run_free(struct kind_run *run)
{
    for (size_t i = 0; i < run->texts->count; i++) root_unref(run->held[i]);
    tape_parser_free(run->parser);
    packer_free(run->packer);
    pool_free(run->pool);
    simdjson_parser_free(run->reference);
    projection_unref(run->projection);
    free(run->held);
    free(run);
}

size_t kind_run_reference(struct kind_run *run)
{
    const uint64_t *words;
    const uint8_t *strings;
    for (size_t i = 0; i < run->texts->count; i++) {
        struct str object = run->texts->objects[i];
        must(!simdjson_parse(run->reference, object.p, object.n, &words, &strings));
    }
    return run->texts->count;
}

/* The new state takes the place of the last one, which goes, as in a store. */
static void on_event(void *ctx, enum lw_event_type type, struct root *object, int64_t received_us)
{
    struct kind_run *run = ctx;
    struct root *before = run->held[run->next];
    run->held[run->next] = object;
    run->next = (run->next + 1) % run->texts->count;
    root_unref(before);
}

static void on_refused(void *ctx, const struct lw_refusal *refusal)
{
    fprintf(stderr, "kinds: refused: %s\n", refusal->err->text);
    exit(1);
}

size_t kind_run_state(struct kind_run *run)
{
    static const struct lw_sink sink = {.event = on_event, .refused = on_refused};
    const struct kind_source *source = run->texts->source;
    const struct buf *body = &run->texts->states[run->state++];
    const size_t read = source->read ? source->read : READ;
    struct err err;
    struct stream *stream = watch_stream_new(
        &(struct stream_options){.packer = run->packer,
                                 .parser = run->parser,
                                 .max_object_size = OBJECT_MAX,
                                 .type = {source->api_version, source->kind, .projection = run->projection},
                                 .sink = &sink,
                                 .ctx = run});
    for (size_t at = 0; at < body->len; at += read)
        must(stream_feed(stream, body->data + at, body->len - at < read ? body->len - at : read, 0, &err));
    must(stream_end(stream, &err));
    stream_free(stream);
    must(run->next == 0 && run->held[run->texts->count - 1]);
    return run->texts->count;
}

struct pool_stats kind_run_listed(struct kind_run *run)
{
    pool_list_ended(run->pool, run->texts->count);
    return pool_stats(run->pool);
}
