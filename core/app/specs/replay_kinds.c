/* Compares the kinds that scripts name with those of a recording; see replay_kinds.h. */
#include "app/specs/replay_kinds.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "base/mem.h"
#include "kube/kinds/kinds.h"
#include "script/inventory/inventory.h"
#include "script/server/declared.h"

struct missing {
    char *kind;
    struct buf places; /* "scripts/x.lua:3, scripts/y.lua:7" */
};

struct comparison {
    const struct spec_replay *replay;
    const struct kinds *kinds;
    struct missing *missing;
    size_t count;
    bool has_any; /* the recording has a kind that a script names */
};

static struct missing *missing_of(struct comparison *c, const char *kind)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->missing[i].kind, kind) == 0) return &c->missing[i];
    struct missing *missing = array_add(c->missing, c->count);
    *missing = (struct missing){.kind = xstrdup(kind)};
    return missing;
}

/* Returns whether the place is one of the entries between ", ". */
static bool is_listed(struct buf *places, struct str place)
{
    struct str rest = buf_slice(places), entry;
    while (str_cut(&rest, ',', &entry))
        if (str_eq(str_trim(entry), place)) return true;
    return false;
}

static void note(struct comparison *c, const char *kind, const struct script *script,
                 const struct inventory_entry *at)
{
    struct buf place = {0}, *places = &missing_of(c, kind)->places;
    if (at && at->file)
        buf_printf(&place, "%s:%d", at->file, at->line);
    else
        buf_puts(&place, script_path(script));
    if (!is_listed(places, buf_slice(&place)))
        buf_printf(places, "%s%s", places->len ? ", " : "", buf_text(&place));
    buf_clear(&place);
}

/* Compares a kind; `resource` is NULL if the cluster of the replay does not have it either. */
static void compare(struct comparison *c, const char *kind, const struct resource *resource,
                    const struct script *script, const struct inventory_entry *at)
{
    struct buf name = {0};
    if (resource && spec_replay_has(c->replay, resource)) {
        c->has_any = true;
        return;
    }
    if (resource)
        resource_name(resource, &name);
    else
        buf_puts(&name, kind);
    note(c, buf_text(&name), script, at);
    buf_clear(&name);
}

/* Compares a declared read. "*:get" and "*.example.com:get" name no kind, and may mean one of the recording.
 */
static void compare_read(struct comparison *c, const struct script *script, const struct declared *read)
{
    struct err err;
    struct resource resource;
    if (strcmp(read->kind, "*") == 0 || read->group) {
        c->has_any = true;
        return;
    }
    bool known = kinds_resolve(c->kinds, str_of(read->kind), &resource, &err);
    compare(c, read->kind, known ? &resource : NULL, script,
            inventory_find(script_inventory(script), INVENTORY_READ, str_of(read->text)));
    if (known) resource_clear(&resource);
}

static void compare_script(struct comparison *c, const struct script *script)
{
    for (size_t i = 0; i < script_claim_count(script); i++) {
        const struct informer_claim *claim = script_claim(script, i);
        if (claim_is_suspended(claim)) continue;
        compare(c, claim_spec(claim)->kind, claim_resource(claim), script, script_claim_place(script, i));
    }
    const struct declarations *reads = script_declared_reads(script);
    for (size_t i = 0; i < reads->count; i++) compare_read(c, script, &reads->items[i]);
}

/* --- log */

static void warn_of(const struct missing *missing)
{
    log_warn("Recording has no stream for this kind, its informer is empty", F("kind", missing->kind),
             FS("script", buf_slice(&missing->places)));
}

static bool refuse(const struct comparison *c, const char *recording, struct err *err)
{
    struct buf wanted = {0}, there = {0};
    for (size_t i = 0; i < c->count; i++)
        buf_printf(&wanted, "%s%s (%s)", i ? ", " : "", c->missing[i].kind, buf_text(&c->missing[i].places));
    spec_replay_name_kinds(c->replay, &there);
    err_set(err, ERR_INVALID, "%s: contains %s, but none of the kinds that the scripts use: %s", recording,
            buf_text(&there), buf_text(&wanted));
    buf_clear(&wanted);
    buf_clear(&there);
    return false;
}

bool replay_kinds_check(const struct spec_engine *engine, const struct spec_replay *replay,
                        const char *recording, struct err *err)
{
    struct comparison c = {.replay = replay, .kinds = engine_cluster(engine->engine)->parts.kinds};
    struct script *script;
    for (size_t i = 0; (script = spec_engine_script(engine, i)); i++) compare_script(&c, script);
    bool ok = c.has_any || c.count == 0 || refuse(&c, recording, err);
    for (size_t i = 0; i < c.count; i++) {
        if (ok) warn_of(&c.missing[i]);
        free(c.missing[i].kind);
        buf_clear(&c.missing[i].places);
    }
    free(c.missing);
    return ok;
}
