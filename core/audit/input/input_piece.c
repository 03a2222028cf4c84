/* Classifies a piece of JSON: an object, a list of objects, or neither; see input_reader.h. */
#include <string.h>

#include "audit/input/input_reader.h"
#include "object/parse/token.h"
#include "object/value/value.h"

enum { LISTS_MAX = 16 /* nesting of lists */ };

/* --- the top level of a piece */

/* Fields at the top level of an object. */
struct outline {
    struct str api_version, kind;
    size_t items;                  /* a token; 0: none */
    bool has_kind, has_metadata;   /* of any type */
    char texts[2][INPUT_TYPE_MAX]; /* for strings with escapes, as in apps\/v1 */
};

/* Returns the text of a string, in `room` if it has escapes; empty if it is not a string, or too long. */
static struct str short_text(const struct tokens *t, size_t at, char room[INPUT_TYPE_MAX])
{
    struct str none = {NULL, 0}, text = {room, 0};
    if (token_type(t, at) != '"') return none;
    struct str raw = token_raw(t, at);
    if (!has_backslash(raw.p, raw.n)) return raw;
    return raw.n <= INPUT_TYPE_MAX && token_unescape_name(raw, room, &text.n) ? text : none;
}

static void note_field(struct outline *o, const struct tokens *t, size_t key, size_t value)
{
    char room[INPUT_TYPE_MAX];
    struct str name = short_text(t, key, room);
    o->has_kind |= str_is(name, "kind");
    o->has_metadata |= str_is(name, "metadata");
    if (str_is(name, "kind")) o->kind = short_text(t, value, o->texts[0]);
    if (str_is(name, "apiVersion")) o->api_version = short_text(t, value, o->texts[1]);
    if (str_is(name, "items")) o->items = value;
}

/* Reads the top level; returns false if it is malformed. */
static bool read_outline(const struct input_piece *piece, struct outline *o)
{
    const struct tokens *t = &piece->tokens;
    size_t i = piece->at + 1, end = piece->close[piece->at];
    o->api_version = o->kind = (struct str){NULL, 0};
    o->items = 0;
    o->has_kind = o->has_metadata = false;
    if (i == end) return true;
    for (;; i++) {
        if (token_type(t, i) != '"' || token_type(t, i + 1) != ':') return false;
        size_t behind = token_behind(t, piece->close, i + 2);
        if (!behind || behind > end) return false;
        note_field(o, t, i, i + 2);
        i = behind;
        if (i == end) return true;
        if (token_type(t, i) != ',') return false;
    }
}

struct input_type input_item_type(struct str api_version, struct str kind)
{
    struct input_type type = {.api_version = api_version, .kind = kind};
    if (str_ends(kind, STR("List")))
        type.kind.n -= 4;
    else
        type.kind.n = 0;
    return type;
}

/* Returns whether it is a kustomization as `kustomize create` writes it, without a name, which no server
 * accepts. */
static bool is_kustomization(const struct outline *o)
{
    bool of_kustomize = str_starts(o->api_version, STR("kustomize.config.k8s.io/"));
    return (str_is(o->kind, "Kustomization") && (of_kustomize || !o->api_version.n)) ||
           (str_is(o->kind, "Component") && of_kustomize);
}

/* Returns whether the file is one that directories have beside manifests: values.yaml, Chart.yaml,
 * kustomization.yaml. */
static bool is_foreign(const struct input_reader *r, const struct outline *o)
{
    bool is_found = r->is_found && r->options->foreign;
    return is_found && !o->has_metadata && !o->items && (!o->has_kind || is_kustomization(o));
}

static void pass_over(struct input_reader *r, size_t line)
{
    if (r->counts->foreign++ == 0 || r->foreign_of != r->counts->files)
        r->options->foreign(r->options->ctx, str_of(r->file), line);
    r->foreign_of = r->counts->files;
}

/* --- lists */

static void take(struct input_reader *r, const struct input_piece *piece, const struct input_type *list,
                 size_t line, int lists);

/* Takes the items of a list whose text is complete. */
static void take_items(struct input_reader *r, const struct input_piece *piece, const struct outline *o,
                       size_t line, int lists)
{
    const struct tokens *t = &piece->tokens;
    struct input_type type = input_item_type(o->api_version, o->kind);
    const char *seen = piece->text.p;
    for (size_t i = o->items + 1; i < piece->close[o->items] && !r->stopped; i++) {
        size_t behind = token_behind(t, piece->close, i);
        const char *at = t->text + t->at[i];
        line += input_count_lines((struct str){seen, (size_t)(at - seen)});
        seen = at;
        if (token_type(t, i) == '{') {
            const struct input_piece item = {t[0], piece->close, i, {at, 0}};
            struct input_piece whole = item;
            whole.text.n = t->at[piece->close[i]] + 1 - t->at[i];
            take(r, &whole, &type, line, lists + 1);
        } else {
            input_refuse_text(r, line, ERR_PARSE, "item is not an object");
        }
        if (!behind || (token_type(t, behind) != ',' && behind != piece->close[o->items])) {
            input_refuse_text(r, line, ERR_PARSE, "',' or ']' expected behind this item");
            return;
        }
        i = behind;
    }
}

/* Returns whether it is a list; reports a malformed one. */
static bool take_list(struct input_reader *r, const struct input_piece *piece, const struct outline *o,
                      size_t line, int lists)
{
    char type = o->items ? token_type(&piece->tokens, o->items) : '\0';
    if (type == '[' && lists == LISTS_MAX)
        input_refuse_text(r, line, ERR_LIMIT, "Lists nested deeper than %d", LISTS_MAX);
    else if (type == '[')
        take_items(r, piece, o, line, lists);
    else if ((type && type != 'n' && str_ends(o->kind, STR("List"))) || (!type && str_is(o->kind, "List")))
        input_refuse_text(r, line, ERR_PARSE, "%.*s: items is not an array", STR_ARG(o->kind));
    else
        return type == 'n' && str_ends(o->kind, STR("List"));
    return true;
}

/* --- content of a piece */

static void take(struct input_reader *r, const struct input_piece *piece, const struct input_type *list,
                 size_t line, int lists)
{
    struct outline o;
    struct err err;
    if (token_type(&piece->tokens, piece->at) != '{') {
        input_refuse_text(r, line, ERR_PARSE, "not an object");
        return;
    }
    if (!read_outline(piece, &o)) {
        input_take_damaged(r, piece->text, line);
        return;
    }
    if (!list && is_foreign(r, &o)) {
        pass_over(r, line);
        return;
    }
    if (!list && !o.has_metadata && is_kustomization(&o)) {
        input_refuse_text(r, line, ERR_INVALID,
                          "a kustomization, not an object: pipe kubectl kustomize DIRECTORY to --from -");
        return;
    }
    if (take_list(r, piece, &o, line, lists)) return;
    if ((!o.kind.n || !o.api_version.n) && list && list->pending) {
        if (!input_late_keep(&r->late, piece->text, line, &err)) input_refuse(r, line, &err);
        r->late.kindless += !o.kind.n;
        return;
    }
    if (!o.kind.n && list) o.kind = list->kind;
    if (!o.api_version.n && list) o.api_version = list->api_version;
    input_take_object(r, piece, o.api_version, o.kind, line);
}

void input_take(struct input_reader *r, const struct input_piece *piece, const struct input_type *list,
                size_t line)
{
    input_progress(r);
    r->window.idle = 0;
    take(r, piece, list, line, 0);
}

void input_take_late(struct input_reader *r, const struct input_type *list, size_t line)
{
    struct input_tokens tokens;
    struct input_piece piece;
    struct buf text = {0};
    struct err err;
    size_t at = r->late.line, count = r->late.count;
    if (!count) return;
    if (!list->kind.n && r->late.kindless == count) {
        input_refuse_text(r, at, ERR_PARSE,
                          "neither this item nor its List, at line %zu, has a kind (%zu items)", line, count);
        input_late_clear(&r->late);
        return;
    }
    input_tokens_init(&tokens);
    bool ok = input_late_begin(&r->late, &err);
    while (ok && !r->stopped && (ok = input_late_next(&r->late, &text, &at, &err)))
        if (input_tokens_find(&tokens, buf_slice(&text), &piece)) take(r, &piece, list, at, 1);
    if (!ok && err.code != ERR_NONE) input_refuse(r, at, &err);
    input_late_clear(&r->late);
    input_tokens_clear(&tokens);
    buf_clear(&text);
}

/* --- A piece of JSON that is one object: its type is looked up, and it is packed and passed on */

/* Looks up a type, unless it is the one that was looked up last. */
static void classify(struct input_reader *r, struct str api_version, struct str kind)
{
    const struct audit_input_options *o = r->options;
    struct str last_type = buf_slice(&r->last_type);
    if (last_type.n == kind.n + 1 + api_version.n && memcmp(last_type.p, kind.p, kind.n) == 0 &&
        !last_type.p[kind.n] && memcmp(last_type.p + kind.n + 1, api_version.p, api_version.n) == 0)
        return;
    r->last_type.len = 0;
    buf_str(&r->last_type, kind);
    buf_putc(&r->last_type, '\0');
    buf_str(&r->last_type, api_version);
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

/* Object that is being packed. */
struct packing {
    struct input_reader *reader;
    const struct input_piece *piece;
    struct pack_type type;
    size_t line;
};

static struct root *pack_again(void *text, const struct projection *projection)
{
    struct packing *packing = text;
    struct root *object;
    struct err err;
    packing->type.projection = projection;
    packing->reader->last_type.len = 0; /* the projection has grown, for the next object too */
    if (pack(packing->reader, packing->piece, &packing->type, &object, &err)) return object;
    input_refuse_damaged(packing->reader, packing->piece->text, packing->line, &err);
    return NULL;
}

/* Packs an object for which `kubectl create` generates a name from metadata.generateName; returns false if it
 * has neither name. */
static bool pack_generated(struct packing *packing, struct root **object)
{
    struct err ignored;
    struct text name, begin;
    packing->type.projection = NULL;
    packing->type.nameless = true;
    if (!pack(packing->reader, packing->piece, &packing->type, object, &ignored)) return false;
    struct value metadata = value_field(root_value(*object), STR("metadata"));
    bool is_generated = root_name(*object, &name).n == 0 &&
                        value_str(value_field(metadata, STR("generateName")), &begin).n > 0;
    if (!is_generated) root_unref(*object);
    return is_generated;
}

/* Returns whether it is nested too deeply, counted as the packer does. */
static bool is_deep(const struct input_piece *piece)
{
    size_t depth = 0;
    for (size_t i = piece->at; i < piece->close[piece->at]; i++) {
        char type = token_type(&piece->tokens, i);
        depth += type == '{' || type == '[';
        depth -= type == '}' || type == ']';
        if (depth > PACK_DEPTH_MAX) return true;
    }
    return false;
}

/* Passes the object on without packing it. */
static void take_parsed(struct input_reader *r, const struct input_piece *piece, struct str api_version,
                        struct str kind, size_t line)
{
    const struct audit_input_sink *sink = r->options->sink;
    struct tape tape;
    struct err err;
    if (!tape_parse(r->parser, piece->text.p, piece->text.n, &tape, &err)) {
        input_refuse_damaged(r, piece->text, line, &err);
        return;
    }
    if (is_deep(piece)) {
        input_refuse_text(r, line, ERR_LIMIT, "nested deeper than %d", PACK_DEPTH_MAX);
        return;
    }
    r->counts->objects++;
    r->stopped = !sink->parsed(
        sink->ctx, &(const struct audit_input_parsed){&tape, api_version, kind, str_of(r->file), line});
}

void input_take_object(struct input_reader *r, const struct input_piece *piece, struct str api_version,
                       struct str kind, size_t line)
{
    const struct audit_input_sink *sink = r->options->sink;
    struct input_piece room;
    struct root *object;
    struct err err;
    if (sink->parsed) {
        take_parsed(r, piece, api_version, kind, line);
        return;
    }
    if (kind.n > 0 && api_version.n > 0) {
        classify(r, api_version, kind);
        if (!r->wanted) {
            r->counts->skipped++;
            if (r->options->skipped)
                r->options->skipped(r->options->ctx, api_version, kind, str_of(r->file), line);
            return;
        }
        piece = input_namespace_give(&r->namespace_, piece, r->ns, &room);
    }
    struct packing packing = {
        r,
        piece,
        {.api_version = api_version, .kind = kind, .always = true, .projection = r->projection},
        line};
    if (!pack(r, piece, &packing.type, &object, &err) && !pack_generated(&packing, &object)) {
        input_refuse_damaged(r, piece->text, line, &err);
        return;
    }
    r->counts->objects++;
    if (!sink->object(sink->ctx,
                      &(const struct audit_input_object){object, str_of(r->file), line,
                                                         packing.type.projection, pack_again, &packing}))
        r->stopped = true;
    root_unref(r->last);
    r->last = object;
}
