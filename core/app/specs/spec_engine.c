/* Start and stop of the engine of a test, and its clock; see test_engine.h. */
#include "app/specs/spec_engine.h"

#include <stdlib.h>
#include <string.h>

#include "app/options/options.h"
#include "app/specs/replay.h"
#include "app/specs/spec_calls.h"
#include "app/specs/spec_cluster.h"
#include "app/specs/spec_kinds.h"
#include "app/specs/spec_reload.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/web.h"
#include "object/pack/pool.h"

/* A script that is busy with itself never comes to rest: it is told after so many turns without any time. */
enum { TURNS_MAX = 10000 };

/* --- what the parts call */

static void on_claim_changed(void *ctx, struct informer_claim *claim)
{
    struct spec_engine *engine = ctx;
    for (size_t i = 0; claim_has_synced(claim) && i < engine->script_count; i++)
        script_claims_changed(engine->scripts[i].script);
    if (claim_is_missing(claim)) spec_kinds_refresh_later(engine);
}

static void on_leaders_changed(void *ctx)
{
    struct spec_engine *engine = container_of(ctx, struct spec_engine, base);
    for (size_t i = 0; i < engine->script_count; i++) script_leadership_changed(engine->scripts[i].script);
}

/* --- start */

static void make_parts(struct spec_engine *engine)
{
    struct loop *loop = engine->base.loop;
    engine->recorder = event_recorder_new(&(struct event_recorder_options){.io_loop = loop,
                                                                           .call = one_loop_call,
                                                                           .cancel_call = object_call_cancel,
                                                                           .ctx = &engine->base,
                                                                           .instance = "kubelua-test"});
    engine->servers = spec_web_new(
        &(struct spec_web_options){.loop = loop, .asked = spec_engine_note_request, .ctx = engine});
    engine->web = web_new(&(struct web_options){.engine_loop = loop,
                                                .io_loop = loop,
                                                .user_agent = "kubelua-test",
                                                .local = spec_web_server(engine->servers)});
    engine->leaders = leaders_new(&(struct leaders_options){.engine_loop = loop,
                                                            .io_loop = loop,
                                                            .call = one_loop_call,
                                                            .cancel_call = object_call_cancel,
                                                            .changed = on_leaders_changed,
                                                            .ctx = &engine->base,
                                                            .identity = "kubelua-test"});
    turns_init(&engine->turns);
}

static bool read_params(struct spec_engine *engine, const struct spec_engine_options *options,
                        struct err *err)
{
    engine->params = rule_params_new();
    for (size_t i = 0; i < options->param_count; i++)
        if (!rule_params_add(engine->params, options->params[i], err)) return false;
    return true;
}

static void make_host(struct spec_engine *engine, const struct spec_engine_options *options)
{
    struct leader_flags flags = {0};
    leader_flags(&flags); /* sets the defaults */
    engine->namespace_ = xstrdup(options->namespace_);
    engine->limits = options->limits ? *options->limits : limits_default;
    engine->host = (struct script_host){.factory = engine->base.factory,
                                        .loop = engine->base.loop,
                                        .turns = &engine->turns,
                                        .live = engine->base.live,
                                        .kinds = engine->kinds,
                                        .recorder = engine->recorder,
                                        .web = engine->web,
                                        .leaders = engine->leaders,
                                        .lease = leader_flags_lease(&flags, "default"),
                                        .elects = options->elects,
                                        .limits = &engine->limits,
                                        .trusted = options->trusted,
                                        .trusted_count = options->trusted_count,
                                        .lua_path = options->lua_path,
                                        .lua_path_count = options->lua_path_count,
                                        .default_namespace = engine->namespace_,
                                        .runs_rules = !options->live,
                                        .params = engine->params,
                                        .write_mode = options->live ? WRITES_RECORDED : WRITES_SENT,
                                        .not_sent = options->live ? "Not sent: this is a replay" : NULL,
                                        .hooks_ctx = engine};
    if (options->live) return;
    engine->host.metrics_page = engine; /* tests do not see what others count */
    engine->host.print = spec_engine_note_print;
    engine->host.failed = spec_engine_note_failure;
}

void spec_engine_enter(struct spec_engine *engine)
{
    if (engine->host.print) log_capture(spec_engine_note_log, engine);
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
    for (size_t i = 0; i < engine->script_count; i++) script_free(engine->scripts[i].script);
    spec_reload_clear(engine);
    event_recorder_free(engine->recorder, 0);
    web_end(engine->web);
    web_free(engine->web);
    spec_web_free(engine->servers);
    leaders_end(engine->leaders);
    one_loop_end(&engine->base);
    leaders_free(engine->leaders);
    spec_kinds_end(engine);
    one_loop_close(&engine->base);
    spec_cluster_free(engine->cluster);
    loop_free(engine->base.loop);
    buf_clear(&engine->records);
    rule_params_free(engine->params);
    free(engine->namespace_);
    for (size_t i = 0; i < engine->script_count; i++) free(engine->scripts[i].name);
    free(engine->scripts);
    free(engine);
    spec_engine_leave();
}

static struct spec_engine *open_engine(const struct spec_engine_options *options, struct err *err)
{
    static char server[] = "http://cluster.test";
    struct cluster_config inside;
    struct kube_client_options client;
    if (options->wall_us < 0 || options->wall_us >= TEST_CLOCK_END_US) {
        err_set(err, ERR_INVALID, "the clock of a test begins from 1970 to 2199");
        return NULL;
    }
    struct spec_engine *engine = NEW(struct spec_engine);
    struct loop *loop = loop_new_by_hand(options->wall_us);
    engine->opened_ms = clock_now_ms(loop_clock(loop));
    TAILQ_INIT(&engine->draining);
    spec_engine_enter(engine);
    engine->cluster = spec_cluster_new(
        &(struct spec_cluster_options){.loop = loop, .written = spec_engine_note_write, .ctx = engine});
    test_cluster_connect(engine->cluster, server, &inside, &client);
    bool ok = one_loop_open(&engine->base,
                            &(struct one_loop_options){
                                .loop = loop, .client = &client, .changed = on_claim_changed, .ctx = engine},
                            err);
    if (ok) {
        make_parts(engine);
        spec_kinds_begin(engine);
        ok = read_params(engine, options, err);
        make_host(engine, options);
        ok = ok && spec_engine_settle(engine, err);
    }
    spec_engine_leave();
    if (ok) return engine;
    free_engine(engine);
    return NULL;
}

/* --- the clock */

static void on_main_done(void *ctx, enum script_result result, int exit_code)
{
    spec_engine_note_main(ctx, result == SCRIPT_OK ? "ok" : "failed", exit_code);
}

/* True when there was something to begin. */
static bool start_mains(struct spec_engine *engine)
{
    bool any = false;
    for (size_t i = 0; i < engine->script_count; i++) {
        struct spec_script *one = &engine->scripts[i];
        if (one->main_started || !script_has_main(one->script) || !script_has_synced(one->script)) continue;
        one->main_started = any = true;
        script_run_main(one->script, on_main_done, engine);
    }
    return any;
}

static bool come_to_rest(struct spec_engine *engine, struct err *err)
{
    for (int i = 0; i < TURNS_MAX; i++) {
        if (!loop_settle(engine->base.loop, TURNS_MAX)) break;
        bool any = spec_cluster_pump(engine->cluster);
        any |= start_mains(engine);
        if (!spec_reload_drop(engine) && !any) return true;
    }
    return err_set(err, ERR_LIMIT,
                   "the script does not come to rest: after %d turns, all at the same time, "
                   "there is still something to do",
                   TURNS_MAX);
}

bool spec_engine_settle(struct spec_engine *engine, struct err *err)
{
    spec_engine_enter(engine);
    bool ok = come_to_rest(engine, err);
    pool_drain(engine->base.pool);
    spec_engine_leave();
    return ok;
}

static bool advance(struct spec_engine *engine, int64_t ms, struct err *err)
{
    struct clock *clock = loop_clock(engine->base.loop);
    if (ms > (TEST_CLOCK_END_US - clock_wall_us(clock)) / 1000)
        return err_set(err, ERR_LIMIT, "the clock of a test ends with the year 2199");
    int64_t end_ms = clock_now_ms(clock) + ms, due_ms;
    if (!spec_engine_settle(engine, err)) return false;
    while ((due_ms = clock_next_due_ms(clock)) <= end_ms) {
        loop_set_clock(engine->base.loop, due_ms);
        if (!spec_engine_settle(engine, err)) return false;
    }
    loop_set_clock(engine->base.loop, end_ms);
    return true;
}

/* --- the script */

/* Elections are over before the next script could take part in one. */
static bool load_one(struct spec_engine *engine, const char *path, const char *name, struct err *err)
{
    engine->scripts = xrealloc(engine->scripts, (engine->script_count + 1) * sizeof *engine->scripts);
    struct spec_script *one = &engine->scripts[engine->script_count];
    *one = (struct spec_script){.name = xstrdup(name)};
    one->script = script_load(&engine->host, path, one->name, err);
    if (!one->script) {
        free(one->name);
        return false;
    }
    engine->script_count++;
    leaders_decide(engine->leaders, true);
    spec_kinds_resolve(engine);
    return true;
}

static bool load(struct spec_engine *engine, const char *path, const char *name, struct err *err)
{
    spec_engine_enter(engine);
    bool ok = load_one(engine, path, name, err);
    spec_engine_leave();
    ok = ok && spec_engine_settle(engine, err);
    if (ok && engine->unknown.code != ERR_NONE) {
        *err = engine->unknown;
        ok = false;
    }
    return ok;
}

static struct script *first_script(struct spec_engine *engine)
{
    return engine->script_count ? engine->scripts[0].script : NULL;
}

static bool lead(struct spec_engine *engine, bool leads)
{
    if (leaders_count(engine->leaders) == 0) return false;
    leaders_decide(engine->leaders, leads);
    return true;
}

/* --- the rest */

static int64_t now_us(struct spec_engine *engine)
{
    return clock_wall_us(loop_clock(engine->base.loop));
}

static int64_t elapsed_ms(struct spec_engine *engine)
{
    return clock_now_ms(loop_clock(engine->base.loop)) - engine->opened_ms;
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
    if (!engine->replay) return err_set(err, ERR_INVALID, "there is no recording to go on with");
    bool ok = spec_replay_play(engine->replay, &(struct spec_replay_options){.speed = speed}, err);
    spec_replay_get_counts(engine->replay, counts);
    spec_replay_close(engine->replay);
    engine->replay = NULL;
    return ok;
}

const struct spec_engine_ops test_engine_ops = {
    .open = open_engine,
    .free = free_engine,
    .load = load,
    .reload = spec_reload,
    .source = spec_reload_source,
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
    .audit = test_audit,
    .check_params = spec_audit_check_params,
    .recording_begin_us = spec_replay_begin_us,
    .replay_begin = replay_begin,
    .replay_play = replay_play,
};
