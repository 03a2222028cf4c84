/* A value of YAML as JSON, from its events. An alias is the text that its anchor became: so nothing refers to
 * itself, and what aliases make of little is as long as an object may be, and no longer. */
#include "audit/input_yaml.h"
#include "kube/yaml_file.h"

enum { DEPTH_MAX = PACK_DEPTH_MAX };

/* The containers that are open. */
struct nest {
    int depth;
    bool is_map[DEPTH_MAX + 1], has_some[DEPTH_MAX + 1], wants_value[DEPTH_MAX + 1];
};

static void set_flaw(struct input_yaml *y, enum input_flaw flaw)
{
    if (y->flaw) return;
    y->flaw = flaw;
    y->flaw_line = input_yaml_line(y);
}

struct str input_yaml_text(const yaml_event_t *event)
{
    if (event->type != YAML_SCALAR_EVENT) return (struct str){NULL, 0};
    return (struct str){(const char *)event->data.scalar.value, event->data.scalar.length};
}

static void put_scalar(struct input_yaml *y, bool is_key)
{
    static const char *const words[] = {"null", "true", "false"};
    yaml_node_t node = {.type = YAML_SCALAR_NODE};
    node.data.scalar.value = y->event.data.scalar.value;
    node.data.scalar.length = y->event.data.scalar.length;
    node.data.scalar.style = y->event.data.scalar.style;
    enum yaml_form form = is_key ? YAML_FORM_TEXT : yaml_form(&node);
    if (form == YAML_FORM_TEXT)
        buf_json_string(&y->json, yaml_text(&node));
    else if (form == YAML_FORM_NUMBER)
        buf_str(&y->json, yaml_text(&node));
    else
        buf_puts(&y->json, words[form]);
}

static void put_alias(struct input_yaml *y, bool is_key)
{
    struct str text;
    enum input_anchor_state state =
        input_anchors_find(&y->anchors, (const char *)y->event.data.alias.anchor, &text);
    if (state != ANCHOR_KNOWN)
        set_flaw(y, state == ANCHOR_OPEN ? FLAW_CYCLE : FLAW_ANCHOR);
    else if (is_key && *text.p != '"')
        set_flaw(y, FLAW_KEY);
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
    if (n->has_some[d]) buf_putc(&y->json, ',');
    n->has_some[d] = true;
    n->wants_value[d] = n->is_map[d];
    return n->is_map[d];
}

static void open_nest(struct input_yaml *y, struct nest *n, bool is_map)
{
    n->is_map[n->depth] = is_map;
    n->has_some[n->depth] = n->wants_value[n->depth] = false;
    buf_putc(&y->json, is_map ? '{' : '[');
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
        if (is_key) set_flaw(y, FLAW_KEY);
        if (!y->flaw) open_nest(y, n, event->type == YAML_MAPPING_START_EVENT);
    } else if (!y->flaw && event->type == YAML_ALIAS_EVENT) {
        put_alias(y, is_key);
    } else if (!y->flaw) {
        put_scalar(y, is_key);
    }
}

bool input_yaml_value(struct input_yaml *y)
{
    struct nest n = {0};
    for (;;) {
        put_event(y, &n);
        if (n.depth == DEPTH_MAX) {
            input_refuse_text(y->reader, input_yaml_line(y), ERR_LIMIT, "nested deeper than %d", DEPTH_MAX);
            return false; /* libyaml takes longer for each token the deeper it stands */
        }
        if (y->json.len - y->start > y->reader->max) set_flaw(y, FLAW_LARGE);
        if (y->flaw)
            input_anchors_abandon(&y->anchors);
        else
            input_anchors_end(&y->anchors, n.depth, buf_slice(&y->json), y->reader->max);
        if (n.depth == 0) return true;
        if (!input_yaml_next(y)) return false;
    }
}
