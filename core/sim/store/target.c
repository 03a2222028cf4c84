/* Paths of the API; see target.h. */
#include "sim/store/target.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { PARTS_MAX = 10 };

/* Splits the path at its slashes, in place; a path with an empty part has no target. */
static size_t split(char *path, char *parts[PARTS_MAX])
{
    size_t n = 0;
    char *rest = *path == '/' ? path + 1 : path, *part;
    while ((part = strsep(&rest, "/"))) {
        if (n == PARTS_MAX || (!*part && rest)) return 0;
        if (*part) parts[n++] = part;
    }
    return n;
}

/* Parses the parts after group and version: [namespaces NS] PLURAL [NAME [SUBRESOURCE]]. `stored`: of kinds
 * that have objects, or of the others. */
static bool parse_rest(struct sim_store *store, const char *group, const char *version, char **parts,
                       size_t n, bool stored, struct sim_target *target)
{
    const char *namespace_ = NULL;
    if (n >= 3 && strcmp(parts[0], "namespaces") == 0) {
        bool own =
            strcmp(parts[2], "status") == 0 || strcmp(parts[2], "finalize") == 0; /* of a Namespace itself */
        if (!own) {
            namespace_ = parts[1];
            parts += 2;
            n -= 2;
        }
    }
    if (n < 1) return false;
    sim_store_lock(store);
    target->served = sim_store_find(store, group, version, parts[0]);
    sim_store_unlock(store);
    if (!target->served || target->served->kind->hidden || target->served->kind->unstored == stored)
        return false;
    if (n > 3 && !target->served->kind->custom) return false; /* whose handler looks no further */
    if (namespace_ && !target->served->kind->namespaced) return false;
    if (n > 1 && !namespace_ && target->served->kind->namespaced) return false;
    target->namespace_ = xstrdup(namespace_);
    target->name = n > 1 ? xstrdup(parts[1]) : NULL;
    target->subresource = n > 2 ? xstrdup(parts[2]) : NULL;
    return true;
}

static bool parse(struct sim_store *store, const char *path, bool stored, struct sim_target *target)
{
    char *copy = xstrdup(path), *parts[PARTS_MAX];
    size_t n = split(copy, parts);
    bool ok = false;
    *target = (struct sim_target){0};
    if (n >= 3 && strcmp(parts[0], "api") == 0)
        ok = parse_rest(store, "", parts[1], parts + 2, n - 2, stored, target);
    else if (n >= 4 && strcmp(parts[0], "apis") == 0)
        ok = parse_rest(store, parts[1], parts[2], parts + 3, n - 3, stored, target);
    free(copy);
    return ok;
}

bool sim_target_parse(struct sim_store *store, const char *path, struct sim_target *target)
{
    return parse(store, path, true, target);
}

bool sim_target_parse_unstored(struct sim_store *store, const char *path, struct sim_target *target)
{
    return parse(store, path, false, target) && !target->name &&
           target->served->kind->namespaced == !!target->namespace_;
}

bool sim_target_is_known(struct sim_store *store, const char *path)
{
    struct str rest = str_of(path), first, group = {0}, version = {0}, plural = {0};
    bool found = str_starts(rest, STR("/api/")) || str_starts(rest, STR("/version/"));
    bool named = str_starts(rest, STR("/apis/"));
    str_cut(&rest, '/', &first); /* before the first slash */
    str_cut(&rest, '/', &first);
    if (named && (!str_cut(&rest, '/', &group) || !str_cut(&rest, '/', &version))) named = false;
    bool placed = named && str_starts(rest, STR("namespaces/")), misplaced = false;
    for (int n = 0; placed && n < 3; n++) str_cut(&rest, '/', &plural);
    sim_store_lock(store);
    for (size_t i = 0; named && i < store->served_count; i++) {
        const struct sim_kind *kind = store->served[i]->kind;
        if (kind->gone || kind->hidden || !str_is(group, kind->group) ||
            (kind->custom && !str_is(version, kind->version)))
            continue;
        found = true;
        misplaced = misplaced || (kind->custom && !kind->namespaced && str_is(plural, kind->plural));
    }
    sim_store_unlock(store);
    return found && !misplaced;
}

void sim_target_clear(struct sim_target *target)
{
    free(target->namespace_);
    free(target->name);
    free(target->subresource);
    *target = (struct sim_target){0};
}

char *sim_target_key(const struct sim_target *target, const char *name)
{
    return target->namespace_ ? xasprintf("%s/%s", target->namespace_, name) : xstrdup(name);
}
