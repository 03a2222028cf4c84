/* Kinds that a server serves, and resolution of names; see resource.h. */
#include "kube/kinds/catalogue.h"

#include <stdlib.h>
#include <strings.h>

#include "base/array.h"
#include "base/mem.h"

/* A parsed name of a kind, in any of its forms; empty parts are unspecified. */
struct kind_name {
    struct str whole, name, group, version;
    bool has_group, is_kind; /* is_kind: group/version/Kind */
};

enum match { MATCH_NONE, MATCH_SHORT, MATCH_OTHER, MATCH_PLURAL };

struct catalogue *catalogue_new(void)
{
    return NEW(struct catalogue);
}

struct catalogue *catalogue_ref(const struct catalogue *catalogue)
{
    struct catalogue *shared = (struct catalogue *)catalogue; /* only its reference count changes */
    shared->refs++;
    return shared;
}

void catalogue_free(struct catalogue *catalogue)
{
    if (!catalogue || catalogue->refs-- > 0) return;
    for (size_t i = 0; i < catalogue->count; i++) {
        struct catalogue_entry *entry = &catalogue->entries[i];
        resource_clear(&entry->resource);
        free(entry->singular);
        for (char **s = entry->short_names; s && *s; s++) free(*s);
        free(entry->short_names);
    }
    free(catalogue->entries);
    buf_clear(&catalogue->failures);
    buf_clear(&catalogue->silent);
    free(catalogue);
}

void catalogue_add_failure(struct catalogue *catalogue, const char *what, const char *cause)
{
    buf_printf(&catalogue->failures, "%s%s: %s", catalogue->failures.len ? "; " : "", what, cause);
    buf_printf(&catalogue->silent, "%s ", what);
}

void catalogue_add_failures_of(struct catalogue *catalogue, const struct catalogue *from)
{
    buf_str(&catalogue->failures, buf_slice(&from->failures));
    buf_str(&catalogue->silent, buf_slice(&from->silent));
}

static int compare(const void *left, const void *right)
{
    const struct catalogue_entry *a = left, *b = right;
    if (a->group_order != b->group_order) return a->group_order < b->group_order ? -1 : 1;
    if (a->version_order != b->version_order) return a->version_order < b->version_order ? -1 : 1;
    return a->sequence < b->sequence ? -1 : 1;
}

void catalogue_finish(struct catalogue *catalogue)
{
    if (catalogue->count) qsort(catalogue->entries, catalogue->count, sizeof *catalogue->entries, compare);
    buf_text(&catalogue->failures); /* terminates the text now, as readers must not change it */
}

const struct resource *catalogue_at(const struct catalogue *catalogue, size_t index)
{
    return index < catalogue->count ? &catalogue->entries[index].resource : NULL;
}

unsigned catalogue_verbs_at(const struct catalogue *catalogue, size_t index)
{
    return catalogue->entries[index].verbs;
}

const char *catalogue_failures(const struct catalogue *catalogue)
{
    return catalogue->failures.len ? catalogue->failures.data : "";
}

bool catalogue_is_partial(const struct catalogue *catalogue)
{
    return catalogue->partial;
}

void catalogue_add_copy(struct catalogue *catalogue, const struct catalogue_entry *entry)
{
    struct catalogue_entry *copy = array_add(catalogue->entries, catalogue->count);
    size_t count = 0, n = 0;
    while (entry->short_names && entry->short_names[count]) count++;
    *copy = *entry;
    resource_copy(&copy->resource, &entry->resource);
    if (entry->singular) copy->singular = xstrdup(entry->singular);
    if (!entry->short_names) return;
    copy->short_names = xcalloc(count + 1, sizeof *copy->short_names);
    for (; n < count; n++) copy->short_names[n] = xstrdup(entry->short_names[n]);
}

static bool same(struct str text, const char *other)
{
    return text.n == strlen(other) && strncasecmp(text.p, other, text.n) == 0;
}

static bool serves(const struct catalogue *catalogue, struct str group, struct str version)
{
    for (size_t i = 0; i < catalogue->count; i++)
        if (str_is(group, catalogue->entries[i].resource.group) &&
            str_is(version, catalogue->entries[i].resource.version))
            return true;
    return false;
}

/* Parses apps/v1/Deployment, v1/Pod; deployments.v1.apps, deployments.apps; pods. */
static struct kind_name parse_name(const struct catalogue *catalogue, struct str text)
{
    struct kind_name name = {.whole = text, .name = text};
    struct str rest = text, first, second;
    if (memchr(text.p, '/', text.n)) {
        name.has_group = name.is_kind = true;
        str_cut(&rest, '/', &first);
        str_cut(&rest, '/', &second);
        name.version = rest.p ? second : first;
        name.group = rest.p ? first : (struct str){0};
        name.name = rest.p ? rest : second;
        return name;
    }
    str_cut(&rest, '.', &first);
    if (!rest.p) return name;
    name.has_group = true;
    name.name = first;
    name.group = rest;
    struct str group = rest;
    str_cut(&group, '.', &second); /* the middle part is a version only if the group has it */
    if (group.p && serves(catalogue, group, second)) {
        name.version = second;
        name.group = group;
    }
    return name;
}

static enum match match(const struct catalogue_entry *entry, const struct kind_name *name)
{
    const struct resource *resource = &entry->resource;
    if (name->has_group && !str_is(name->group, resource->group)) return MATCH_NONE;
    if (name->version.n && !str_is(name->version, resource->version)) return MATCH_NONE;
    if (same(name->name, resource->plural)) return MATCH_PLURAL;
    if (same(name->name, resource->kind) || (entry->singular && same(name->name, entry->singular)))
        return MATCH_OTHER;
    for (char **s = entry->short_names; s && *s && !name->is_kind; s++)
        if (same(name->name, *s)) return MATCH_SHORT;
    return MATCH_NONE;
}

static bool same_resource(const struct catalogue_entry *a, const struct catalogue_entry *b)
{
    return strcmp(a->resource.group, b->resource.group) == 0 &&
           strcmp(a->resource.plural, b->resource.plural) == 0;
}

/* Chooses among entries in the order of preference: the first of a resource is its preferred version. The
 * core group's resource wins over others, as in kubectl (`events`); between other groups kubectl takes the
 * first, while this is an error here. */
static const struct catalogue_entry *choose(const struct catalogue *catalogue, const struct kind_name *name,
                                            enum match level, struct buf *candidates)
{
    const struct catalogue_entry *found = NULL, *last = NULL;
    for (size_t i = 0; i < catalogue->count; i++) {
        const struct catalogue_entry *entry = &catalogue->entries[i];
        if (match(entry, name) != level || (last && same_resource(entry, last))) continue;
        if (found && *found->resource.group == '\0') break;
        if (found && same_resource(entry, found)) continue;
        if (found) buf_puts(candidates, ", ");
        resource_name(&entry->resource, candidates);
        if (!found) found = entry;
        last = entry;
    }
    return found;
}

static bool is_ambiguous(const struct buf *candidates)
{
    return candidates->len && memchr(candidates->data, ',', candidates->len);
}

/* Returns whether the text may be part of a path. */
static bool is_word(struct str text)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
    for (size_t i = 0; i < text.n; i++)
        if (!memchr(good, text.p[i], sizeof good - 1)) return false;
    return text.n > 0 && *text.p != '.';
}

/* Resolves "example.com/v1/Widget" by a guess where discovery is forbidden, as client-go needs no discovery
 * for such a name. */
static bool believe(const struct catalogue *catalogue, const struct kind_name *name, struct resource *out)
{
    bool is_full = name->is_kind && is_word(name->name) && is_word(name->version) && *name->name.p >= 'A' &&
                   *name->name.p <= 'Z' && (!name->group.n || is_word(name->group));
    if (!is_full || !catalogue->unlisted[name->group.n > 0]) return false;
    *out = (struct resource){.group = xstrndup(name->group.n ? name->group.p : "", name->group.n),
                             .version = xstrndup(name->version.p, name->version.n),
                             .plural = plural_guess(name->name),
                             .kind = xstrndup(name->name.p, name->name.n),
                             .namespaced = SCOPE_ANY};
    return true;
}

bool catalogue_resolve(const struct catalogue *catalogue, struct str text, struct resource *out,
                       struct err *err)
{
    struct kind_name name = parse_name(catalogue, text);
    for (enum match level = MATCH_PLURAL; level > MATCH_NONE && name.name.n; level--) {
        struct buf candidates = {0};
        const struct catalogue_entry *entry = choose(catalogue, &name, level, &candidates);
        bool ambiguous = is_ambiguous(&candidates);
        if (ambiguous)
            err_set(err, ERR_INVALID, "\"%.*s\" is ambiguous: %s", STR_ARG(text), buf_text(&candidates));
        else if (entry)
            resource_copy(out, &entry->resource);
        buf_clear(&candidates);
        if (entry) return !ambiguous;
    }
    if (believe(catalogue, &name, out)) return true;
    return err_set(err, ERR_NOT_FOUND, "the server doesn't have a resource type \"%.*s\"", STR_ARG(text));
}

bool catalogue_group_lacks(const struct catalogue *catalogue, struct str text)
{
    struct kind_name name = parse_name(catalogue, text);
    bool has_group = false;
    if (!name.has_group || (name.version.n && !serves(catalogue, name.group, name.version))) return false;
    name.version = (struct str){0};
    for (size_t i = 0; i < catalogue->count; i++) {
        if (match(&catalogue->entries[i], &name) != MATCH_NONE) return false;
        has_group |= str_is(name.group, catalogue->entries[i].resource.group);
    }
    return has_group;
}

const char *catalogue_kind_meant(const struct catalogue *catalogue, struct str type)
{
    struct kind_name name = parse_name(catalogue, type);
    const char *meant = NULL;
    name.version = (struct str){0};
    name.is_kind = false; /* tries it as a name of kubectl's */
    for (size_t i = 0; i < catalogue->count; i++) {
        const struct catalogue_entry *entry = &catalogue->entries[i];
        if (match(entry, &name) == MATCH_NONE) continue;
        if (str_is(name.name, entry->resource.kind)) return NULL;
        if (!meant) meant = entry->resource.kind;
    }
    return meant;
}

bool resource_name_has_group(struct str name)
{
    struct str rest = name, part;
    if (memchr(name.p ? name.p : "", '.', name.n)) return true;
    size_t parts = 0;
    while (str_cut(&rest, '/', &part)) parts++;
    return parts == 3;
}
