/* Kinds known only from their objects; see catalogue.h. */
#include <ctype.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/text/nearest.h"
#include "kube/kinds/catalogue.h"

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
    unsigned next = 1; /* 0 is the core group */
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
    size_t sequence = catalogue->count;
    *array_add(catalogue->entries, catalogue->count) = (struct catalogue_entry){
        .resource = {text_of(group), text_of(version), plural_guess(kind), text_of(kind), namespaced},
        .group_order = order,
        .sequence = sequence,
    };
}

/* --- the kind that a misspelt name means */

bool catalogue_nearest(const struct catalogue *catalogue, struct str name, struct buf *out)
{
    struct str bare = name, rest = name;
    if (memchr(name.p ? name.p : "", '/', name.n))
        while (str_cut(&rest, '/', &bare)) continue;
    else
        str_cut(&rest, '.', &bare);
    const struct catalogue_entry *best = NULL;
    struct nearest nearest = nearest_to(bare);
    for (size_t i = 0; i < catalogue->count; i++) {
        const struct catalogue_entry *entry = &catalogue->entries[i];
        const char *before = nearest.name;
        nearest_try(&nearest, entry->resource.plural);
        nearest_try(&nearest, entry->resource.kind);
        if (nearest.name != before) best = entry;
    }
    if (best) resource_name(&best->resource, out);
    return best != NULL;
}

void catalogue_explain(const struct catalogue *catalogue, struct str name, struct err *err)
{
    if (err->code != ERR_NOT_FOUND) return;
    struct buf near = {0}, text = {0};
    const char *failures = catalogue_failures(catalogue);
    buf_puts(&text, err->text);
    if (catalogue_nearest(catalogue, name, &near))
        buf_printf(&text, ", did you mean \"%s\"?", buf_text(&near));
    if (*failures) buf_printf(&text, " (not all groups responded: %s)", failures);
    err_set(err, ERR_NOT_FOUND, "%s", buf_text(&text));
    buf_clear(&near);
    buf_clear(&text);
}

/* --- groups that did not respond */

/* "group/version/Kind", "plural.group" and "plural.version.group". */
static bool is_of(struct str name, struct str group, struct str version)
{
    struct str rest = name, part;
    bool has_slash = memchr(name.p, '/', name.n);
    str_cut(&rest, has_slash ? '/' : '.', &part);
    if (has_slash) {
        bool is_group = str_eq(part, group);
        return str_cut(&rest, '/', &part) && is_group && str_eq(part, version);
    }
    if (str_eq(rest, group)) return true;
    return str_cut(&rest, '.', &part) && str_eq(part, version) && rest.p && str_eq(rest, group);
}

/* `silent`: "/apis", "apps/v1", or "v1" of the core group. */
static bool may_be_in(const struct catalogue *catalogue, struct str name, struct str silent)
{
    bool has_group = resource_name_has_group(name);
    bool is_of_core = !has_group && name.n && memchr(name.p, '/', name.n); /* "v1/Pod" */
    if (str_eq(silent, STR("/api"))) return !has_group && !catalogue->unlisted[0];
    if (str_eq(silent, STR("/apis"))) return !is_of_core && !catalogue->unlisted[1];
    struct str version = silent, group;
    str_cut(&version, '/', &group);
    if (!version.p) return !has_group;
    return has_group ? is_of(name, group, version) : !is_of_core && catalogue->partial;
}

bool catalogue_may_have(const struct catalogue *catalogue, struct str name)
{
    struct str rest = buf_slice(&catalogue->silent), silent;
    while (rest.n && str_cut(&rest, ' ', &silent))
        if (may_be_in(catalogue, name, silent)) return true;
    return false;
}

/* --- Plurals (see catalogue.h), by the rules of meta.UnsafeGuessKindToResource */

char *plural_guess(struct str kind)
{
    struct buf out = {0};
    for (size_t i = 0; i < kind.n; i++) buf_putc(&out, (char)tolower((unsigned char)kind.p[i]));
    struct str lower = buf_slice(&out);
    if (str_ends(lower, STR("s")) || str_ends(lower, STR("x")) || str_ends(lower, STR("ch"))) {
        buf_puts(&out, "es");
    } else if (str_ends(lower, STR("y"))) {
        out.len--;
        buf_puts(&out, "ies");
    } else {
        buf_putc(&out, 's');
    }
    return buf_take(&out);
}
