/* Discovery documents into catalogue entries; see catalogue.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "kube/kinds/catalogue.h"

static char *text_of(struct str text)
{
    return xstrndup(text.p ? text.p : "", text.n);
}

static struct str field_text(const struct tape *tape, size_t at, struct str key)
{
    return tape_str(tape, tape_field(tape, at, key));
}

static char **text_list(const struct tape *tape, size_t array)
{
    size_t count = 0;
    char **list = NULL;
    for (size_t at = tape_first(tape, array, NULL); at; at = tape_next(tape, array, at, NULL)) {
        struct str text = tape_str(tape, at);
        if (!text.n || str_has_nul(text)) continue;
        *array_add(list, count) = text_of(text);
    }
    if (list) *array_add(list, count) = NULL;
    return list;
}

const char *const kind_verbs[KIND_VERBS] = {"create", "delete", "deletecollection", "get",
                                            "list",   "patch",  "update",           "watch"};

/* Verbs that nobody knows are left out. */
static unsigned verb_bits(const struct tape *tape, size_t array)
{
    unsigned bits = 0;
    for (size_t at = tape_first(tape, array, NULL); at; at = tape_next(tape, array, at, NULL))
        for (unsigned i = 0; i < KIND_VERBS; i++)
            if (str_is(tape_str(tape, at), kind_verbs[i])) bits |= 1U << i;
    return bits;
}

/* Resource as a document describes it; texts of its tape. */
struct found_resource {
    struct str group, version, plural, kind, singular;
    size_t at; /* its object on the tape */
    bool namespaced;
    unsigned group_order, version_order;
};

static void add(struct catalogue *catalogue, const struct tape *tape, const struct found_resource *found)
{
    if (!found->plural.n || !found->kind.n) return;
    if (memchr(found->plural.p, '/', found->plural.n)) return; /* a subresource */
    const struct str texts[] = {found->group, found->version, found->plural, found->kind, found->singular};
    for (size_t i = 0; i < ARRAY_LEN(texts);
         i++) /* a text with a NUL byte would be the name of another resource */
        if (str_has_nul(texts[i])) return;
    size_t sequence = catalogue->count;
    *array_add(catalogue->entries, catalogue->count) = (struct catalogue_entry){
        .resource = {text_of(found->group), text_of(found->version), text_of(found->plural),
                     text_of(found->kind), found->namespaced},
        .singular = found->singular.n ? text_of(found->singular) : NULL,
        .short_names = text_list(tape, tape_field(tape, found->at, STR("shortNames"))),
        .verbs = verb_bits(tape, tape_field(tape, found->at, STR("verbs"))),
        .group_order = found->group_order,
        .version_order = found->version_order,
        .sequence = sequence,
    };
}

static void add_version(struct catalogue *catalogue, const struct tape *tape, size_t at,
                        struct found_resource *found)
{
    size_t resources = tape_field(tape, at, STR("resources"));
    found->version = field_text(tape, at, STR("version"));
    for (size_t r = tape_first(tape, resources, NULL); r; r = tape_next(tape, resources, r, NULL)) {
        found->at = r;
        found->plural = field_text(tape, r, STR("resource"));
        found->kind = field_text(tape, tape_field(tape, r, STR("responseKind")), STR("kind"));
        found->singular = field_text(tape, r, STR("singularResource"));
        found->namespaced = str_is(field_text(tape, r, STR("scope")), "Namespaced");
        add(catalogue, tape, found);
    }
    if (!str_is(field_text(tape, at, STR("freshness")), "Stale")) return;
    struct buf what = {0};
    buf_printf(&what, "%.*s%s%.*s", STR_ARG(found->group), found->group.n ? "/" : "",
               STR_ARG(found->version));
    catalogue_add_failure(catalogue, buf_text(&what), "the server's discovery information is stale");
    buf_clear(&what);
}

void catalogue_add_group(struct catalogue *catalogue, const struct tape *tape, size_t at, unsigned order)
{
    struct found_resource found = {
        .group = field_text(tape, tape_field(tape, at, STR("metadata")), STR("name")), .group_order = order};
    size_t versions = tape_field(tape, at, STR("versions"));
    for (size_t v = tape_first(tape, versions, NULL); v; v = tape_next(tape, versions, v, NULL)) {
        add_version(catalogue, tape, v, &found);
        found.version_order++;
    }
}

void catalogue_add_aggregated(struct catalogue *catalogue, const struct tape *tape, unsigned first_group)
{
    size_t items = tape_field(tape, tape_root(tape), STR("items"));
    for (size_t at = tape_first(tape, items, NULL); at; at = tape_next(tape, items, at, NULL))
        catalogue_add_group(catalogue, tape, at, first_group++);
}

void catalogue_add_legacy(struct catalogue *catalogue, const struct tape *tape, struct str group,
                          struct str version, unsigned group_order, unsigned version_order)
{
    size_t resources = tape_field(tape, tape_root(tape), STR("resources"));
    struct found_resource found = {
        .group = group, .version = version, .group_order = group_order, .version_order = version_order};
    for (size_t r = tape_first(tape, resources, NULL); r; r = tape_next(tape, resources, r, NULL)) {
        found.at = r;
        found.plural = field_text(tape, r, STR("name"));
        found.kind = field_text(tape, r, STR("kind"));
        found.singular = field_text(tape, r, STR("singularName"));
        found.namespaced = tape_bool(tape, tape_field(tape, r, STR("namespaced")), false);
        add(catalogue, tape, &found);
    }
}
