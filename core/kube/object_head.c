/* A tolerant walk over the tokens of a text that is cut off somewhere; see object_head.h. */
#include "kube/object_head.h"

#include <stdint.h>

enum { DEPTH_MAX = 64, PATH_MAX_DEPTH = 4 };

struct head {
    const char *p, *end;
    unsigned depth;
    uint64_t is_object;                  /* bit d: the container at depth d + 1 is an object */
    bool key_next;                       /* the next string is a field's name */
    struct str path[PATH_MAX_DEPTH + 1]; /* the field being read at each depth, from 1 */
    struct str kind, namespace_, name;
};

/* The string at p, quotes left out, escapes left in. False when it is cut off. */
static bool read_string(struct head *head, struct str *out)
{
    const char *from = ++head->p;
    for (; head->p < head->end; head->p++) {
        if (*head->p == '\\') {
            head->p++;
        } else if (*head->p == '"') {
            *out = (struct str){from, (size_t)(head->p++ - from)};
            return true;
        }
    }
    return false;
}

static void take_value(struct head *head, struct str value, bool event)
{
    unsigned base = event ? 2 : 1;
    if (event && !str_is(head->path[1], "object")) return;
    if (head->depth == base && str_is(head->path[base], "kind"))
        head->kind = value;
    else if (head->depth != base + 1 || !str_is(head->path[base], "metadata"))
        return;
    else if (str_is(head->path[base + 1], "name"))
        head->name = value;
    else if (str_is(head->path[base + 1], "namespace"))
        head->namespace_ = value;
}

static bool in_object(const struct head *head)
{
    return head->depth > 0 && (head->is_object >> (head->depth - 1) & 1);
}

static bool open_container(struct head *head, bool object)
{
    if (head->depth == DEPTH_MAX) return false;
    uint64_t bit = (uint64_t)1 << head->depth++;
    head->is_object = object ? head->is_object | bit : head->is_object & ~bit;
    head->key_next = object;
    if (head->depth <= PATH_MAX_DEPTH) head->path[head->depth] = (struct str){0};
    return true;
}

static bool step(struct head *head, bool event)
{
    struct str text;
    switch (*head->p) {
    case '{':
    case '[':
        if (!open_container(head, *head->p == '{')) return false;
        break;
    case '}':
    case ']':
        if (head->depth > 0) head->depth--;
        head->key_next = false;
        break;
    case ',': head->key_next = in_object(head); break;
    case '"':
        if (!read_string(head, &text)) return false;
        if (!head->key_next)
            take_value(head, text, event);
        else if (head->depth <= PATH_MAX_DEPTH)
            head->path[head->depth] = text;
        head->key_next = false;
        return true;
    default: break;
    }
    head->p++;
    return true;
}

void object_head_name(struct str text, bool event, struct buf *out)
{
    struct head head = {.p = text.p, .end = text.p + text.n};
    while (head.p < head.end && step(&head, event)) continue;
    if (!head.name.n) {
        buf_printf(out, "%s%.*s", head.kind.n ? "an object of kind " : "an object", STR_ARG(head.kind));
        return;
    }
    buf_printf(out, "%.*s%s", STR_ARG(head.kind), head.kind.n ? " " : "");
    buf_printf(out, "%.*s%s%.*s", STR_ARG(head.namespace_), head.namespace_.n ? "/" : "", STR_ARG(head.name));
}
