/* Kinds that are known by their objects alone; see catalogue.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "kube/kinds/catalogue.h"
#include "kube/kinds/plural.h"

static char *text_of(struct str text)
{
    return xstrndup(text.p ? text.p : "", text.n);
}

static bool has(const struct catalogue *catalogue, struct str group, struct str version, struct str kind)
{
    for (size_t i = 0; i < catalogue->count; i++) {
        const struct resource *resource = &catalogue->entries[i].resource;
        if (str_is(kind, resource->kind) && str_is(group, resource->group) &&
            str_is(version, resource->version))
            return true;
    }
    return false;
}

static unsigned next_group(const struct catalogue *catalogue)
{
    unsigned next = 1; /* 0 is the core group's */
    for (size_t i = 0; i < catalogue->count; i++)
        if (catalogue->entries[i].group_order >= next) next = catalogue->entries[i].group_order + 1;
    return next;
}

void catalogue_add_guess(struct catalogue *catalogue, struct str api_version, struct str kind,
                         bool namespaced)
{
    struct str group, version;
    api_version_cut(api_version, &group, &version);
    if (has(catalogue, group, version, kind)) return;
    unsigned order = next_group(catalogue);
    catalogue->entries = xrealloc(catalogue->entries, (catalogue->count + 1) * sizeof *catalogue->entries);
    catalogue->entries[catalogue->count] = (struct catalogue_entry){
        .resource = {text_of(group), text_of(version), plural_guess(kind), text_of(kind), namespaced},
        .group_order = order,
        .sequence = catalogue->count,
    };
    catalogue->count++;
}
