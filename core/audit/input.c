/* Files of objects; see input.h. */
#include "audit/input.h"

#include <string.h>

#include "base/buf.h"
#include "kube/yaml_documents.h"
#include "object/tape.h"

struct reading {
    const struct audit_input_options *options;
    struct audit_input_counts *counts;
    struct tape_parser *parser;
    const char *path;
    size_t document; /* of this file, from 1 up */
    bool stopped;
};

static void refuse(const struct reading *reading, struct err *err)
{
    err_wrap(err, "%s: document %zu", reading->path, reading->document);
    reading->options->sink->refused(reading->options->sink->ctx, err);
}

static void put_object(struct reading *reading, const struct tape *tape, size_t at,
                       const struct pack_type *type)
{
    const struct audit_input_sink *sink = reading->options->sink;
    struct root *object;
    struct err err;
    if (reading->stopped) return;
    if (!pack_tape(reading->options->packer, tape, at, type, &object, &err)) {
        refuse(reading, &err);
        return;
    }
    reading->counts->objects++;
    reading->stopped = !sink->object(sink->ctx, object, str_of(reading->path), 0);
    root_unref(object);
}

static void put_items(struct reading *reading, const struct tape *tape, size_t root, size_t items)
{
    struct pack_type type = {.api_version = tape_str(tape, tape_field(tape, root, STR("apiVersion"))),
                             .kind = tape_str(tape, tape_field(tape, root, STR("kind")))};
    if (str_ends(type.kind, STR("List"))) type.kind.n -= 4;
    for (size_t item = tape_first(tape, items, NULL); item; item = tape_next(tape, items, item, NULL))
        put_object(reading, tape, item, &type);
}

static void on_document(void *ctx, struct str json)
{
    struct reading *reading = ctx;
    struct tape tape;
    struct err err;
    struct buf padded = {0};
    buf_str(&padded, json);
    memset(buf_reserve(&padded, TAPE_PADDING), 0, TAPE_PADDING);
    reading->document++;
    reading->counts->documents++;
    if (!tape_parse(reading->parser, padded.data, padded.len, &tape, &err)) {
        refuse(reading, &err);
    } else {
        size_t root = tape_root(&tape);
        size_t items = tape_type(&tape, root) == '[' ? root : tape_field(&tape, root, STR("items"));
        if (tape_type(&tape, items) == '[')
            put_items(reading, &tape, root, items);
        else
            put_object(reading, &tape, root, &(const struct pack_type){0});
    }
    buf_clear(&padded);
}

bool audit_input_read(const struct audit_input_options *options, const char *path,
                      struct audit_input_counts *counts, struct err *err)
{
    struct reading reading = {
        .options = options, .counts = counts, .parser = tape_parser_new(), .path = path};
    counts->files++;
    bool ok = yaml_documents(path, on_document, &reading, err);
    tape_parser_free(reading.parser);
    return ok;
}
