/* Packing of a projection: dropped fields are skipped, so that they are never stored; see pack_internal.h.
 * Maps and arrays on the way to a kept field stay, even if empty. */
#include "base/mem.h"
#include "object/pack/pack_internal.h"
#include "object/value/dict.h"

struct tape_value {
    struct projection_value value;
    const struct tape *tape;
    size_t at;
};

static bool field_is(const struct projection_value *value, struct str name, struct str expected)
{
    const struct tape_value *v = container_of(value, struct tape_value, value);
    struct str text = tape_str(v->tape, tape_field(v->tape, v->at, name));
    return text.p && str_eq(text, expected);
}

static bool enter(const struct projected *by, int depth, struct projection_state state, struct str key,
                  size_t at, struct projection_state *below)
{
    char type = tape_type(by->tape, at);
    const struct tape_value v = {{type == '{' || type == '[', field_is}, by->tape, at};
    return projection_enter(by->projection, (size_t)depth - 1, state, key, &v.value, below);
}

/* Packs a map. As in pack.c, maps of the first level stay in their object. */
static bool project_map(struct packer *p, const struct projected *by, struct projection_state state,
                        size_t at, int depth, uint32_t *word)
{
    struct open open = encode_open(&p->encoder);
    struct str key;
    for (size_t v = tape_first(by->tape, at, &key); v; v = tape_next(by->tape, at, v, &key))
        if (!pack_projected_entry(p, by, state, key, v, depth)) return false;
    return encode_map(&p->encoder, open, depth > 2, word, p->err);
}

static bool project_array(struct packer *p, const struct projected *by, struct projection_state state,
                          size_t at, int depth, uint32_t *word)
{
    struct open open = encode_open(&p->encoder);
    struct projection_state below;
    struct str none = {0};
    for (size_t v = tape_first(by->tape, at, NULL); v; v = tape_next(by->tape, at, v, NULL)) {
        uint32_t item;
        if (!enter(by, depth, state, none, v, &below)) continue;
        if (!pack_projected_value(p, by, below, v, depth + 1, DICT_NONE, &item)) return false;
        encode_item(&p->encoder, item);
    }
    return encode_array(&p->encoder, open, true, word, p->err);
}

bool pack_projected_value(struct packer *p, const struct projected *by, struct projection_state state,
                          size_t at, int depth, uint32_t field, uint32_t *word)
{
    char type = tape_type(by->tape, at);
    if (projection_is_done(state) || (type != '{' && type != '[')) {
        p->at = at;
        return pack_value(p, depth, field, word);
    }
    if (!pack_check_depth(p, depth)) return false;
    return type == '{' ? project_map(p, by, state, at, depth, word)
                       : project_array(p, by, state, at, depth, word);
}

bool pack_projected_entry(struct packer *p, const struct projected *by, struct projection_state state,
                          struct str key, size_t at, int depth)
{
    struct projection_state below;
    uint32_t field, word;
    if (!enter(by, depth, state, key, at, &below)) return true;
    if (!pack_key(p, key, &field)) return false;
    if (!pack_projected_value(p, by, below, at, depth + 1, field, &word)) return false;
    encode_value(&p->encoder, word);
    return true;
}
