/* Objects of manifests and dumps; see yaml_documents.h. */
#include <string.h>

#include "kube/config/yaml_documents.h"

struct reading {
    const struct manifest_sink *sink;
    struct tape_parser *parser;
    const char *path;
    size_t documents, objects; /* of the file */
    bool failed;
    struct err err; /* the first one */
};

static struct str text_at(const struct tape *tape, size_t at, const char *key)
{
    return tape_str(tape, tape_field(tape, at, str_of(key)));
}

/* Items of lists may carry neither kind nor apiVersion: they are the list's. */
static bool take_object(struct reading *r, const struct tape *tape, size_t at, struct str api_version,
                        struct str kind)
{
    bool is_map = tape_type(tape, at) == '{';
    struct str own_version = is_map ? text_at(tape, at, "apiVersion") : (struct str){0},
               own_kind = is_map ? text_at(tape, at, "kind") : (struct str){0};
    const struct manifest_object object = {tape, at, own_version.n ? own_version : api_version,
                                           own_kind.n ? own_kind : kind, ++r->objects};
    return r->sink->object(r->sink->ctx, &object, &r->err) || err_wrap(&r->err, "%s", r->path);
}

static bool take_document(struct reading *r, const struct tape *tape)
{
    size_t root = tape_root(tape);
    bool is_map = tape_type(tape, root) == '{', ok = true;
    size_t items = is_map ? tape_field(tape, root, STR("items")) : root;
    struct str api_version = {0}, kind = {0};
    if (r->sink->document && r->sink->document(r->sink->ctx, tape)) return true;
    if (tape_type(tape, items) != '[') return take_object(r, tape, root, api_version, kind);
    if (is_map) api_version = text_at(tape, root, "apiVersion");
    if (is_map) kind = text_at(tape, root, "kind");
    if (str_ends(kind, STR("List"))) kind.n -= 4;
    for (size_t v = tape_first(tape, items, NULL); v && ok; v = tape_next(tape, items, v, NULL))
        ok = take_object(r, tape, v, api_version, kind);
    return ok;
}

static void on_document(void *ctx, struct str json)
{
    struct reading *r = ctx;
    struct tape tape;
    struct buf padded = {0};
    if (r->failed) return;
    buf_str(&padded, json);
    memset(buf_reserve(&padded, TAPE_PADDING), 0, TAPE_PADDING);
    r->documents++;
    if (!tape_parse(r->parser, padded.data, padded.len, &tape, &r->err))
        r->failed = !err_wrap(&r->err, "%s: document %zu", r->path, r->documents);
    else
        r->failed = !take_document(r, &tape);
    buf_clear(&padded);
}

bool manifest_objects(const char *const *paths, size_t count, const struct manifest_sink *sink,
                      const char *none_is_wrong, struct err *err)
{
    struct reading r = {.sink = sink, .parser = tape_parser_new()};
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        r.path = paths[i];
        r.documents = r.objects = 0;
        ok = yaml_documents(paths[i], on_document, &r, err);
        if (ok && r.failed) *err = r.err;
        ok = ok && !r.failed;
        if (ok && none_is_wrong && !r.documents)
            ok = err_set(err, ERR_INVALID, "%s: %s", paths[i], none_is_wrong);
    }
    tape_parser_free(r.parser);
    return ok;
}
