/* Drives the engine of a test: start and stop, its clock, its scripts; see spec_engine.h. */
#include "app/specs/spec_engine.h"

#include <stdlib.h>
#include <string.h>

#include "app/options/options.h"
#include "app/specs/replay.h"
#include "app/specs/spec_clusters.h"
#include "app/specs/spec_sinks.h"
#include "app/specs/spec_states.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "engine/reload/reload.h"
#include "script/vm/bundle.h"

/* Limit of turns at one instant: a script that keeps scheduling work never settles. */
enum { TURNS_MAX = 10000 };

/* --- callbacks of the engine */

/* Records a misspelt kind, which ends the load. A replay reports itself which kinds its recording lacks
 * (replay_kinds.h). */
static bool on_unknown_kind(void *ctx, const char *place, bool may_come, const struct err *err)
{
    struct spec_engine *engine = ctx;
    if (!may_come && engine->unknown.code == ERR_NONE) {
        engine->unknown = *err;
        err_wrap(&engine->unknown, "%s", place);
    }
    return !may_come || engine->settings.not_sent;
}

static void on_main_done(void *ctx, enum script_result result, int exit_code)
{
    spec_engine_note_main(ctx, result == SCRIPT_OK ? "ok" : "failed", exit_code);
}

/* --- start */

static bool read_params(struct spec_engine *engine, const struct spec_engine_options *options,
                        struct err *err)
{
    engine->params = params_new();
    for (size_t i = 0; i < options->param_count; i++)
        if (!params_add(engine->params, options->params[i], err)) return false;
    return true;
}

/* `live` prints and logs as an engine does. */
static struct engine_settings settings_of(struct spec_engine *engine,
                                          const struct spec_engine_options *options)
{
    struct leader_flags flags = {0};
    leader_flags(&flags); /* sets the defaults */
    struct engine_settings settings = {
        .limits = &engine->limits,
        .params = engine->params,
        .trusted = options->trusted,
        .trusted_count = options->trusted_count,
        .lua_path = options->lua_path,
        .lua_path_count = options->lua_path_count,
        .default_namespace = engine->namespace_,
        .lease = leader_flags_lease(&flags, "default"),
        .elects = options->elects,
        .runs_rules = !options->live,
        .knows_missing_kinds = options->live, /* replay_kinds.h */
        .write_mode = options->live ? WRITES_RECORDED : WRITES_SENT,
        .not_sent = options->live ? "Not sent because this is a replay" : NULL,
        .reload_timeout_ms = 1, /* the clock stands still meanwhile */
        .identity = "kubelua-test",
    };
    if (!options->live)
        settings.hooks = (struct script_hooks){.print = spec_engine_note_print,
                                               .failed = spec_engine_note_failure,
                                               .ctx = engine,
                                               .metrics_page = engine};
    return settings;
}

void spec_engine_enter(struct spec_engine *engine)
{
    if (engine->settings.hooks.print) log_capture(spec_engine_note_log, engine);
}

void spec_engine_leave(void)
{
    log_capture(NULL, NULL);
}

void spec_engine_free(struct spec_engine *engine)
{
    if (!engine) return;
    spec_engine_enter(engine);
    spec_replay_close(engine->replay);
    if (engine->engine) {
        engine_close(engine->engine);
        engine_free(engine->engine);
    }
    spec_sinks_free(engine->sinks);
    spec_web_free(engine->servers);
    spec_cluster_free(engine->home);
    spec_clusters_free(engine);
    loop_free(engine->loop);
    buf_clear(&engine->records);
    params_free(engine->params);
    free(engine->namespace_);
    free(engine);
    spec_engine_leave();
}

static bool make_engine(struct spec_engine *engine, struct err *err)
{
    static char server[] = "http://cluster.test";
    static struct cluster_config inside; /* the same each time */
    struct kube_client_options client;
    engine->cluster = engine->home = spec_cluster_new(&(struct spec_cluster_options){
        .loop = engine->loop, .written = spec_engine_note_write, .ctx = engine});
    engine->servers = spec_web_new(&(struct spec_web_options){
        .loop = engine->loop, .on_request = spec_engine_note_request, .ctx = engine});
    test_cluster_connect(engine->cluster, server, &inside, &client);
    struct cluster *cluster = cluster_new(&(const struct cluster_options){.engine_loop = engine->loop,
                                                                          .io_loop = engine->loop,
                                                                          .config = &inside,
                                                                          .server = client.local,
                                                                          .settings = &engine->settings},
                                          err);
    struct cluster **others = xcalloc(engine->other_count + 1, sizeof(struct cluster *));
    /* Their configuration is plain: nothing of it can fail. */
    for (size_t i = 0; cluster && i < engine->other_count; i++)
        must((others[i] = spec_cluster_connect(&engine->others[i], cluster, false, err)) != NULL);
    engine->states = spec_states_new(engine->loop);
    engine->sinks = spec_sinks_new(engine->loop);
    engine->engine = engine_new(
        &(const struct engine_options){
            .is_driven = true,
            .loop = engine->loop,
            .cluster = cluster,
            .others = others,
            .other_count = engine->other_count,
            .settings = &engine->settings,
            .servers = spec_web_server(engine->servers),
            .state_store = engine->states,
            .sinks = engine->sinks,
            .watcher = {.unknown_kind = on_unknown_kind, .main_done = on_main_done, .ctx = engine}},
        err);
    free(others);
    if (!engine->engine) return false;
    engine_refresh_kinds(engine->engine);
    return true;
}

struct spec_engine *spec_engine_open(const struct spec_engine_options *options, struct err *err)
{
    if (options->wall_us < 0 || options->wall_us >= TEST_CLOCK_END_US) {
        err_set(err, ERR_INVALID, "the test clock must start between 1970 and 2199");
        return NULL;
    }
    struct spec_engine *engine = NEW(struct spec_engine);
    engine->loop = loop_new_by_hand(options->wall_us);
    engine->opened_ms = clock_now_ms(loop_clock(engine->loop));
    engine->namespace_ = xstrdup(options->namespace_);
    engine->limits = options->limits ? *options->limits : limits_default;
    bool ok = read_params(engine, options, err);
    spec_clusters_new(engine, options->clusters, options->cluster_count);
    engine->settings = settings_of(engine, options);
    spec_engine_enter(engine);
    ok = ok && make_engine(engine, err);
    spec_engine_leave();
    if (ok && spec_engine_settle(engine, err)) return engine;
    spec_engine_free(engine);
    return NULL;
}

/* --- the clock */

static bool settle(struct spec_engine *engine, struct err *err)
{
    for (int i = 0; i < TURNS_MAX; i++) {
        if (!loop_settle(engine->loop, TURNS_MAX)) break;
        if (!spec_clusters_pump(engine)) return true;
    }
    return err_set(err, ERR_LIMIT,
                   "the script does not settle: still busy after %d turns without the clock advancing",
                   TURNS_MAX);
}

bool spec_engine_settle(struct spec_engine *engine, struct err *err)
{
    spec_engine_enter(engine);
    bool ok = settle(engine, err);
    engine_drain(engine->engine);
    spec_engine_leave();
    return ok;
}

bool spec_engine_advance(struct spec_engine *engine, int64_t ms, struct err *err)
{
    struct clock *clock = loop_clock(engine->loop);
    if (ms > (TEST_CLOCK_END_US - clock_wall_us(clock)) / 1000)
        return err_set(err, ERR_LIMIT, "the test clock cannot go beyond the year 2199");
    int64_t end_ms = clock_now_ms(clock) + ms, due_ms;
    if (!spec_engine_settle(engine, err)) return false;
    while ((due_ms = clock_next_due_ms(clock)) <= end_ms) {
        loop_set_clock(engine->loop, due_ms);
        if (!spec_engine_settle(engine, err)) return false;
    }
    loop_set_clock(engine->loop, end_ms);
    return true;
}

int64_t spec_engine_elapsed_ms(const struct spec_engine *engine)
{
    return clock_now_ms(loop_clock(engine->loop)) - engine->opened_ms;
}

/* --- the script */

struct script *spec_engine_script(const struct spec_engine *engine, size_t i)
{
    const struct managed_scripts *scripts = engine_scripts(engine->engine);
    return i < scripts->count ? scripts->items[i]->running : NULL;
}

/* Removes a script that failed to load, so that the next script of this environment does not fail for its
 * unknown kind. */
static void forget_script(struct spec_engine *engine, const char *name)
{
    struct err ignored;
    spec_engine_enter(engine);
    reload_remove(managed_script_find(engine_scripts(engine->engine), name));
    spec_engine_leave();
    spec_engine_settle(engine, &ignored);
    engine->unknown = (struct err){0};
}

/* Decides elections at once, before another script can take part in one. */
bool spec_engine_load(struct spec_engine *engine, const char *path, const char *name, struct err *err)
{
    spec_engine_enter(engine);
    bool ok = engine_add(engine->engine, path, name, err);
    if (ok) {
        leaders_decide(engine_cluster(engine->engine)->parts.leaders, true);
        engine_begin(engine->engine);
    }
    spec_engine_leave();
    ok = ok && spec_engine_settle(engine, err);
    if (ok && engine->unknown.code != ERR_NONE) {
        *err = engine->unknown;
        ok = false;
        forget_script(engine, name);
    }
    return ok;
}

/* Wins new leases, as at the beginning. */
static bool settle_leases(struct spec_engine *engine, size_t leases, struct err *err)
{
    if (leaders_count(engine_cluster(engine->engine)->parts.leaders) == leases) return true;
    leaders_decide(engine_cluster(engine->engine)->parts.leaders, true);
    return spec_engine_settle(engine, err);
}

/* Refuses a generation that is not ready at once: the clock stands still, so it never will be. */
bool spec_engine_reload(struct spec_engine *engine, const char *name, struct str text, struct handover *done,
                        struct err *err)
{
    struct managed_script *managed = managed_script_find(engine_scripts(engine->engine), name);
    size_t leases = leaders_count(engine_cluster(engine->engine)->parts.leaders);
    if (!managed) return err_set(err, ERR_NOT_FOUND, "no script loaded; use test.load or env:load");
    uint64_t made = managed->made;
    spec_engine_enter(engine);
    reload_text(managed, text);
    spec_engine_leave();
    bool ok = spec_engine_settle(engine, err);
    spec_engine_enter(engine);
    reload_refuse_waiting(managed, "not ready");
    spec_engine_leave();
    if (!ok) return false;
    if (managed->made == made) return err_set(err, ERR_INVALID, "%s", buf_text(&managed->error));
    *done = managed->done;
    return settle_leases(engine, leases, err);
}

/* --- the cluster */

bool spec_engine_put(struct spec_engine *engine, struct str json, struct err *err)
{
    bool ok = sim_inside_put(spec_cluster_inside(engine->cluster), json, err);
    if (memmem(json.p, json.n, "CustomResourceDefinition", 24)) engine_refresh_kinds(engine->engine);
    return ok;
}

bool spec_engine_remove(struct spec_engine *engine, const char *path)
{
    return sim_inside_remove(spec_cluster_inside(engine->cluster), path);
}

bool spec_engine_add_kind(struct spec_engine *engine, const struct resource *r, struct err *err)
{
    sim_inside_add_kind(spec_cluster_inside(engine->cluster), r->group, r->version, r->plural, r->kind,
                        r->namespaced);
    engine_refresh_kinds(engine->engine);
    return spec_engine_settle(engine, err);
}
