/* What an engine is made of, by its options, in the order in which one part needs another; see
 * engine_internal.h. engine_free of engine.c ends them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "engine/engine_internal.h"
#include "net/web.h"
#include "script/vm/cpu_watch.h"

/* --- what slots ask for */

static void resolve_kinds(void *ctx)
{
    struct engine *engine = ctx;
    if (kinds_known(engine->kinds)) engine_resolve_kinds(engine);
}

static void on_taken(void *ctx, struct script *before, struct script *now)
{
    engine_continuous_take(ctx, before, now);
}

static void on_begun(void *ctx, const struct script *script)
{
    engine_check_writes_of(ctx, script);
    engine_check_soon(ctx);
    engine_touch(ctx);
}

static void on_looked(void *ctx)
{
    engine_warn_params(ctx);
}

void engine_make_slots(struct engine *engine)
{
    const struct engine_settings *settings = engine->options.settings;
    slots_init(&engine->slots, &(struct slots_options){.loop = engine->loop,
                                                       .host = &engine->host,
                                                       .files = settings->files,
                                                       .reload_timeout_ms = settings->reload_timeout_ms,
                                                       .reload_probation_ms = settings->reload_probation_ms,
                                                       .hooks = {.resolve_kinds = resolve_kinds,
                                                                 .refresh_kinds = engine_ask_kinds,
                                                                 .params_stay = engine_params_stay,
                                                                 .taken = on_taken,
                                                                 .begun = on_begun,
                                                                 .looked = on_looked,
                                                                 .ctx = engine}});
}

/* --- the parts */

/* What http.request asks with. */
static bool make_web(struct engine *engine, struct err *err)
{
    const struct engine_options *options = &engine->options;
    const struct flag_list *hosts = &options->settings->http_hosts;
    const char *identity = options->settings->identity;
    struct web_allow *allow = options->others ? NULL : web_allow_new(hosts->items, hosts->count, err);
    if (!allow && !options->others) return err_wrap(err, "--allow-http");
    engine->web =
        web_new(&(struct web_options){.engine_loop = engine->loop,
                                      .io_loop = io_thread_loop(engine->io),
                                      .allow = allow,
                                      .local = options->others,
                                      .user_agent = identity ? identity : "kubelua/" KUBELUA_VERSION});
    return true;
}

/* False when the connection or the audit log cannot be had. */
static bool make_inputs(struct engine *engine, struct err *err)
{
    const struct engine_settings *settings = engine->options.settings;
    const struct kube_client_options client = {.config = engine->options.cluster,
                                               .local = engine->options.server,
                                               .max_object_size = settings->max_object_size,
                                               .request_timeout_ms = settings->request_timeout_ms,
                                               .qps = settings->qps,
                                               .burst = settings->burst};
    engine->io = io_thread_new(&client, engine->options.loop, err);
    if (!engine->io) return false;
    engine->audit = write_log_new(settings->audit_log, err);
    return engine->audit ? make_web(engine, err) : err_wrap(err, "--audit-log");
}

static void make_factory(struct engine *engine)
{
    const struct engine_settings *settings = engine->options.settings;
    engine->factory = shared_factory_new(&(struct shared_factory_options){
        .engine_loop = engine->loop,
        .io_loop = io_thread_loop(engine->io),
        .new_source = engine_new_source,
        .ctx = engine,
        .seed = engine->seed,
        .grace_ms = settings->informer_grace_ms,
        .tuning = {.watch_list = settings->watch_list,
                   .watch_list_deadline_ms = settings->watch_list_deadline_ms,
                   .page_size = settings->chunk_size},
        .changed = engine_claim_changed,
        .synced = engine_claim_synced,
    });
}

void engine_settings_give(const struct engine_settings *settings, struct script_host *host)
{
    const char *pod = nonempty(getenv("POD_NAMESPACE"));
    const struct lease_config lease = {
        .namespace_ = pod ? pod : "default", .name = "kubelua", .times = leader_times_default};
    host->lease = settings->lease.name ? settings->lease : lease;
    host->any_lease = !settings->lease.name;
    host->elects = settings->elects;
    host->resync_ms = settings->resync_ms;
    host->default_namespace = settings->default_namespace;
    host->write_mode = settings->write_mode;
    host->field_manager = settings->field_manager;
    host->not_sent = settings->not_sent;
    host->hooks = settings->hooks;
    host->runs_rules = settings->runs_rules;
    host->limits = settings->limits;
    host->params = settings->params;
    host->trusted = settings->trusted;
    host->trusted_count = settings->trusted_count;
    host->lua_path = settings->lua_path;
    host->lua_path_count = settings->lua_path_count;
    host->notes_functions = settings->notes_functions;
}

/* What scripts see of the engine: after its parts. */
static void make_host(struct engine *engine)
{
    engine->host = (struct script_host){
        .factory = engine->factory,
        .loop = engine->loop,
        .turns = &engine->turns,
        .live = engine->live,
        .web = engine->web,
        .recorder = engine->recorder,
        .kinds = engine->kinds,
        .leaders = engine->leaders,
        .running = &engine->running,
        .watch = engine->watch,
        .print_waits = engine->options.mode == ENGINE_EXEC,
        .audit = engine->audit,
        .is_given_up = probation_ends_by,
        .is_given_up_ctx = &engine->slots,
    };
    engine_settings_give(engine->options.settings, &engine->host);
}

/* It is of a thread, and sees what the clock of one says, which a loop by hand has none of. */
static void make_watch(struct engine *engine)
{
    struct err err;
    if (engine->options.loop) return;
    engine->watch = cpu_watch_new(&err);
    if (!engine->watch)
        log_warn("Slow functions of C are not timed while a script calls them", F("err", err.text));
}

bool engine_make_parts(struct engine *engine, struct err *err)
{
    if (!make_inputs(engine, err)) return false;
    make_factory(engine);
    engine->discoverer =
        discoverer_new(&(struct discoverer_options){.engine_loop = engine->loop,
                                                    .io = engine->io,
                                                    .found = engine_found_kinds,
                                                    .failed = engine_failed_kinds,
                                                    .is_quiet = engine->options.watcher.kinds,
                                                    .ctx = engine});
    engine_make_live_client(engine);
    engine_make_leaders(engine);
    make_watch(engine);
    make_host(engine);
    engine_make_continuous(engine);
    return true;
}
