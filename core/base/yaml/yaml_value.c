/* Events of YAML as JSON; see yaml_value.h. */
#include "base/yaml/yaml_value.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/yaml/yaml_scalar.h"

struct str yaml_event_text(const yaml_event_t *event)
{
    if (event->type != YAML_SCALAR_EVENT) return (struct str){NULL, 0};
    return (struct str){(const char *)event->data.scalar.value, event->data.scalar.length};
}

int yaml_event_step(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT: return 1;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: return -1;
    default: return 0;
    }
}

const char *yaml_event_anchor(const yaml_event_t *event)
{
    const yaml_char_t *name = NULL;
    if (event->type == YAML_SCALAR_EVENT) name = event->data.scalar.anchor;
    if (event->type == YAML_SEQUENCE_START_EVENT) name = event->data.sequence_start.anchor;
    if (event->type == YAML_MAPPING_START_EVENT) name = event->data.mapping_start.anchor;
    return (const char *)name;
}

bool yaml_hand_over(const yaml_parser_t *parser, struct str *rest, unsigned char *to, size_t room,
                    size_t *got)
{
    *got = rest->n < room ? rest->n : room;
    if (*got > 0) memcpy(to, rest->p, *got);
    *rest = (struct str){rest->p + *got, rest->n - *got};
    return !yaml_has_many_tags(parser);
}

/* --- Values */

/* Containers that are open. */
struct nest {
    int depth;
    bool is_map[YAML_DEPTH_MAX + 1], has_some[YAML_DEPTH_MAX + 1], wants_value[YAML_DEPTH_MAX + 1];
    bool merges[YAML_DEPTH_MAX + 1]; /* the key is << */
    size_t first_at[YAML_DEPTH_MAX + 1],
        entry_at[YAML_DEPTH_MAX + 1]; /* of a map: its first entry and its last one */
};

void yaml_value_clear(struct yaml_value *y)
{
    yaml_anchors_clear(&y->anchors);
    yaml_keys_clear(&y->keys);
    buf_clear(&y->twice);
    buf_clear(&y->json);
}

void yaml_value_begin(struct yaml_value *y)
{
    y->json.len = y->start = y->merged = 0;
    y->flaw = YAML_NO_FLAW;
    yaml_anchors_clear(&y->anchors);
    yaml_keys_close(&y->keys, 0);
}

void yaml_value_set_flaw(struct yaml_value *y, enum yaml_flaw flaw)
{
    if (y->flaw) return;
    y->flaw = flaw;
    y->flaw_line = yaml_value_line(y);
}

bool yaml_value_describe_flaw(const struct yaml_value *y, struct err *err)
{
    switch (y->flaw) {
    case YAML_LARGE: return err_set(err, ERR_LIMIT, "more than %zu bytes (%s)", y->max, y->max_name);
    case YAML_BAD_KEY: return err_set(err, ERR_PARSE, "map key is not a string");
    case YAML_TWICE: return err_set(err, ERR_PARSE, "duplicate map key %.*s", STR_ARG(buf_slice(&y->twice)));
    case YAML_LARGE_MERGES:
        return err_set(err, ERR_LIMIT, "merged content (<<) exceeds %zu bytes (%s)", y->max, y->max_name);
    case YAML_BAD_MERGE: return err_set(err, ERR_PARSE, "value of << is not a map");
    case YAML_NO_ANCHOR:
        return err_set(err, ERR_PARSE, "alias without an anchor (at most %d anchors and %zu bytes are kept)",
                       YAML_ANCHORS_MAX, y->max);
    case YAML_CYCLE: return err_set(err, ERR_PARSE, "alias inside its own anchor");
    default: return err_set(err, ERR_LIMIT, "nested deeper than %d", YAML_DEPTH_MAX);
    }
}

void yaml_value_key(struct yaml_value *y, int depth, struct str key)
{
    if (y->flaw || yaml_keys_add(&y->keys, depth, key)) return;
    yaml_value_set_flaw(y, YAML_TWICE);
    y->twice.len = 0;
    buf_str(&y->twice, key);
}

static void put_alias(struct yaml_value *y, bool is_key)
{
    struct str text;
    enum yaml_anchor_state state =
        yaml_anchors_find(&y->anchors, (const char *)y->event.data.alias.anchor, &text);
    if (state != YAML_ANCHOR_KNOWN)
        yaml_value_set_flaw(y, state == YAML_ANCHOR_OPEN ? YAML_CYCLE : YAML_NO_ANCHOR);
    else if (is_key && *text.p != '"')
        yaml_value_set_flaw(y, YAML_BAD_KEY);
    else
        buf_str(&y->json, text);
}

/* Appends the separator before a value or a key; returns whether a key follows. */
static bool put_mark(struct yaml_value *y, struct nest *n)
{
    int d = n->depth;
    if (d == 0) return false;
    if (n->wants_value[d]) {
        buf_putc(&y->json, ':');
        n->wants_value[d] = false;
        return false;
    }
    n->entry_at[d] = y->json.len;
    if (n->has_some[d]) buf_putc(&y->json, ',');
    n->has_some[d] = true;
    n->wants_value[d] = n->is_map[d];
    return n->is_map[d];
}

static void open_nest(struct yaml_value *y, struct nest *n, bool is_map)
{
    n->is_map[n->depth] = is_map;
    n->has_some[n->depth] = n->wants_value[n->depth] = n->merges[n->depth] = false;
    buf_putc(&y->json, is_map ? '{' : '[');
    n->first_at[n->depth] = y->json.len;
}

bool yaml_event_is_merge(const yaml_event_t *event)
{
    return event->type == YAML_SCALAR_EVENT && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           str_is(yaml_event_text(event), "<<");
}

/* Moves the fields of a merge before all others, which override them. The moved bytes of one value are
 * limited: the cost of many merges of one map would grow with the square of their number. */
void yaml_value_merge(struct yaml_value *y, size_t first, size_t entry)
{
    struct buf *json = &y->json, inner = {0};
    size_t others = entry - first, value = entry + (others > 0) + strlen("\"<<\":");
    if (json->data[value] != '{') {
        yaml_value_set_flaw(y, YAML_BAD_MERGE);
        return;
    }
    y->merged += json->len - first;
    if (y->merged > y->max) {
        yaml_value_set_flaw(y, YAML_LARGE_MERGES);
        return;
    }
    buf_append(&inner, json->data + value + 1, json->len - value - 2);
    if (inner.len > 0 && others > 0) buf_putc(&inner, ',');
    buf_append(&inner, json->data + first, others);
    json->len = first;
    buf_str(json, buf_slice(&inner));
    buf_clear(&inner);
}

/* Completes a merge, which was the last entry of the map. */
static void merge(struct yaml_value *y, struct nest *n)
{
    size_t first = n->first_at[n->depth];
    n->merges[n->depth] = false;
    yaml_value_merge(y, first, n->entry_at[n->depth]);
    n->has_some[n->depth] = y->json.len > first;
}

static void note_anchor(struct yaml_value *y, const struct nest *n)
{
    const char *name = yaml_event_anchor(&y->event);
    if (name) yaml_anchors_begin(&y->anchors, name, n->depth, y->json.len);
}

/* Notes the key after the comma, if there is one. */
static void note_key(struct yaml_value *y, const struct nest *n, int depth)
{
    size_t from = n->entry_at[depth];
    if (y->flaw) return;
    if (y->json.data[from] == ',') from++;
    yaml_value_key(y, depth, (struct str){y->json.data + from, y->json.len - from});
}

/* Processes the current event; of a value with a flaw it only follows the depth. */
static void put_event(struct yaml_value *y, struct nest *n)
{
    const yaml_event_t *event = &y->event;
    bool is_key = false;
    int around = n->depth;
    int step = yaml_event_step(event);
    if (step < 0) {
        n->depth--;
        if (!y->flaw) buf_putc(&y->json, event->type == YAML_MAPPING_END_EVENT ? '}' : ']');
        return;
    }
    if (!y->flaw) {
        is_key = put_mark(y, n);
        note_anchor(y, n);
    }
    if (step > 0) {
        n->depth = around + 1;
        if (is_key) yaml_value_set_flaw(y, YAML_BAD_KEY);
        if (!y->flaw) open_nest(y, n, event->type == YAML_MAPPING_START_EVENT);
    } else if (!y->flaw && event->type == YAML_ALIAS_EVENT) {
        put_alias(y, is_key);
    } else if (!y->flaw) {
        if (is_key) n->merges[around] = yaml_event_is_merge(event);
        yaml_put_scalar(&y->json, &y->event, y->fractions_stay, is_key);
    }
    if (is_key && !n->merges[around]) note_key(y, n, around);
}

bool yaml_value_read(struct yaml_value *y)
{
    struct nest n = {0};
    for (;;) {
        put_event(y, &n);
        yaml_keys_close(&y->keys, n.depth + 1);
        if (n.depth == YAML_DEPTH_MAX) {
            y->flaw = YAML_NO_FLAW;
            yaml_value_set_flaw(y, YAML_DEEP);
            return false; /* libyaml's time for a token grows with its depth */
        }
        if (y->json.len - y->start > y->max) yaml_value_set_flaw(y, YAML_LARGE);
        if (y->flaw)
            yaml_anchors_abandon(&y->anchors);
        else
            yaml_anchors_end(&y->anchors, n.depth, buf_slice(&y->json), y->max);
        if (!y->flaw && n.depth > 0 && n.merges[n.depth] && !n.wants_value[n.depth]) merge(y, &n);
        if (n.depth == 0) return true;
        if (!y->next(y)) return false;
    }
}
