/* Packs an object from the tape into an interned root; see pack.h. */
#include "object/pack/pack.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "object/pack/intern.h"
#include "object/pack/pack_internal.h"
#include "object/value/dict.h"

const struct pack_type pack_unknown_type;

struct packer *packer_new(struct pool *pool)
{
    struct packer *p = NEW(struct packer);
    p->encoder.pool = pool;
    p->parser = tape_parser_new();
    p->tokens = token_parser_new();
    return p;
}

void packer_free(struct packer *p)
{
    if (!p) return;
    encoder_clear(&p->encoder);
    tape_parser_free(p->parser);
    token_parser_free(p->tokens);
    buf_clear(&p->scratch);
    free(p->segment);
    free(p);
}

/* Type of the current token of the walk. */
static inline char type_here(const struct packer *p)
{
    return (char)(p->words[p->at] >> 56);
}

static inline struct str string_here(const struct packer *p)
{
    const uint8_t *s = p->strings + (p->words[p->at] & 0x00ffffffffffffffu);
    uint32_t length;
    memcpy(&length, s, sizeof length);
    return (struct str){(const char *)s + sizeof length, length};
}

bool pack_check_depth(const struct packer *p, int depth)
{
    return depth <= PACK_DEPTH_MAX || err_set(p->err, ERR_LIMIT, "nested deeper than %d", PACK_DEPTH_MAX);
}

bool pack_key(struct packer *p, struct str key, uint32_t *field)
{
    if (key.n > PACK_KEY_LENGTH_MAX) {
        return err_set(p->err, ERR_LIMIT, "key of %zu bytes exceeds the maximum of %d", key.n,
                       PACK_KEY_LENGTH_MAX);
    }
    return encode_key(&p->encoder, key, field, p->err);
}

bool pack_entry(struct packer *p, int depth)
{
    struct str key = string_here(p);
    uint32_t field, word;
    p->at++;
    if (!pack_key(p, key, &field)) return false;
    if (!pack_value(p, depth + 1, field, &word)) return false;
    encode_value(&p->encoder, word);
    return true;
}

/* Maps of the first level (metadata, spec, status) stay in their object: what is large in them is shared by
 * itself, and the rest is hardly ever equal in two objects. */
static bool pack_map(struct packer *p, int depth, uint32_t *word)
{
    struct open open = encode_open(&p->encoder);
    p->at++;
    while (type_here(p) != '}') {
        if (!pack_entry(p, depth)) return false;
    }
    p->at++;
    return encode_map(&p->encoder, open, depth > 2, word, p->err);
}

static bool pack_array(struct packer *p, int depth, uint32_t *word)
{
    struct open open = encode_open(&p->encoder);
    p->at++;
    while (type_here(p) != ']') {
        uint32_t item;
        if (!pack_value(p, depth + 1, DICT_NONE, &item)) return false;
        encode_item(&p->encoder, item);
    }
    p->at++;
    return encode_array(&p->encoder, open, true, word, p->err);
}

static bool pack_number(struct packer *p, char type, uint32_t *word)
{
    uint64_t bits = p->words[p->at + 1];
    p->at += 2;
    if (type == 'l') return encode_int(&p->encoder, (int64_t)bits, word, p->err);
    if (type == 'u') return encode_uint(&p->encoder, bits, word, p->err);
    return encode_double(&p->encoder, bits, word, p->err);
}

static bool pack_string(struct packer *p, uint32_t field, uint32_t *word)
{
    struct str s = string_here(p);
    p->at++;
    return encode_string(&p->encoder, s, field, word, p->err);
}

bool pack_value(struct packer *p, int depth, uint32_t field, uint32_t *word)
{
    char type = type_here(p);
    switch (type) {
    case '{': return pack_check_depth(p, depth) && pack_map(p, depth, word);
    case '[': return pack_check_depth(p, depth) && pack_array(p, depth, word);
    case 'l':
    case 'u':
    case 'd': return pack_number(p, type, word);
    case '"': return pack_string(p, field, word);
    default: break;
    }
    p->at++;
    *word = word_make(TAG_SIMPLE, type == 't' ? SIMPLE_TRUE : type == 'f' ? SIMPLE_FALSE : SIMPLE_NULL);
    return true;
}

static void identify_metadata(const struct tape *tape, size_t at, struct identity *id)
{
    struct str key;
    for (size_t v = tape_first(tape, at, &key); v; v = tape_next(tape, at, v, &key)) {
        if (str_eq(key, STR("name"))) id->name = tape_str(tape, v);
        if (str_eq(key, STR("namespace"))) id->ns = tape_str(tape, v);
        if (str_eq(key, STR("uid"))) id->uid = tape_str(tape, v);
        if (str_eq(key, STR("resourceVersion"))) id->resource_version = tape_str(tape, v);
    }
}

/* Gives where its metadata stand, 0 if nowhere. */
static size_t identify(const struct tape *tape, size_t at, const struct pack_type *type, struct identity *id)
{
    *id = (struct identity){0};
    struct str key;
    size_t version = 0, kind = 0, metadata = 0;
    for (size_t v = tape_first(tape, at, &key); v; v = tape_next(tape, at, v, &key)) {
        if (str_eq(key, STR("apiVersion"))) version = v;
        if (str_eq(key, STR("kind"))) kind = v;
        if (str_eq(key, STR("metadata"))) metadata = v;
    }
    id->api_version = version && !type->always ? tape_str(tape, version) : type->api_version;
    id->kind = kind && !type->always ? tape_str(tape, kind) : type->kind;
    if (tape_type(tape, metadata) == '{') identify_metadata(tape, metadata, id);
    return metadata;
}

static const char *type_text(char type)
{
    switch (type) {
    case '{': return "a map";
    case '[': return "a list";
    case '"': return "a string";
    case 't':
    case 'f': return "a boolean";
    default: return "a number";
    }
}

static bool is_there(const struct tape *tape, size_t at)
{
    return at && tape_type(tape, at) != 'n';
}

/* Returns whether the name is missing or not a string. Numbers and booleans have a message of their own, as
 * YAML reads `y` and 123 so. */
static bool lacks_name(const struct tape *tape, size_t metadata, struct err *err)
{
    size_t at = tape_field(tape, metadata, STR("name"));
    char type = tape_type(tape, at);
    if (!is_there(tape, at) || type == '"') return err_set(err, ERR_PARSE, "missing metadata.name");
    return err_set(err, ERR_PARSE, "metadata.name is %s, not a string%s", type_text(type),
                   type == '{' || type == '[' ? "" : ": quote it");
}

/* They go on as C strings, to paths, the versions of watches and reports: one would end early and be another.
 */
static bool check_nul(const struct identity *id, struct err *err)
{
    const struct {
        const char *field;
        struct str text;
    } texts[] = {{"apiVersion", id->api_version}, {"kind", id->kind},
                 {"metadata.namespace", id->ns},  {"metadata.name", id->name},
                 {"metadata.uid", id->uid},       {"metadata.resourceVersion", id->resource_version}};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (str_has_nul(texts[i].text))
            return err_set(err, ERR_PARSE, "%s must not contain a NUL byte", texts[i].field);
    return true;
}

static bool check_identity(const struct tape *tape, size_t metadata, const struct identity *id, bool nameless,
                           struct err *err)
{
    if (id->api_version.n == 0) return err_set(err, ERR_PARSE, "missing apiVersion");
    if (id->kind.n == 0) return err_set(err, ERR_PARSE, "missing kind");
    if (!check_nul(id, err)) return false;
    if (nameless && !metadata) return true;
    if (!is_there(tape, metadata)) return err_set(err, ERR_PARSE, "missing metadata");
    if (tape_type(tape, metadata) != '{')
        return err_set(err, ERR_PARSE, "metadata is %s, not a map", type_text(tape_type(tape, metadata)));
    return id->name.n > 0 || nameless || lacks_name(tape, metadata, err);
}

/* "Pod shop/web-1: " before the text, as far as it is known. */
static bool name_object(const struct identity *id, struct err *err)
{
    enum { SHOWN = 128 };
    struct str kind = id->kind, ns = id->ns, name = id->name;
    if (name.n == 0 && kind.n == 0) return false;
    if (name.n == 0) return err_wrap(err, "%.*s", (int)(kind.n < SHOWN ? kind.n : SHOWN), kind.p);
    return err_wrap(err, "%.*s%s%.*s%s%.*s", (int)(kind.n < SHOWN ? kind.n : SHOWN), kind.p,
                    kind.n ? " " : "", (int)(ns.n < SHOWN ? ns.n : SHOWN), ns.p ? ns.p : "", ns.n ? "/" : "",
                    (int)(name.n < 2 * SHOWN ? name.n : 2 * SHOWN), name.p);
}

static bool type_field(struct packer *p, struct str key, struct str text, uint32_t *word)
{
    uint32_t field;
    if (!encode_key(&p->encoder, key, &field, p->err)) return false;
    if (!encode_string(&p->encoder, text, field, word, p->err)) return false;
    encode_value(&p->encoder, *word);
    return true;
}

bool pack_type(struct packer *p, const struct identity *id)
{
    uint32_t word;
    p->encoder.kind = (struct admission_kind){0, id->kind};
    if (!type_field(p, STR("apiVersion"), id->api_version, &word)) return false;
    if (!type_field(p, STR("kind"), id->kind, &word)) return false;
    if (word_tag(word) != TAG_LOCAL) p->encoder.kind.number = word * 0x9e3779b1u >> ADMISSION_SHIFT;
    return true;
}

static bool pack_root(struct packer *p, const struct tape *tape, size_t at, const struct identity *id,
                      const struct projection *projection, uint32_t *word)
{
    const struct projected by = {projection, tape};
    struct projection_state state = {0};
    struct open open = encode_open(&p->encoder);
    if (projection) state = projection_start(projection);
    if (!pack_type(p, id)) return false;
    struct str key;
    for (size_t v = tape_first(tape, at, &key); v; v = tape_next(tape, at, v, &key)) {
        if (str_eq(key, STR("apiVersion")) || str_eq(key, STR("kind"))) continue;
        p->at = v - 1;
        if (!(projection ? pack_projected_entry(p, &by, state, key, v, 1) : pack_entry(p, 1))) return false;
    }
    return encode_map(&p->encoder, open, false, word, p->err);
}

/* The word under `key` in the map at `header` of the area; under TAG_LOCAL its place in the area. */
static uint32_t area_field(const uint32_t *area, uint32_t header, uint32_t key)
{
    uint32_t word = ROOT_ABSENT, payload = blob_payload(area[header]);
    if (blob_kind(area[header]) == BLOB_MAP_SHAPED) {
        int slot = shape_slot(payload, key);
        if (slot >= 0) word = area[header + 1 + (uint32_t)slot];
    } else {
        for (uint32_t i = 0; i < payload; i++) {
            if (area[header + 1 + 2 * i] == word_make(TAG_KEY, key)) word = area[header + 2 + 2 * i];
        }
    }
    return word_tag(word) == TAG_LOCAL ? word_make(TAG_LOCAL, header - word_payload(word)) : word;
}

static void locate_fields(const uint32_t *area, uint32_t top, uint32_t *field)
{
    static const uint32_t keys[ROOT_FIELDS] = {
        [ROOT_NAMESPACE] = KEY_NAMESPACE,
        [ROOT_NAME] = KEY_NAME,
        [ROOT_UID] = KEY_UID,
        [ROOT_RESOURCE_VERSION] = KEY_RESOURCE_VERSION,
        [ROOT_LABELS] = KEY_LABELS,
        [ROOT_ANNOTATIONS] = KEY_ANNOTATIONS,
    };
    uint32_t metadata = area_field(area, top, KEY_METADATA);
    bool is_map = word_tag(metadata) == TAG_LOCAL;
    for (size_t i = 0; i < ROOT_FIELDS; i++)
        field[i] = is_map ? area_field(area, word_payload(metadata), keys[i]) : ROOT_ABSENT;
}

void pack_begin(struct packer *p, const struct projection *projection)
{
    p->section_count = p->group_count = p->segment_count = 0;
    p->lender = NULL;
    p->lent = 0;
    p->is_partial = projection && projection_names(projection);
}

bool pack_intern_root(struct packer *p, const struct identity *id, uint32_t word, size_t text_length,
                      struct root **out)
{
    const struct encoder *e = &p->encoder;
    struct root_draft draft = {
        .words = e->area,
        .size = e->used,
        .top = word_payload(word),
        .key_hash = key_hash(id->ns, id->name),
        .section = p->section,
        .section_count = e->moved ? 0 : (uint32_t)p->section_count,
        .text_length = (uint32_t)text_length,
        .is_partial = p->is_partial,
        .lender = e->moved ? NULL : p->lender,
        .lent = p->lent,
    };
    struct segment_list segments = {p->group, p->segment, p->group_count, p->segment_count};
    if (p->segment_count > 0 && !e->moved) draft.segments = &segments;
    draft.identity = root_identity(draft.key_hash, id->uid, id->resource_version);
    locate_fields(e->area, word_payload(word), draft.field);
    *out = root_intern(e->pool, &draft);
    return *out ? true : err_set(p->err, ERR_LIMIT, "the object pool is full (at most 8 GiB)");
}

bool pack_tape(struct packer *p, const struct tape *tape, size_t at, const struct pack_type *type,
               struct root **out, struct err *err)
{
    *out = NULL;
    if (tape_type(tape, at) != '{') return err_set(err, ERR_PARSE, "not a JSON object");
    struct identity id;
    if (!type) type = &pack_unknown_type;
    size_t metadata = identify(tape, at, type, &id);
    p->words = tape->words;
    p->strings = tape->strings;
    p->err = err;
    pack_begin(p, type->projection);
    uint32_t word;
    bool done = check_identity(tape, metadata, &id, type->nameless, err) &&
                pack_root(p, tape, at, &id, type->projection, &word) &&
                pack_intern_root(p, &id, word, 0, out);
    encoder_reset(&p->encoder);
    return done || name_object(&id, err);
}

bool pack_text(struct packer *p, const char *text, size_t len, const struct pack_type *type,
               struct root **out, struct err *err)
{
    struct tape tape;
    struct pack_mark mark;
    *out = pack_recall(p, (struct str){text, len}, type, &mark);
    if (*out) return true;
    if (pack_tokens(p, (struct str){text, len}, type ? type : &pack_unknown_type, &mark, NULL, out)) {
        pack_remember(p, *out, &mark);
        return true;
    }
    if (!tape_parse(p->parser, text, len, &tape, err)) return false;
    if (!pack_tape(p, &tape, tape_root(&tape), type, out, err)) return false;
    pack_remember(p, *out, &mark);
    return true;
}
