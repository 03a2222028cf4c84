/* Methods of the admin socket that list and lift quarantine; see admin_engine.h. */
#include "app/admin/admin_engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/text/json_out.h"
#include "base/text/nearest.h"
#include "engine/engine_internal.h"

struct listing {
    const char *script;
    int64_t now_us;
    struct buf *out;
};

static void put_one(void *ctx, const struct script_quarantine_status *status)
{
    const struct listing *listing = ctx;
    json_open(listing->out, NULL, '{');
    json_text(listing->out, "script", listing->script);
    json_text(listing->out, "id", status->id);
    json_time(listing->out, "since", status->since_us);
    json_int(listing->out, "seconds", (listing->now_us - status->since_us) / 1000000);
    json_int(listing->out, "skipped", (int64_t)status->skipped);
    json_text(listing->out, "why", status->why);
    json_close(listing->out, '}');
}

void admin_put_quarantine(const struct admin_engine *admin, struct buf *out)
{
    const struct engine *engine = admin->engine;
    int64_t now_us = clock_wall_us(loop_clock(engine->loop));
    json_open(out, "quarantined", '[');
    for (size_t i = 0; i < engine->slots.script_count; i++)
        script_each_quarantine(engine->slots.scripts[i], put_one,
                               &(struct listing){script_name(engine->slots.scripts[i]), now_us, out});
    json_close(out, ']');
}

/* --- the end of it */

/* By copies, as what is lifted may be asked for again. */
struct item {
    struct script *script;
    char *name, *brief; /* "scripts/x/pods/1" and "x/pods/1" */
};

struct items {
    struct script *of; /* whose are being collected */
    struct item *list;
    size_t count;
};

static const char *last_part(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

static const char *id_of(const struct item *item)
{
    return item->name + strlen(script_name(item->script)) + 1;
}

static void collect_one(void *ctx, const struct script_quarantine_status *status)
{
    struct items *items = ctx;
    const char *script = script_name(items->of);
    *array_add(items->list, items->count) =
        (struct item){.script = items->of,
                      .name = xasprintf("%s/%s", script, status->id),
                      .brief = xasprintf("%s/%s", last_part(script), status->id)};
}

static void collect(const struct engine *engine, struct items *items)
{
    for (size_t i = 0; i < engine->slots.script_count; i++) {
        items->of = engine->slots.scripts[i];
        script_each_quarantine(items->of, collect_one, items);
    }
}

static void items_clear(struct items *items)
{
    for (size_t i = 0; i < items->count; i++) {
        free(items->list[i].name);
        free(items->list[i].brief);
    }
    free(items->list);
}

/* A whole name goes before a short one. */
enum fit { FIT_NONE, FIT_SHORT, FIT_WHOLE };

/* "scripts/x", its path and "x" are all of the script, with "/pods/1" one handler of it, as is "pods/1". */
static enum fit fit_of(const struct item *item, const char *target)
{
    const char *script = script_name(item->script), *path = script_path(item->script);
    size_t n = strlen(path);
    bool by_path =
        strncmp(target, path, n) == 0 && target[n] == '/' && strcmp(target + n + 1, id_of(item)) == 0;
    if (strcmp(target, script) == 0 || strcmp(target, path) == 0 || strcmp(target, item->name) == 0 ||
        by_path)
        return FIT_WHOLE;
    return strcmp(target, last_part(script)) == 0 || strcmp(target, item->brief) == 0 ||
                   strcmp(target, id_of(item)) == 0
               ? FIT_SHORT
               : FIT_NONE;
}

static enum fit best_fit(const struct items *items, const char *target)
{
    enum fit best = FIT_NONE;
    for (size_t i = 0; i < items->count; i++) {
        enum fit fit = fit_of(&items->list[i], target);
        if (fit > best) best = fit;
    }
    return best;
}

/* Of the items that fit so; all of them for FIT_NONE. */
static void put_names(const struct items *items, const char *target, enum fit fit, struct buf *out)
{
    enum { NAMED = 10 };
    size_t count = 0;
    for (size_t i = 0; i < items->count; i++) {
        if (fit && fit_of(&items->list[i], target) != fit) continue;
        if (count++ < NAMED) buf_printf(out, "%s%s", count > 1 ? ", " : "", items->list[i].name);
    }
    if (count > NAMED) buf_printf(out, " and %zu more", count - NAMED);
}

static void explain_unknown(const struct items *items, const char *target, struct buf *out)
{
    struct nearest nearest = nearest_to(str_of(target));
    buf_printf(out, "\"%s\" is not in quarantine", target);
    if (items->count == 0) {
        buf_puts(out, "; nothing is in quarantine");
        return;
    }
    for (size_t i = 0; i < items->count; i++) {
        const char *script = script_name(items->list[i].script);
        nearest_try(&nearest, items->list[i].name);
        nearest_try(&nearest, items->list[i].brief);
        nearest_try(&nearest, id_of(&items->list[i]));
        nearest_try(&nearest, script);
        nearest_try(&nearest, last_part(script));
    }
    if (nearest.name) buf_printf(out, ", did you mean \"%s\"?", nearest.name);
    buf_puts(out, "; in quarantine: ");
    put_names(items, target, FIT_NONE, out);
}

/* Returns whether all items that fit belong to one script; draining generations of it count too. */
static bool is_of_one(const struct items *items, const char *target, enum fit fit)
{
    const char *name = NULL;
    for (size_t i = 0; i < items->count; i++) {
        const char *own = script_name(items->list[i].script);
        if (fit_of(&items->list[i], target) != fit) continue;
        if (name && strcmp(name, own) != 0) return false;
        name = own;
    }
    return true;
}

/* 0: nothing, and `*refusal` says why. */
static size_t lift(const struct items *items, const char *target, struct buf *refusal)
{
    size_t count = 0;
    enum fit fit = best_fit(items, target);
    if (!fit) {
        explain_unknown(items, target, refusal);
        return 0;
    }
    if (!is_of_one(items, target, fit)) {
        buf_printf(refusal, "\"%s\" is ambiguous: ", target);
        put_names(items, target, fit, refusal);
        return 0;
    }
    for (size_t i = 0; i < items->count; i++)
        if (fit_of(&items->list[i], target) == fit)
            count += script_lift(items->list[i].script, id_of(&items->list[i]));
    return count;
}

void admin_lift(struct engine *engine, struct admin_call *question)
{
    const struct tape *tape;
    struct buf result = {0}, target = {0};
    struct items items = {0};
    size_t params = admin_call_params(question, &tape);
    if (params) buf_str(&target, tape_str(tape, tape_field(tape, params, STR("target"))));
    collect(engine, &items);
    size_t count = lift(&items, buf_text(&target), &result);
    items_clear(&items);
    if (count) {
        buf_printf(&result, "{\"lifted\":%zu}", count);
        admin_call_reply(question, buf_slice(&result));
    } else {
        admin_call_fail(question, buf_text(&result));
    }
    buf_clear(&result);
    buf_clear(&target);
}
