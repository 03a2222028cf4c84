/* Drives the engine of a test: start and stop, its clock, its scripts; see spec_engine.h. */
#include "app/specs/spec_engine.h"

#include <stdlib.h>
#include <string.h>

#include "app/options/options.h"
#include "app/specs/replay.h"
#include "app/specs/spec_calls.h"
#include "app/specs/spec_cluster.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/reload/reload.h"
#include "script/vm/bundle.h"

/* A script that is busy with itself never comes to rest: it is told after so many turns without any time. */
enum { TURNS_MAX = 10000 };

/* --- what the engine tells */

/* A mistake is the end of the load. A replay tells itself what its recording lacks (replay_kinds.h). */
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
    engine->params = rule_params_new();
    for (size_t i = 0; i < options->param_count; i++)
        if (!rule_params_add(engine->params, options->params[i], err)) return false;
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

static void free_engine(struct spec_engine *engine)
{
    if (!engine) return;
    spec_engine_enter(engine);
    spec_replay_close(engine->replay);
    if (engine->engine) {
        engine_close(engine->engine);
        engine_free(engine->engine);
    }
    spec_web_free(engine->servers);
    spec_cluster_free(engine->cluster);
    loop_free(engine->loop);
    buf_clear(&engine->records);
    rule_params_free(engine->params);
    free(engine->namespace_);
    free(engine);
    spec_engine_leave();
}

static bool make_engine(struct spec_engine *engine, struct err *err)
{
    static char server[] = "http://cluster.test";
    struct cluster_config inside;
    struct kube_client_options client;
    engine->cluster = spec_cluster_new(&(struct spec_cluster_options){
        .loop = engine->loop, .written = spec_engine_note_write, .ctx = engine});
    engine->servers = spec_web_new(
        &(struct spec_web_options){.loop = engine->loop, .asked = spec_engine_note_request, .ctx = engine});
    test_cluster_connect(engine->cluster, server, &inside, &client);
    engine->engine = engine_new(
        &(const struct engine_options){
            .mode = ENGINE_DRIVEN,
            .settings = &engine->settings,
            .cluster = &inside,
            .watcher = {.unknown_kind = on_unknown_kind, .main_done = on_main_done, .ctx = engine},
            .loop = engine->loop,
            .server = client.local,
            .others = spec_web_server(engine->servers)},
        err);
    if (!engine->engine) return false;
    engine_refresh_kinds(engine->engine);
    return true;
}

static struct spec_engine *open_engine(const struct spec_engine_options *options, struct err *err)
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
    engine->settings = settings_of(engine, options);
    spec_engine_enter(engine);
    ok = ok && make_engine(engine, err);
    spec_engine_leave();
    if (ok && spec_engine_settle(engine, err)) return engine;
    free_engine(engine);
    return NULL;
}

/* --- the clock */

static bool come_to_rest(struct spec_engine *engine, struct err *err)
{
    for (int i = 0; i < TURNS_MAX; i++) {
        if (!loop_settle(engine->loop, TURNS_MAX)) break;
        if (!spec_cluster_pump(engine->cluster)) return true;
    }
    return err_set(err, ERR_LIMIT,
                   "the script does not settle: still busy after %d turns without the clock advancing",
                   TURNS_MAX);
}

bool spec_engine_settle(struct spec_engine *engine, struct err *err)
{
    spec_engine_enter(engine);
    bool ok = come_to_rest(engine, err);
    engine_drain(engine->engine);
    spec_engine_leave();
    return ok;
}

static bool advance(struct spec_engine *engine, int64_t ms, struct err *err)
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

/* --- the script */

struct script *spec_engine_script(const struct spec_engine *engine, size_t i)
{
    const struct slots *slots = &engine->engine->slots;
    return i < slots->count ? slots->items[i]->current : NULL;
}

static struct script *first_script(struct spec_engine *engine)
{
    return spec_engine_script(engine, 0);
}

/* Elections are over before the next script could take part in one. */
static bool load(struct spec_engine *engine, const char *path, const char *name, struct err *err)
{
    spec_engine_enter(engine);
    bool ok = engine_add(engine->engine, path, name, err);
    if (ok) {
        leaders_decide(engine->engine->cluster->leaders, true);
        engine_begin(engine->engine);
    }
    spec_engine_leave();
    ok = ok && spec_engine_settle(engine, err);
    if (ok && engine->unknown.code != ERR_NONE) {
        *err = engine->unknown;
        ok = false;
    }
    return ok;
}

static struct str source_of(struct spec_engine *engine, const char *name)
{
    const struct slot *slot = managed_script_find(&engine->engine->slots, name);
    struct str text = {0};
    struct err err;
    if (slot) bundle_text(script_bundle(slot->current), slot->path, &text, &err);
    return text;
}

/* A lease that nobody asked for before is won, as at the beginning. */
static bool settle_leases(struct spec_engine *engine, size_t leases, struct err *err)
{
    if (leaders_count(engine->engine->cluster->leaders) == leases) return true;
    leaders_decide(engine->engine->cluster->leaders, true);
    return spec_engine_settle(engine, err);
}

/* Its informers have had all the time that there is: the clock stands still. */
static bool reload(struct spec_engine *engine, const char *name, struct str text, struct handover *done,
                   struct err *err)
{
    struct slot *slot = managed_script_find(&engine->engine->slots, name);
    size_t leases = leaders_count(engine->engine->cluster->leaders);
    if (!slot) return err_set(err, ERR_NOT_FOUND, "no script loaded; use test.load or env:load");
    uint64_t made = slot->made;
    spec_engine_enter(engine);
    reload_text(slot, text);
    spec_engine_leave();
    bool ok = spec_engine_settle(engine, err);
    spec_engine_enter(engine);
    reload_refuse_waiting(slot, "not ready");
    spec_engine_leave();
    if (!ok) return false;
    if (slot->made == made) return err_set(err, ERR_INVALID, "%s", buf_text(&slot->error));
    *done = slot->done;
    return settle_leases(engine, leases, err);
}

static bool lead(struct spec_engine *engine, bool leads)
{
    if (leaders_count(engine->engine->cluster->leaders) == 0) return false;
    leaders_decide(engine->engine->cluster->leaders, leads);
    return true;
}

/* --- the rest */

static int64_t now_us(struct spec_engine *engine)
{
    return clock_wall_us(loop_clock(engine->loop));
}

static int64_t elapsed_ms(struct spec_engine *engine)
{
    return clock_now_ms(loop_clock(engine->loop)) - engine->opened_ms;
}

static void take_records(struct spec_engine *engine, struct buf *out)
{
    buf_str(out, buf_slice(&engine->records));
    engine->records.len = 0;
}

static bool replay_begin(struct spec_engine *engine, const char *path, struct err *err)
{
    spec_replay_close(engine->replay);
    engine->replay = spec_replay_open(engine, path, err);
    return engine->replay &&
           spec_replay_begin(engine->replay, &(struct spec_replay_options){.wait = NULL}, err);
}

static bool replay_play(struct spec_engine *engine, double speed, struct replay_counts *counts,
                        struct err *err)
{
    if (!engine->replay) return err_set(err, ERR_INVALID, "no recording to continue");
    bool ok = spec_replay_play(engine->replay, &(struct spec_replay_options){.speed = speed}, err);
    spec_replay_get_counts(engine->replay, counts);
    spec_replay_close(engine->replay);
    engine->replay = NULL;
    return ok;
}

const struct spec_engine_ops spec_engine_ops = {
    .open = open_engine,
    .free = free_engine,
    .load = load,
    .reload = reload,
    .source = source_of,
    .script = first_script,
    .settle = spec_engine_settle,
    .advance = advance,
    .now_us = now_us,
    .elapsed_ms = elapsed_ms,
    .take_records = take_records,
    .put = spec_cluster_put,
    .request = spec_cluster_request,
    .remove = spec_cluster_remove,
    .add_kind = spec_cluster_add_kind,
    .resolve = spec_cluster_resolve,
    .add_rule = spec_cluster_add_rule,
    .rule_is_unmet = spec_cluster_rule_is_unmet,
    .clear_rules = spec_cluster_clear_rules,
    .add_answer = spec_cluster_add_answer,
    .end_watches = spec_cluster_end_watches,
    .lead = lead,
    .call = spec_command_call,
    .audit = spec_audit,
    .check_params = spec_audit_check_params,
    .recording_begin_us = spec_replay_begin_us,
    .replay_begin = replay_begin,
    .replay_play = replay_play,
};
