/* Refused objects as a list of keys and reasons; see refusals.h. */
#include "informer/reflect/refusals.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct refusal {
    STAILQ_ENTRY(refusal) link;
    char *ns, *name, *text;
};

static void free_one(struct refusal *one)
{
    free(one->ns);
    free(one->name);
    free(one->text);
    free(one);
}

/* A linear search will do: at most REFUSALS_KNOWN_MAX entries, and none in a healthy cluster. */
static struct refusal *find_refusal(const struct refusals *refusals, struct str ns, struct str name)
{
    struct refusal *one;
    STAILQ_FOREACH (one, &refusals->items, link)
        if (str_is(name, one->name) && str_is(ns, one->ns)) return one;
    return NULL;
}

static char *copy(struct str text)
{
    return xasprintf("%.*s", STR_ARG(text));
}

static void add(struct refusals *refusals, const struct lw_refusal *refusal)
{
    struct refusal *one = NEW(struct refusal);
    *one = (struct refusal){
        .ns = copy(refusal->ns), .name = copy(refusal->name), .text = xstrdup(refusal->err->text)};
    /* A zeroed struct is empty and valid, so the list is initialised with its first entry. */
    if (refusals->known++ == 0) STAILQ_INIT(&refusals->items);
    STAILQ_INSERT_TAIL(&refusals->items, one, link);
}

void refusals_note(struct refusals *refusals, const struct lw_refusal *refusal)
{
    bool has_name = !refusal->keyless && refusal->name.n;
    if (refusal->deleted) {
        /* The object is gone from the server, so its earlier refusal is over. Others cannot be assigned to an
         * object. */
        if (has_name) refusals_remove(refusals, refusal->ns, refusal->name);
        return;
    }
    struct refusal *one = has_name ? find_refusal(refusals, refusal->ns, refusal->name) : NULL;
    if (one) {
        free(one->text);
        one->text = xstrdup(refusal->err->text);
    } else if (has_name && refusals->known < REFUSALS_KNOWN_MAX) {
        add(refusals, refusal);
    } else {
        refusals->unknown++;
        free(refusals->unknown_text);
        refusals->unknown_text = xstrdup(refusal->err->text);
    }
}

void refusals_remove(struct refusals *refusals, struct str ns, struct str name)
{
    struct refusal *one = refusals->known ? find_refusal(refusals, ns, name) : NULL;
    if (!one) return;
    STAILQ_REMOVE(&refusals->items, one, refusal, link);
    free_one(one);
    refusals->known--;
}

size_t refusals_count(const struct refusals *refusals)
{
    return refusals->known + refusals->unknown;
}

const char *refusals_text(const struct refusals *refusals)
{
    if (refusals->known) return STAILQ_FIRST(&refusals->items)->text;
    return refusals->unknown_text ? refusals->unknown_text : "";
}

void refusals_put(struct buf *out, const char *name, size_t count, const char *text)
{
    bool one = count == 1;
    buf_printf(out, "%s: %zu object%s refused%s: %s", name, count, one ? " is" : "s are",
               one ? "" : ", such as", text);
}

void refusals_clear(struct refusals *refusals)
{
    while (refusals->known > 0) {
        struct refusal *one = STAILQ_FIRST(&refusals->items);
        STAILQ_REMOVE_HEAD(&refusals->items, link);
        free_one(one);
        refusals->known--;
    }
    refusals->unknown = 0;
    free(refusals->unknown_text);
    refusals->unknown_text = NULL;
}

void refusals_move(struct refusals *to, struct refusals *from)
{
    refusals_clear(to);
    to->unknown = from->unknown;
    to->unknown_text = from->unknown_text;
    to->known = from->known;
    /* A tail queue has a pointer into its own head, so the struct cannot be copied as a whole. */
    STAILQ_INIT(&to->items);
    if (from->known) STAILQ_CONCAT(&to->items, &from->items);
    *from = (struct refusals){0};
}

/* --- Keys of refused objects, as one string */

static void put_key(struct buf *keys, struct str ns, struct str name)
{
    buf_str(keys, ns);
    buf_putc(keys, '\0');
    buf_str(keys, name);
    buf_putc(keys, '\0');
}

static bool has_nul(struct str text)
{
    return str_has_nul(text);
}

void refused_add(struct delta_refused **refused, struct str ns, struct str name)
{
    if (!*refused) *refused = NEW(struct delta_refused);
    if (name.n == 0 || has_nul(ns) || has_nul(name))
        /* NUL separates keys, so such a name cannot be stored; then no object may be taken for deleted. */
        (*refused)->unknown = true;
    else
        put_key(&(*refused)->keys, ns, name);
}

bool refused_next(struct str *rest, struct str *ns, struct str *name)
{
    return str_cut(rest, '\0', ns) && str_cut(rest, '\0', name);
}

void refused_remove(struct delta_refused *refused, struct str ns, struct str name)
{
    if (!refused) return;
    struct buf kept = {0};
    struct str rest = buf_slice(&refused->keys), one_ns, one_name;
    while (refused_next(&rest, &one_ns, &one_name))
        if (!str_eq(one_ns, ns) || !str_eq(one_name, name)) put_key(&kept, one_ns, one_name);
    buf_clear(&refused->keys);
    refused->keys = kept;
}

void refused_free(struct delta_refused *refused)
{
    if (!refused) return;
    buf_clear(&refused->keys);
    free(refused);
}
