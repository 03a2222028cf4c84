/* What an engine is made of, by its options, in the order in which one part needs another; see
 * engine_internal.h. engine_free of engine.c ends them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/options/script_options.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/engine_internal.h"
#include "net/unix_socket.h"
#include "net/web.h"
#include "script/vm/cpu_watch.h"

static enum watch_list_mode watch_list_mode(const char *name)
{
    return strcmp(name, "on") == 0    ? WATCH_LIST_ON
           : strcmp(name, "off") == 0 ? WATCH_LIST_OFF
                                      : WATCH_LIST_AUTO;
}

static enum write_mode write_mode(const char *dry_run)
{
    return strcmp(dry_run, "client") == 0   ? WRITES_RECORDED
           : strcmp(dry_run, "server") == 0 ? WRITES_TRIED
                                            : WRITES_SENT;
}

/* What http.request asks with. */
static bool make_web(struct engine *engine)
{
    struct err err;
    const struct flag_list *hosts = &engine->options.options->allow_http;
    struct web_allow *allow = web_allow_new(hosts->items, hosts->count, &err);
    if (!allow) {
        fprintf(stderr, "kubelua: --allow-http: %s\n", err.text);
        return false;
    }
    engine->web = web_new(&(struct web_options){.engine_loop = engine->loop,
                                                .io_loop = io_thread_loop(engine->io),
                                                .allow = allow,
                                                .user_agent = "kubelua/" KUBELUA_VERSION});
    return true;
}

/* False when the connection or the audit log cannot be had. */
static bool make_inputs(struct engine *engine)
{
    struct err err;
    const struct options *options = engine->options.options;
    const struct kube_client_options client = {.config = engine->options.cluster,
                                               .max_object_size = options->max_object_size,
                                               .request_timeout_ms = options->request_timeout_ms,
                                               .qps = options->kube_api_qps,
                                               .burst = options->kube_api_burst};
    engine->io = io_thread_new(&client, &err);
    if (!engine->io) {
        fprintf(stderr, "kubelua: %s\n", err.text);
        return false;
    }
    engine->audit = audit_trail_new(options->audit_log, &err);
    if (!engine->audit) fprintf(stderr, "kubelua: --audit-log: %s\n", err.text);
    return engine->audit != NULL && make_web(engine);
}

static void make_factory(struct engine *engine)
{
    const struct options *options = engine->options.options;
    engine->factory = shared_factory_new(&(struct shared_factory_options){
        .engine_loop = engine->loop,
        .io_loop = io_thread_loop(engine->io),
        .new_source = engine_new_source,
        .ctx = engine,
        .seed = hash_bytes(&engine, sizeof engine),
        .grace_ms = options->informer_grace_ms,
        .tuning = {.watch_list = watch_list_mode(options->watch_list),
                   .watch_list_deadline_ms = options->watch_list_deadline_ms,
                   .page_size = options->chunk_size},
        .changed = engine_claim_changed,
        .synced = engine_claim_synced,
    });
}

/* What scripts see of the engine: after its parts. */
static void make_host(struct engine *engine)
{
    const struct options *options = engine->options.options;
    engine->host = (struct script_host){
        .factory = engine->factory,
        .loop = engine->loop,
        .turns = &engine->turns,
        .live = engine->live,
        .web = engine->web,
        .recorder = engine->recorder,
        .kinds = engine->kinds,
        .leaders = engine->leaders,
        .lease = leader_flags_lease(&options->leader, engine->options.cluster->namespace_),
        .elects = options->leader.elect,
        .resync_ms = options->resync_ms,
        .default_namespace =
            !options->all_namespaces && options->cluster.namespace_ ? options->cluster.namespace_ : "",
        .running = &engine->running,
        .watch = engine->watch,
        .print_waits = engine->options.mode == ENGINE_EXEC,
        .write_mode = write_mode(options->dry_run),
        .field_manager = options->field_manager,
        .audit = engine->audit,
        .runs_rules = options->report != NULL,
        .is_given_up = probation_ends_by,
        .is_given_up_ctx = engine,
    };
    options_give_scripts(options, &engine->host);
}

static void make_watch(struct engine *engine)
{
    struct err err;
    engine->watch = cpu_watch_new(&err);
    if (!engine->watch)
        log_warn("Slow functions of C are not timed while a script calls them", F("err", err.text));
}

static bool make_working_parts(struct engine *engine)
{
    if (!make_inputs(engine)) return false;
    make_factory(engine);
    engine->discoverer = discoverer_new(&(struct discoverer_options){.engine_loop = engine->loop,
                                                                     .io = engine->io,
                                                                     .found = engine_found_kinds,
                                                                     .failed = engine_failed_kinds,
                                                                     .ctx = engine});
    engine_make_live(engine);
    engine_make_leaders(engine);
    make_watch(engine);
    make_host(engine);
    engine_make_report(engine);
    return true;
}

/* A port that is taken is found before a script has run. */
static bool make_monitor(struct engine *engine)
{
    struct err err;
    const struct options *options = engine->options.options;
    if (engine->options.mode != ENGINE_RUN) return true;
    engine->monitor = monitor_new(
        &(struct monitor_options){
            .engine_loop = engine->loop,
            .io_loop = io_thread_loop(engine->io),
            .metrics_address = options->metrics_address,
            .health_address = options->health_address,
            .running = &engine->running,
            .leaders = engine->leaders,
            .tick = engine_observe,
            .ctx = engine,
        },
        &err);
    if (!engine->monitor) fprintf(stderr, "kubelua run: %s\n", err.text);
    return engine->monitor != NULL;
}

/* A path that was asked for must work. The default one is a convenience: another engine may have it. */
static bool make_admin(struct engine *engine)
{
    static const char *const sessions[] = {"repl", "audit", NULL};
    struct err err;
    const struct options *options = engine->options.options;
    if (engine->options.mode != ENGINE_RUN || options_admin_is_off(options)) return true;
    char *path = options->admin_socket ? xstrdup(options->admin_socket) : unix_socket_default_path();
    if (!path) {
        log_info("No admin socket, as neither --admin-socket nor XDG_RUNTIME_DIR is set: kubelua status will "
                 "not find this engine");
        return true;
    }
    engine->admin = admin_socket_new(&(struct admin_socket_options){.engine_loop = engine->loop,
                                                                    .io_loop = io_thread_loop(engine->io),
                                                                    .path = path,
                                                                    .answer = engine_answer_admin,
                                                                    .begin = engine_begin_admin,
                                                                    .sessions = sessions,
                                                                    .running = &engine->running,
                                                                    .ctx = engine},
                                     &err);
    free(path);
    if (engine->admin) return true;
    if (options->admin_socket)
        fprintf(stderr, "kubelua run: --admin-socket: %s\n", err.text);
    else
        log_warn("No admin socket: kubelua status will not find this engine", F("err", err.text));
    return !options->admin_socket;
}

bool engine_make_parts(struct engine *engine)
{
    return make_working_parts(engine) && make_monitor(engine) && make_admin(engine);
}
