/* Keys of refused objects, as one text; see refused.h. */
#include "informer/reflect/refused.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

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
