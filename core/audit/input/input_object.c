/* A piece of JSON that is one object: asked about by its type, packed and handed over; see input_reader.h. */
#include <string.h>

#include "audit/input/input_reader.h"
#include "object/value/value.h"

/* Asks about a type, unless it is the one that was asked for last. */
static void ask(struct input_reader *r, struct str api_version, struct str kind)
{
    const struct audit_input_options *o = r->options;
    struct str asked = buf_slice(&r->asked);
    if (asked.n == kind.n + 1 + api_version.n && memcmp(asked.p, kind.p, kind.n) == 0 && !asked.p[kind.n] &&
        memcmp(asked.p + kind.n + 1, api_version.p, api_version.n) == 0)
        return;
    r->asked.len = 0;
    buf_str(&r->asked, kind);
    buf_putc(&r->asked, '\0');
    buf_str(&r->asked, api_version);
    r->ns = o->namespace_of ? o->namespace_of(o->ctx, api_version, kind) : STR("");
    r->wanted = !o->wanted || o->wanted(o->ctx, api_version, kind);
    r->projection = r->wanted && o->projection_of ? o->projection_of(o->ctx, api_version, kind) : NULL;
}

static bool pack(struct input_reader *r, const struct input_piece *piece, const struct pack_type *type,
                 struct root **object, struct err *err)
{
    struct packer *packer = r->options->packer;
    struct tape tape;
    if (pack_matched(packer, &piece->tokens, piece->close, piece->at, type, object)) return true;
    return tape_parse(r->parser, piece->text.p, piece->text.n, &tape, err) &&
           pack_tape(packer, &tape, tape_root(&tape), type, object, err);
}

/* What is being looked at. */
struct looked_at {
    struct input_reader *reader;
    const struct input_piece *piece;
    struct pack_type type;
    size_t line;
};

static struct root *pack_again(void *text, const struct projection *kept)
{
    struct looked_at *looked_at = text;
    struct root *object;
    struct err err;
    looked_at->type.projection = kept;
    looked_at->reader->asked.len = 0; /* more is kept of the next one, too */
    if (pack(looked_at->reader, looked_at->piece, &looked_at->type, &object, &err)) return object;
    input_refuse_damaged(looked_at->reader, looked_at->piece->text, looked_at->line, &err);
    return NULL;
}

/* What `kubectl create` gives a name to has only the beginning of one; false: it has none either. */
static bool pack_generated(struct looked_at *looked_at, struct root **object)
{
    struct err ignored;
    struct text name, begin;
    looked_at->type.projection = NULL;
    looked_at->type.nameless = true;
    if (!pack(looked_at->reader, looked_at->piece, &looked_at->type, object, &ignored)) return false;
    struct value metadata = value_field(root_value(*object), STR("metadata"));
    bool is_generated = root_name(*object, &name).n == 0 &&
                        value_str(value_field(metadata, STR("generateName")), &begin).n > 0;
    if (!is_generated) root_unref(*object);
    return is_generated;
}

void input_take_object(struct input_reader *r, const struct input_piece *piece, struct str api_version,
                       struct str kind, size_t line)
{
    const struct audit_input_sink *sink = r->options->sink;
    struct input_piece room;
    struct root *object;
    struct err err;
    if (kind.n > 0 && api_version.n > 0) {
        ask(r, api_version, kind);
        if (!r->wanted) {
            r->counts->skipped++;
            if (r->options->skipped)
                r->options->skipped(r->options->ctx, api_version, kind, str_of(r->file), line);
            return;
        }
        piece = input_namespace_give(&r->namespace_, piece, r->ns, &room);
    }
    struct looked_at looked_at = {
        r,
        piece,
        {.api_version = api_version, .kind = kind, .always = true, .projection = r->projection},
        line};
    if (!pack(r, piece, &looked_at.type, &object, &err) && !pack_generated(&looked_at, &object)) {
        input_refuse_damaged(r, piece->text, line, &err);
        return;
    }
    r->counts->objects++;
    if (!sink->object(sink->ctx,
                      &(const struct audit_input_object){object, str_of(r->file), line,
                                                         looked_at.type.projection, pack_again, &looked_at}))
        r->stopped = true;
    root_unref(r->last);
    r->last = object;
}
