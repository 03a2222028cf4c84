/* Tolerant walk over the tokens of a truncated text; see object_head.h. */
#include "kube/api/object_head.h"

#include <stdint.h>
#include <string.h>

enum { DEPTH_MAX = 64, PATH_MAX_DEPTH = 4 };

struct head_walk {
    const char *p, *end;
    unsigned depth;
    uint64_t is_object;                  /* bit d: the container at depth d + 1 is an object */
    bool key_next;                       /* the next string is a field's name */
    struct str path[PATH_MAX_DEPTH + 1]; /* the field being read at each depth, from 1 */
    struct object_head found;
};

/* Reads the string at p without quotes, with escapes as they are. Returns false if it is truncated. */
static bool read_string(struct head_walk *walk, struct str *out)
{
    const char *from = ++walk->p;
    for (; walk->p < walk->end; walk->p++) {
        if (*walk->p == '\\') {
            walk->p++;
        } else if (*walk->p == '"') {
            *out = (struct str){from, (size_t)(walk->p++ - from)};
            return true;
        }
    }
    return false;
}

static void take_value(struct head_walk *walk, struct str value, bool event)
{
    unsigned base = event ? 2 : 1;
    if (event && walk->depth == 1 && str_is(walk->path[1], "type")) walk->found.event_type = value;
    if (event && !str_is(walk->path[1], "object")) return;
    if (walk->depth == base && str_is(walk->path[base], "kind"))
        walk->found.kind = value;
    else if (walk->depth != base + 1 || !str_is(walk->path[base], "metadata"))
        return;
    else if (str_is(walk->path[base + 1], "name"))
        walk->found.name = value;
    else if (str_is(walk->path[base + 1], "namespace"))
        walk->found.ns = value;
    else if (str_is(walk->path[base + 1], "uid"))
        walk->found.uid = value;
}

static bool in_object(const struct head_walk *walk)
{
    return walk->depth > 0 && (walk->is_object >> (walk->depth - 1) & 1);
}

static bool open_container(struct head_walk *walk, bool object)
{
    if (walk->depth == DEPTH_MAX) return false;
    uint64_t bit = (uint64_t)1 << walk->depth++;
    walk->is_object = object ? walk->is_object | bit : walk->is_object & ~bit;
    walk->key_next = object;
    if (walk->depth <= PATH_MAX_DEPTH) walk->path[walk->depth] = (struct str){0};
    return true;
}

/* A namespace may stand behind the name: without it the key is known only when metadata is over. */
static void note_end(struct head_walk *walk, bool event)
{
    unsigned base = event ? 2 : 1;
    if (walk->depth != base + 1 || !str_is(walk->path[base], "metadata")) return;
    if (!event || str_is(walk->path[1], "object")) walk->found.has_key = walk->found.name.n > 0;
}

static bool step(struct head_walk *walk, bool event)
{
    struct str text;
    switch (*walk->p) {
    case '{':
    case '[':
        if (!open_container(walk, *walk->p == '{')) return false;
        break;
    case '}':
    case ']':
        note_end(walk, event);
        if (walk->depth > 0) walk->depth--;
        walk->key_next = false;
        break;
    case ',': walk->key_next = in_object(walk); break;
    case '"':
        if (!read_string(walk, &text)) return false;
        if (!walk->key_next)
            take_value(walk, text, event);
        else if (walk->depth <= PATH_MAX_DEPTH)
            walk->path[walk->depth] = text;
        walk->key_next = false;
        return true;
    default: break;
    }
    walk->p++;
    return true;
}

void object_head_find(struct str head, bool event, struct object_head *out)
{
    struct head_walk walk = {.p = head.p, .end = head.p + head.n};
    bool ok = true;
    while (ok && walk.p < walk.end) ok = step(&walk, event);
    *out = walk.found;
    out->whole = ok && walk.depth == 0;
    if (out->name.n && out->ns.n) out->has_key = true;
}

bool object_head_namespace(struct str text, bool event, struct str *ns)
{
    struct head_walk walk = {.p = text.p, .end = text.p + text.n};
    bool ok = true;
    /* Its key is known at the end of metadata, if not before. */
    while (ok && walk.p < walk.end && !walk.found.ns.n && !walk.found.has_key) ok = step(&walk, event);
    *ns = walk.found.ns;
    return ns->n && !memchr(ns->p, '\\', ns->n);
}

bool object_head_uid(struct str text, bool event, struct str *uid)
{
    struct head_walk walk = {.p = text.p, .end = text.p + text.n};
    bool ok = true;
    while (ok && walk.p < walk.end && !walk.found.uid.n && !walk.found.has_key) ok = step(&walk, event);
    *uid = walk.found.uid;
    return uid->n && !memchr(uid->p, '\\', uid->n);
}

void object_head_name(const struct object_head *head, struct buf *out)
{
    if (!head->name.n) {
        buf_printf(out, "%s%.*s", head->kind.n ? "an object of kind " : "an object", STR_ARG(head->kind));
        return;
    }
    buf_printf(out, "%.*s%s", STR_ARG(head->kind), head->kind.n ? " " : "");
    buf_printf(out, "%.*s%s%.*s", STR_ARG(head->ns), head->ns.n ? "/" : "", STR_ARG(head->name));
}
