/* A cluster played by hand; see cluster.h. */
#include "cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/must.h"
#include "core/script/support/patient.h"
#include "kube/kinds/catalogue.h"
#include "script/vm/call.h"
#include "script/vm/turns.h"

struct lw_call {
    struct cluster_source *source;
};

static struct lw_call *start(struct list_watch *base, const struct lw_options *options,
                             const struct lw_sink *sink, void *ctx)
{
    struct cluster_source *source = container_of(base, struct cluster_source, base);
    must(!source->call);
    source->call = NEW(struct lw_call);
    source->call->source = source;
    source->sink = *sink;
    source->ctx = ctx;
    source->verb = options->verb;
    return source->call;
}

static void cancel(struct lw_call *call)
{
    call->source->call = NULL;
    free(call);
}

static void free_source(struct list_watch *base)
{
    container_of(base, struct cluster_source, base)->freed = true;
}

struct list_watch *cluster_new_source(void *ctx, const struct resource *resource,
                                      const struct lw_scope *scope)
{
    static const struct list_watch_ops ops = {start, cancel, free_source, NULL, NULL, NULL};
    struct cluster *c = ctx;
    must(c->source_count < CLUSTER_SOURCES_MAX);
    struct cluster_source *source = &c->sources[c->source_count++];
    source->base.ops = &ops;
    source->cluster = c;
    snprintf(source->plural, sizeof source->plural, "%s", resource->plural);
    snprintf(source->scope, sizeof source->scope, "%s|%s|%s", scope->namespace_, scope->label_selector,
             scope->field_selector);
    return &source->base;
}

static void on_changed(void *ctx, struct informer_claim *claim)
{
    const struct cluster *c = ctx;
    struct script *holder = c->told;
    for (size_t i = c->loaded_count; !holder && i-- > 0;)
        if (c->loaded[i].claim == claim) holder = c->loaded[i].script;
    if (holder) script_claims_changed(holder);
}

void cluster_note_claims(struct cluster *c, struct script *script)
{
    for (size_t i = 0; i < script_claim_count(script); i++) {
        must(c->loaded_count < CLUSTER_CLAIMS_MAX);
        c->loaded[c->loaded_count++] = (struct cluster_claim){script_claim(script, i), script};
    }
}

static void add_group(struct catalogue *catalogue, const char *group, unsigned order, const char *json)
{
    struct tape_parser *parser = tape_parser_new();
    struct buf text = {0};
    struct tape tape;
    struct err err;
    buf_puts(&text, json);
    memset(buf_reserve(&text, TAPE_PADDING), 0, TAPE_PADDING);
    if (!tape_parse(parser, text.data, text.len, &tape, &err)) fail_msg("%s", err.text);
    catalogue_add_legacy(catalogue, &tape, str_of(group), STR("v1"), order, 0);
    buf_clear(&text);
    tape_parser_free(parser);
}

#define RESOURCE(name, kind, namespaced)                                                          \
    "{\"name\":\"" name "\",\"singularName\":\"\",\"namespaced\":" namespaced ",\"kind\":\"" kind \
    "\",\"verbs\":[\"get\",\"list\",\"watch\"]}"
#define RESOURCES(...) "{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\",\"resources\":[" __VA_ARGS__ "]}"

void cluster_init(struct cluster *c)
{
    memset(c, 0, sizeof *c);
    virtual_clock_init(&c->clock);
    c->loop = loop_new();
    c->pool = pool_new(&(struct pool_options){0});
    c->packer = packer_new(c->pool);
    c->factory = shared_factory_new(&(struct shared_factory_options){.engine_loop = c->loop,
                                                                     .io_loop = c->loop,
                                                                     .new_source = cluster_new_source,
                                                                     .ctx = c,
                                                                     .changed = on_changed});
    c->parts.factory = c->factory;
    c->catalogue = catalogue_new();
    add_group(c->catalogue, "", 0,
              RESOURCES(RESOURCE("pods", "Pod", "true") "," RESOURCE("nodes", "Node", "false")));
    add_group(c->catalogue, "apps", 1, RESOURCES(RESOURCE("deployments", "Deployment", "true")));
    catalogue_finish(c->catalogue);
    turns_init(&c->turns);
    c->host = (struct script_host){.cluster = &c->parts,
                                   .loop = c->loop,
                                   .turns = &c->turns,
                                   .default_namespace = "",
                                   .limits = &patient_limits};
    strcpy(c->folder, "/tmp/kubelua-spec-XXXXXX");
    must(mkdtemp(c->folder));
}

void cluster_clear(struct cluster *c)
{
    char command[128];
    shared_factory_free(c->factory);
    for (size_t i = 0; i < c->source_count; i++) assert_true(c->sources[i].freed);
    catalogue_free(c->catalogue);
    pool_drain(c->pool);
    assert_int_equal(pool_stats(c->pool).roots, 0);
    packer_free(c->packer);
    pool_free(c->pool);
    loop_free(c->loop);
    virtual_clock_clear(&c->clock);
    buf_clear(&c->result);
    snprintf(command, sizeof command, "rm -rf %s", c->folder);
    must(system(command) == 0);
}

int cluster_setup(void **state)
{
    static struct cluster c;
    cluster_init(&c);
    *state = &c;
    return 0;
}

int cluster_setup_by_hand(void **state)
{
    cluster_setup(state);
    struct cluster *c = *state;
    c->host.clock = &c->clock.clock;
    return 0;
}

int cluster_teardown(void **state)
{
    struct cluster *c = *state;
    if (c->script) script_free(c->script);
    cluster_clear(c);
    return 0;
}

static struct script *load(struct cluster *c, const char *name, const char *lua, struct err *err)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s.lua", c->folder, name);
    FILE *file = fopen(path, "w");
    must(file && fputs(lua, file) >= 0 && fclose(file) == 0);
    return script_load(&c->host, path, name, err);
}

struct script *cluster_load(struct cluster *c, const char *name, const char *lua)
{
    struct err err;
    struct script *script = load(c, name, lua, &err);
    if (!script) fail_msg("%s", err.text);
    cluster_note_claims(c, script);
    return script;
}

const char *cluster_load_error(struct cluster *c, const char *name, const char *lua)
{
    struct err err;
    assert_null(load(c, name, lua, &err));
    c->result.len = 0;
    buf_puts(&c->result, err.text);
    return buf_text(&c->result);
}

void cluster_settle(struct cluster *c)
{
    for (int i = 0; i < 20; i++) loop_once(c->loop, false);
}

static void unknown(void *ctx, struct informer_claim *claim, const struct err *err)
{
    fail_msg("%s", err->text);
}

void cluster_resolve(struct cluster *c)
{
    shared_factory_resolve(c->factory, c->catalogue, unknown, NULL);
    cluster_settle(c);
}

/* "shop/web-1 app=web tier=a" */
static struct root *pack_object(struct cluster *c, const struct cluster_source *source, struct str words)
{
    struct buf text = {0};
    struct str key, ns = {NULL, 0}, label;
    struct root *root;
    struct err err;
    words = str_trim(words);
    str_cut(&words, ' ', &key);
    if (memchr(key.p, '/', key.n)) str_cut(&key, '/', &ns);
    buf_printf(&text, "{\"apiVersion\":\"v1\",\"kind\":\"%s\",\"metadata\":{\"name\":\"%.*s\",",
               strcmp(source->plural, "pods") == 0 ? "Pod" : "Node", STR_ARG(key));
    if (ns.p) buf_printf(&text, "\"namespace\":\"%.*s\",", STR_ARG(ns));
    buf_printf(&text, "\"resourceVersion\":\"%llu\",\"labels\":{", (unsigned long long)++c->version);
    for (bool first = true; words.p && str_cut(&words, ' ', &label); first = false) {
        struct str name;
        str_cut(&label, '=', &name);
        buf_printf(&text, "%s\"%.*s\":\"%.*s\"", first ? "" : ",", STR_ARG(name), STR_ARG(label));
    }
    buf_puts(&text, "}}}");
    memset(buf_reserve(&text, TAPE_PADDING), 0, TAPE_PADDING);
    if (!pack_text(c->packer, text.data, text.len, NULL, &root, &err)) fail_msg("%s", err.text);
    buf_clear(&text);
    return root;
}

static void end_call(struct cluster_source *source, const struct err *err)
{
    struct lw_call *call = source->call;
    source->call = NULL;
    source->sink.done(source->ctx, err);
    free(call);
}

/* The watch is too old: the reflector lists again. */
static void expire(struct cluster_source *source)
{
    struct err err;
    err_set(&err, ERR_HTTP, "expired");
    err.http_status = 410;
    strcpy(err.reason, "Expired");
    end_call(source, &err);
    for (int i = 0; i < 1000 && (!source->call || source->verb != LW_LIST); i++)
        loop_once(source->cluster->loop, true);
    must(source->call && source->verb == LW_LIST);
}

void cluster_list(struct cluster *c, size_t at, const char *objects)
{
    struct cluster_source *source = &c->sources[at];
    struct str rest = str_of(objects), one;
    char version[32];
    must(at < c->source_count && source->call);
    if (source->verb == LW_WATCH) expire(source);
    while (*objects && str_cut(&rest, ';', &one)) source->sink.item(source->ctx, pack_object(c, source, one));
    snprintf(version, sizeof version, "%llu", (unsigned long long)++c->version);
    source->sink.list_end(source->ctx, &(struct lw_list_meta){str_of(version), STR(""), -1, false, false});
    end_call(source, NULL);
    cluster_settle(c);
}

void cluster_feed(struct cluster *c, size_t at, enum lw_event_type type, const char *object)
{
    struct cluster_source *source = &c->sources[at];
    must(at < c->source_count && source->call && source->verb == LW_WATCH);
    source->sink.event(source->ctx, type, pack_object(c, source, str_of(object)), 1700000000500000);
}

void cluster_event(struct cluster *c, size_t at, enum lw_event_type type, const char *object)
{
    cluster_feed(c, at, type, object);
    cluster_settle(c);
}

struct question {
    const char *lua;
    struct buf *result;
};

static void run_question(lua_State *L, void *ctx)
{
    const struct question *question = ctx;
    if (luaL_loadbuffer(L, question->lua, strlen(question->lua), "@question.lua") != 0) lua_error(L);
    lua_call(L, 0, 1);
    lua_getglobal(L, "tostring");
    lua_insert(L, -2);
    lua_call(L, 1, 1);
    buf_puts(question->result, lua_tostring(L, -1));
}

const char *cluster_ask(struct cluster *c, struct script *script, const char *lua)
{
    c->result.len = 0;
    if (script_call(script, "a snippet", run_question, &(struct question){lua, &c->result}) != SCRIPT_OK) {
        c->result.len = 0;
        buf_puts(&c->result, "raised: ");
        buf_str(&c->result, buf_slice(&script->failure.text));
    }
    return buf_text(&c->result);
}
