/* A value of YAML as JSON, from its events. An alias is the text that its anchor became: so nothing refers to
 * itself, and what aliases make of little is as long as an object may be, and no longer. */
#include <string.h>

#include "audit/input/input_yaml.h"

enum { DEPTH_MAX = PACK_DEPTH_MAX };

/* The containers that are open. */
struct nest {
    int depth;
    bool is_map[DEPTH_MAX + 1], has_some[DEPTH_MAX + 1], wants_value[DEPTH_MAX + 1];
    bool merges[DEPTH_MAX + 1];                              /* the key is << */
    size_t first_at[DEPTH_MAX + 1], entry_at[DEPTH_MAX + 1]; /* of a map: its first entry, and the last one */
};

void input_yaml_set_flaw(struct input_yaml *y, enum input_flaw flaw)
{
    if (y->flaw) return;
    y->flaw = flaw;
    y->flaw_line = input_yaml_line(y);
}

void input_yaml_key(struct input_yaml *y, int depth, struct str key)
{
    if (y->flaw || input_keys_add(&y->keys, depth, key)) return;
    input_yaml_set_flaw(y, FLAW_TWICE);
    y->twice.len = 0;
    buf_str(&y->twice, key);
}

struct str input_yaml_text(const yaml_event_t *event)
{
    if (event->type != YAML_SCALAR_EVENT) return (struct str){NULL, 0};
    return (struct str){(const char *)event->data.scalar.value, event->data.scalar.length};
}

static void put_scalar(struct input_yaml *y, bool is_key)
{
    if (is_key)
        buf_json_string(&y->json, input_yaml_text(&y->event));
    else
        input_yaml_scalar(&y->json, &y->event);
}

static void put_alias(struct input_yaml *y, bool is_key)
{
    struct str text;
    enum input_anchor_state state =
        input_anchors_find(&y->anchors, (const char *)y->event.data.alias.anchor, &text);
    if (state != ANCHOR_KNOWN)
        input_yaml_set_flaw(y, state == ANCHOR_OPEN ? FLAW_CYCLE : FLAW_ANCHOR);
    else if (is_key && *text.p != '"')
        input_yaml_set_flaw(y, FLAW_KEY);
    else
        buf_str(&y->json, text);
}

/* What stands before a value, or before a key: gives whether it is one. */
static bool put_mark(struct input_yaml *y, struct nest *n)
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

static void open_nest(struct input_yaml *y, struct nest *n, bool is_map)
{
    n->is_map[n->depth] = is_map;
    n->has_some[n->depth] = n->wants_value[n->depth] = n->merges[n->depth] = false;
    buf_putc(&y->json, is_map ? '{' : '[');
    n->first_at[n->depth] = y->json.len;
}

bool input_yaml_is_merge(const yaml_event_t *event)
{
    return event->type == YAML_SCALAR_EVENT && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           str_is(input_yaml_text(event), "<<");
}

/* What a merge holds goes before all others, which count more, and so what many merges of one map move grows
 * with the square of their number. */
void input_yaml_merge(struct input_yaml *y, size_t first, size_t entry)
{
    struct buf *json = &y->json, inner = {0};
    size_t others = entry - first, value = entry + (others > 0) + strlen("\"<<\":");
    if (json->data[value] != '{') {
        input_yaml_set_flaw(y, FLAW_MERGE);
        return;
    }
    y->merged += json->len - first;
    if (y->merged > y->reader->max) {
        input_yaml_set_flaw(y, FLAW_MERGES);
        return;
    }
    buf_append(&inner, json->data + value + 1, json->len - value - 2);
    if (inner.len > 0 && others > 0) buf_putc(&inner, ',');
    buf_append(&inner, json->data + first, others);
    json->len = first;
    buf_str(json, buf_slice(&inner));
    buf_clear(&inner);
}

/* The last entry of the map was one. */
static void merge(struct input_yaml *y, struct nest *n)
{
    size_t first = n->first_at[n->depth];
    n->merges[n->depth] = false;
    input_yaml_merge(y, first, n->entry_at[n->depth]);
    n->has_some[n->depth] = y->json.len > first;
}

static void note_anchor(struct input_yaml *y, const struct nest *n)
{
    const yaml_char_t *name = NULL;
    if (y->event.type == YAML_SCALAR_EVENT) name = y->event.data.scalar.anchor;
    if (y->event.type == YAML_SEQUENCE_START_EVENT) name = y->event.data.sequence_start.anchor;
    if (y->event.type == YAML_MAPPING_START_EVENT) name = y->event.data.mapping_start.anchor;
    if (name) input_anchors_begin(&y->anchors, (const char *)name, n->depth, y->json.len);
}

static bool begins(const yaml_event_t *event)
{
    return event->type == YAML_SEQUENCE_START_EVENT || event->type == YAML_MAPPING_START_EVENT;
}

static bool ends(const yaml_event_t *event)
{
    return event->type == YAML_SEQUENCE_END_EVENT || event->type == YAML_MAPPING_END_EVENT;
}

/* Behind the comma, if there is one. */
static void note_key(struct input_yaml *y, const struct nest *n, int depth)
{
    size_t from = n->entry_at[depth];
    if (y->flaw) return;
    if (y->json.data[from] == ',') from++;
    input_yaml_key(y, depth, (struct str){y->json.data + from, y->json.len - from});
}

/* The event at hand; of what has a flaw only the depth is followed. */
static void put_event(struct input_yaml *y, struct nest *n)
{
    const yaml_event_t *event = &y->event;
    bool is_key = false;
    int around = n->depth;
    if (ends(event)) {
        n->depth--;
        if (!y->flaw) buf_putc(&y->json, event->type == YAML_MAPPING_END_EVENT ? '}' : ']');
        return;
    }
    if (!y->flaw) {
        is_key = put_mark(y, n);
        note_anchor(y, n);
    }
    if (begins(event)) {
        n->depth = around + 1;
        if (is_key) input_yaml_set_flaw(y, FLAW_KEY);
        if (!y->flaw) open_nest(y, n, event->type == YAML_MAPPING_START_EVENT);
    } else if (!y->flaw && event->type == YAML_ALIAS_EVENT) {
        put_alias(y, is_key);
    } else if (!y->flaw) {
        if (is_key) n->merges[around] = input_yaml_is_merge(event);
        put_scalar(y, is_key);
    }
    if (is_key && !n->merges[around]) note_key(y, n, around);
}

bool input_yaml_value(struct input_yaml *y)
{
    struct nest n = {0};
    for (;;) {
        put_event(y, &n);
        input_keys_close(&y->keys, n.depth + 1);
        if (n.depth == DEPTH_MAX) {
            input_refuse_text(y->reader, input_yaml_line(y), ERR_LIMIT, "nested deeper than %d", DEPTH_MAX);
            return false; /* libyaml takes longer for each token the deeper it stands */
        }
        if (y->json.len - y->start > y->reader->max) input_yaml_set_flaw(y, FLAW_LARGE);
        if (y->flaw)
            input_anchors_abandon(&y->anchors);
        else
            input_anchors_end(&y->anchors, n.depth, buf_slice(&y->json), y->reader->max);
        if (!y->flaw && n.depth > 0 && n.merges[n.depth] && !n.wants_value[n.depth]) merge(y, &n);
        if (n.depth == 0) return true;
        if (!input_yaml_next(y)) return false;
    }
}
