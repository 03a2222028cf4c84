/* Keys of findings; see finding_key.h. */
#include "audit/found/finding_key.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "kube/kinds/resource.h"
#include "object/value/path.h"

/* --- the place */

/* Appends the name of the element; returns false if it has none. */
static bool put_element(struct buf *out, struct value element, uint32_t index)
{
    struct text text;
    struct str name = value_str(value_field(element, STR("name")), &text);
    if (name.n)
        buf_printf(out, "[name=%.*s]", STR_ARG(name));
    else
        buf_printf(out, "[%u]", index);
    return name.n > 0;
}

/* Appends the steps; returns false for steps that lead to several values, which have no name. */
static bool put_steps(struct buf *out, const struct path *path, struct value at)
{
    bool named = false;
    for (size_t i = 0; i < path_step_count(path); i++) {
        struct path_step step = path_step_at(path, i);
        if (step.kind == PATH_FIELD) {
            at = value_field(at, step.name);
            buf_printf(out, ".%.*s", STR_ARG(step.name));
        } else if (step.kind == PATH_INDEX) {
            at = value_item(at, step.index);
            named |= put_element(out, at, step.index);
        } else {
            return false;
        }
    }
    return named;
}

bool finding_place(struct value object, struct str path, struct buf *out)
{
    struct err ignored;
    size_t begin = out->len;
    struct path *compiled = path.n && memchr(path.p, '[', path.n) ? path_compile(path, &ignored) : NULL;
    if (!compiled) return false; /* a rule's path need not be a valid one */
    bool named = put_steps(out, compiled, object);
    path_free(compiled);
    if (!named) out->len = begin;
    return named;
}

/* --- the key */

static void put_without_digits(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] < '0' || text.p[i] > '9') buf_putc(out, text.p[i]);
}

/* Ignores the version of the kind, as objects are served in several. */
void finding_key(const struct audit_rule *rule, const struct audit_object *object,
                 const struct audit_row *row, char *out)
{
    struct buf text = {0};
    struct str group, version;
    api_version_cut(object->api_version, &group, &version);
    const struct str parts[] = {str_of(rule->id), group, object->kind, object->ns, object->name};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        buf_str(&text, parts[i]);
        buf_putc(&text, '\0');
    }
    if (row->path.n)
        buf_str(&text, row->place.n ? row->place : row->path);
    else
        put_without_digits(&text, row->message);
    buf_putc(&text, '\0');
    hash_lasting(buf_slice(&text), out);
    buf_clear(&text);
}
