/* The newest of a name is the one that counts; see input_anchors.h. */
#include "audit/input_anchors.h"

#include <stdlib.h>

#include "base/mem.h"

void input_anchors_begin(struct input_anchors *as, const char *name, int depth, size_t from)
{
    if (as->count == INPUT_ANCHORS_MAX) return;
    if (as->count == as->room) {
        as->room = as->room ? as->room * 2 : 16;
        as->anchor = xrealloc(as->anchor, as->room * sizeof *as->anchor);
    }
    as->anchor[as->count++] =
        (struct input_anchor){.name = xstrdup(name), .from = from, .depth = depth, .open = true};
    as->open++;
}

void input_anchors_end(struct input_anchors *as, int depth, struct str text, size_t max)
{
    for (size_t i = as->count; i > 0 && as->open > 0; i--) {
        struct input_anchor *a = &as->anchor[i - 1];
        if (!a->open || a->depth < depth) continue;
        a->open = false;
        as->open--;
        if (as->bytes + (text.n - a->from) > max) continue; /* it stays without a text */
        buf_append(&a->json, text.p + a->from, text.n - a->from);
        as->bytes += a->json.len;
    }
}

static void drop_last(struct input_anchors *as)
{
    struct input_anchor *a = &as->anchor[--as->count];
    as->open -= a->open;
    as->bytes -= a->json.len;
    buf_clear(&a->json);
    free(a->name);
}

void input_anchors_abandon(struct input_anchors *as)
{
    while (as->open > 0) drop_last(as);
}

enum input_anchor_state input_anchors_find(const struct input_anchors *as, const char *name, struct str *json)
{
    *json = (struct str){NULL, 0};
    for (size_t i = as->count; i > 0; i--) {
        const struct input_anchor *a = &as->anchor[i - 1];
        if (!str_is(str_of(a->name), name)) continue;
        if (a->open) return ANCHOR_OPEN;
        *json = buf_slice(&a->json);
        return json->n ? ANCHOR_KNOWN : ANCHOR_UNKNOWN;
    }
    return ANCHOR_UNKNOWN;
}

void input_anchors_clear(struct input_anchors *as)
{
    while (as->count > 0) drop_last(as);
    free(as->anchor);
    *as = (struct input_anchors){0};
}
