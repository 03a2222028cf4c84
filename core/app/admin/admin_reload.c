/* Reloads over the admin socket: requests and their progress; see admin_engine.h. */
#include <stdlib.h>
#include <string.h>

#include "app/admin/admin_engine.h"
#include "base/array.h"
#include "base/text/json_out.h"
#include "base/text/nearest.h"
#include "engine/engine_view.h"
#include "engine/reload/reload.h"
#include "script/inventory/inventory.h"
#include "script/params/declared.h"
#include "script/vm/bundle.h"
#include "script/vm/limits.h"

/* --- which scripts */

/* "scripts/x", "scripts/x.lua", or "x" when there is one alone of that name. */
static bool is_called(const struct managed_script *managed, const char *name)
{
    const char *last = strrchr(managed->name, '/');
    return strcmp(managed->name, name) == 0 || strcmp(managed->path, name) == 0 ||
           (last && strcmp(last + 1, name) == 0);
}

/* Short names are tried too, and all are listed: "hallo" is far from "scripts/hello". */
static void refuse_unknown(const struct managed_scripts *scripts, const char *name, struct err *err)
{
    enum { LISTED = 10 };
    struct nearest nearest = nearest_to(str_of(name));
    struct buf text = {0};
    for (size_t i = 0; i < scripts->count; i++) {
        const char *own = scripts->items[i]->name, *last = strrchr(own, '/');
        nearest_try(&nearest, own);
        nearest_try(&nearest, scripts->items[i]->path);
        if (last) nearest_try(&nearest, last + 1);
    }
    if (nearest.name) buf_printf(&text, ", did you mean \"%s\"?", nearest.name);
    buf_puts(&text, scripts->count ? "; there are " : "; there are none");
    for (size_t i = 0; i < scripts->count && i < LISTED; i++)
        buf_printf(&text, "%s%s", i ? ", " : "", scripts->items[i]->name);
    if (scripts->count > LISTED) buf_printf(&text, " and %zu more", scripts->count - LISTED);
    err_set(err, ERR_NOT_FOUND, "script \"%s\" not found%s", name, buf_text(&text));
    buf_clear(&text);
}

static struct managed_script *find_managed(const struct managed_scripts *scripts, const char *name,
                                           struct err *err)
{
    struct managed_script *found = managed_script_find(scripts, name);
    size_t count = 0;
    if (found) return found;
    for (size_t i = 0; i < scripts->count; i++) {
        if (!is_called(scripts->items[i], name)) continue;
        found = scripts->items[i];
        count++;
    }
    if (count == 1) return found;
    if (count > 1)
        err_set(err, ERR_INVALID, "%zu scripts match \"%s\"; use the full name", count, name);
    else
        refuse_unknown(scripts, name, err);
    return NULL;
}

/* --- state of one script */

/* Start of the SHA-256 of the file, as in the write log. */
static void put_hash(const struct bundle *bundle, struct buf *out)
{
    char hash[BUNDLE_HASH_LEN + 1];
    bundle_hash(bundle, hash);
    hash[12] = '\0';
    json_text(out, "hash", hash);
}

/* Prints the previous generation, which a rollback would activate. */
static void put_before(const struct managed_script *managed, struct buf *out)
{
    if (!managed->previous) return;
    json_open(out, "before", '{');
    json_int(out, "generation", (int64_t)managed->previous_number);
    json_time(out, "takenOver", managed->previous_us);
    put_hash(managed->previous, out);
    json_close(out, '}');
}

void admin_put_generations(const struct managed_script *managed, struct buf *out)
{
    json_int(out, "generation", managed->running ? (int64_t)script_generation(managed->running) : 0);
    if (managed->running) put_hash(script_bundle(managed->running), out);
    put_before(managed, out);
    json_int(out, "tried", (int64_t)managed->tried);
    json_time(out, "takenOver", managed->activated_us);
    json_int(out, "pauseMicroseconds", (int64_t)managed->pause_us);
    json_int(out, "draining", (int64_t)managed_script_draining_count(managed));
    admin_put_error(out, "reloadError", buf_slice(&managed->error));
    json_time(out, "reloadErrorTime", managed->error_us);
    json_bool(out, "fileIsRunning", managed->refused == NULL);
    json_bool(out, "returned", managed->rolled_back);
    const struct script *next = managed->incoming ? managed->incoming : managed->loading;
    if (!next) return;
    json_open(out, "candidate", '{');
    json_int(out, "generation", (int64_t)script_generation(next));
    json_time(out, "since", managed->began_us);
    json_text(out, "waitsFor", buf_text((struct buf *)&managed->waits_for));
    json_close(out, '}');
}

static void put(const struct managed_script *managed, struct buf *out)
{
    json_open(out, NULL, '{');
    json_text(out, "name", managed->name);
    json_text(out, "path", managed->path);
    admin_put_generations(managed, out);
    json_close(out, '}');
}

void admin_put_reloads(const struct admin_engine *admin, struct buf *out)
{
    const struct managed_scripts *scripts = engine_scripts(admin->engine);
    json_open(out, "scripts", '[');
    for (size_t i = 0; i < scripts->count; i++) put(scripts->items[i], out);
    json_close(out, ']');
}

/* --- requests */

/* The scripts that a call names; none: all. */
struct wanted_scripts {
    struct managed_script **scripts;
    size_t count;
};

static bool read_wanted(const struct managed_scripts *scripts, struct admin_call *call,
                        struct wanted_scripts *wanted, struct err *err)
{
    const struct tape *tape;
    size_t list = admin_call_params(call, &tape);
    if (!list) return true;
    if (tape_type(tape, list) != '[')
        return err_set(err, ERR_INVALID, "parameters must be a list of scripts");
    for (size_t v = tape_first(tape, list, NULL); v; v = tape_next(tape, list, v, NULL)) {
        struct buf name = {0};
        buf_str(&name, tape_str(tape, v));
        struct managed_script *managed = find_managed(scripts, buf_text(&name), err);
        buf_clear(&name);
        if (!managed) return false;
        *array_add(wanted->scripts, wanted->count) = managed;
    }
    return true;
}

static bool reload(struct managed_scripts *scripts, const struct wanted_scripts *wanted, struct err *err)
{
    for (size_t i = 0; i < wanted->count; i++) reload_scan_script(wanted->scripts[i], RELOAD_FORCED);
    if (wanted->count == 0) reload_scan(scripts, RELOAD_FORCED);
    return true;
}

static bool go_back(const struct wanted_scripts *wanted, struct err *err)
{
    if (wanted->count != 1) return err_set(err, ERR_INVALID, "rollback takes one script");
    return reload_rollback(wanted->scripts[0], "requested by kubelua rollback", err);
}

static void put_wanted(const struct managed_scripts *scripts, const struct wanted_scripts *wanted,
                       struct buf *out)
{
    struct managed_script *const *items = wanted->count ? wanted->scripts : scripts->items;
    size_t count = wanted->count ? wanted->count : scripts->count;
    json_open(out, NULL, '{');
    json_open(out, "scripts", '[');
    for (size_t i = 0; i < count; i++) put(items[i], out);
    json_close(out, ']');
    json_close(out, '}');
}

bool admin_begin_reload(struct engine *engine, struct admin_call *call)
{
    const char *method = admin_call_method(call);
    bool reloads = strcmp(method, "reload") == 0;
    struct managed_scripts *scripts = engine_scripts(engine);
    struct wanted_scripts wanted = {0};
    struct buf result = {0};
    struct err err;
    if (!reloads && strcmp(method, "rollback") != 0) return false;
    bool ok = !engine_is_ending(engine) || err_set(&err, ERR_CLOSED, "the engine is shutting down");
    ok = ok && read_wanted(scripts, call, &wanted, &err) &&
         (reloads ? reload(scripts, &wanted, &err) : go_back(&wanted, &err));
    if (ok) {
        put_wanted(scripts, &wanted, &result);
        admin_call_reply(call, buf_slice(&result));
    } else {
        admin_call_fail(call, err.text);
    }
    buf_clear(&result);
    free(wanted.scripts);
    return true;
}

/* --- Inventories of running scripts for `kubelua plan`, with the flags of the engine that matter when it
 * loads the same scripts */

/* Prints the running scripts that take the parameter: a reload into one that does not take it any more is
 * refused. */
static void put_takers(const struct managed_scripts *scripts, const struct param_given *given,
                       struct buf *out)
{
    json_open(out, "scripts", '[');
    for (size_t i = 0; i < scripts->count; i++) {
        const struct managed_script *managed = scripts->items[i];
        if (managed->running && param_is_taken(given, managed->running)) json_text(out, NULL, managed->name);
    }
    json_close(out, ']');
}

/* A secret is not shown; any other text does for a plan. */
static bool is_secret(const struct managed_scripts *scripts, const struct param_given *given)
{
    for (size_t i = 0; i < scripts->count; i++)
        if (scripts->items[i]->running && param_is_secret(given, scripts->items[i]->running)) return true;
    return false;
}

static void put_param(struct engine *engine, const struct param_given *given, struct buf *out)
{
    const struct managed_scripts *scripts = engine_scripts(engine);
    bool masked = is_secret(scripts, given);
    json_open(out, NULL, '{');
    if (given->script) json_text(out, "script", given->script);
    if (given->rule) json_text(out, "rule", given->rule);
    json_text(out, "name", given->name);
    json_text(out, "value", masked ? PARAM_SECRET : given->value);
    json_bool(out, "isJson", given->is_json && !masked);
    json_int(out, "order", given->order);
    json_text(out, "source", given->source);
    put_takers(scripts, given, out);
    json_close(out, '}');
}

/* Files are read again, as a reload would. */
static void put_params(struct engine *engine, struct buf *out)
{
    struct err ignored;
    const struct params *params = engine_host(engine)->params;
    struct params *again = params_read_again(params, &ignored);
    if (again) params = again;
    json_open(out, "params", '[');
    for (size_t i = 0; i < params_count(params); i++) {
        const struct param_given given = params_at(params, i);
        put_param(engine, &given, out);
    }
    json_close(out, ']');
    params_free(again);
}

static void put_settings(struct engine *engine, struct buf *out)
{
    const struct script_host *host = engine_host(engine);
    json_open(out, "settings", '{');
    json_text(out, "namespace", host->default_namespace);
    json_bool(out, "elects", host->elects);
    json_text(out, "leaseNamespace", host->lease.namespace_);
    json_text(out, "leaseName", host->lease.name);
    json_text(out, "lacksStateFiles", host->lacks_state_files ? host->lacks_state_files : "");
    json_open(out, "limits", '{');
    for (int i = 0; i < LIMIT_COUNT; i++) json_int(out, limit_name((enum limit)i), host->limits->values[i]);
    json_close(out, '}');
    json_open(out, "luaPath", '[');
    for (size_t i = 0; i < host->lua_path_count; i++) json_text(out, NULL, host->lua_path[i]);
    json_close(out, ']');
    put_params(engine, out);
    json_close(out, '}');
}

static void put_plan(const struct managed_script *managed, struct buf *out)
{
    char sources[BUNDLE_HASH_LEN + 1];
    bundle_sources_hash(script_bundle(managed->running), sources);
    json_open(out, NULL, '{');
    json_text(out, "name", managed->name);
    json_text(out, "path", managed->path);
    json_int(out, "generation", (int64_t)script_generation(managed->running));
    json_text(out, "sources", sources);
    json_bool(out, "trusted", script_is_trusted(managed->running));
    json_text(out, "dryRun", script_dry_run(managed->running));
    inventory_write_json(script_inventory(managed->running), "plan", out);
    json_close(out, '}');
}

void admin_put_plans(const struct admin_engine *admin, struct buf *out)
{
    const struct managed_scripts *scripts = engine_scripts(admin->engine);
    put_settings(admin->engine, out);
    json_open(out, "scripts", '[');
    for (size_t i = 0; i < scripts->count; i++)
        if (scripts->items[i]->running) put_plan(scripts->items[i], out);
    json_close(out, ']');
}
