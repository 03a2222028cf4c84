/* Rewrites a text with a namespace in it; see input_namespace.h. */
#include "audit/input/input_namespace.h"

#include <string.h>

#include "object/parse/tape.h"
#include "object/parse/token.h"

/* Replacement in a text: a key and its value after the opening bracket, or only a value. */
struct namespace_place {
    const char *from, *to;
    bool only_value, is_alone;
};

/* Returns the token of a field's value; 0: missing, or the object is malformed. */
static size_t field_of(const struct input_piece *piece, size_t object, const char *name, bool *ok)
{
    const struct tokens *t = &piece->tokens;
    size_t i = object + 1, end = piece->close[object], found = 0;
    for (*ok = true; i != end; i++) {
        *ok = token_type(t, i) == '"' && token_type(t, i + 1) == ':';
        size_t behind = *ok ? token_behind(t, piece->close, i + 2) : 0;
        *ok = behind && behind <= end && (behind == end || token_type(t, behind) == ',');
        if (!*ok) return 0;
        if (str_is(token_raw(t, i), name)) found = i + 2;
        i = behind;
        if (i == end) break;
    }
    return found;
}

/* Finds the place for the namespace; like kubectl, it takes an empty string and null for none. */
static bool find_place(const struct input_piece *piece, struct namespace_place *place)
{
    const struct tokens *t = &piece->tokens;
    bool ok;
    size_t metadata = field_of(piece, piece->at, "metadata", &ok);
    if (!ok || !metadata || token_type(t, metadata) != '{') return false;
    size_t value = field_of(piece, metadata, "namespace", &ok);
    if (!ok) return false;
    *place = (struct namespace_place){.only_value = value != 0,
                                      .is_alone = piece->close[metadata] == metadata + 1};
    place->from = place->to = t->text + t->at[value ? value : metadata] + (value ? 0 : 1);
    if (!value) return true;
    bool is_empty = token_type(t, value) == '"' && token_raw(t, value).n == 0;
    bool is_null = !is_empty && strncmp(place->from, "null", 4) == 0;
    place->to += is_empty ? 2 : 4;
    return is_empty || is_null;
}

const struct input_piece *input_namespace_give(struct input_namespace *in, const struct input_piece *piece,
                                               struct str ns, struct input_piece *room)
{
    struct namespace_place place;
    if (!ns.n || !find_place(piece, &place)) return piece;
    struct buf *text = &in->text;
    text->len = 0;
    buf_append(text, piece->text.p, (size_t)(place.from - piece->text.p));
    if (!place.only_value) buf_puts(text, "\"namespace\":");
    buf_json_string(text, ns);
    if (!place.only_value && !place.is_alone) buf_putc(text, ',');
    buf_append(text, place.to, (size_t)(piece->text.p + piece->text.n - place.to));
    memset(buf_reserve(text, TAPE_PADDING), 0, TAPE_PADDING);
    if (!in->begun) input_tokens_init(&in->tokens);
    in->begun = true;
    return input_tokens_find(&in->tokens, buf_slice(text), room) ? room : piece;
}

void input_namespace_clear(struct input_namespace *in)
{
    if (in->begun) input_tokens_clear(&in->tokens);
    buf_clear(&in->text);
    *in = (struct input_namespace){0};
}
