/* raw.live: parameters of live reads, and k8s.get. Lists and watches are in bind_reader.c. Each read has two
 * steps: bind_kind.c resolves the kind and checks the declaration; then the request is sent. */
#include "script/inventory/bind_inventory.h"
#include "script/server/bind_kind.h"
#include "script/server/reader.h"
#include "script/view/view.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"
#include "script/vm/task.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "informer/live/live_client.h"

/* Pages count as lists in declarations. */
static const struct function {
    const char *name;
    enum read_verb access;
    const char *access_name;
    const char *subresource; /* NULL: none */
} functions[] = {
    [READ_FUNCTION_GET] = {"k8s.get", READ_GET, "get", NULL},
    [READ_FUNCTION_LIST] = {"k8s.list", READ_LIST, "list", NULL},
    [READ_FUNCTION_PAGES] = {"k8s.pages", READ_LIST, "list", NULL},
    [READ_FUNCTION_WATCH] = {"k8s.watch", READ_WATCH, "watch", NULL},
    [READ_FUNCTION_LOGS] = {"k8s.logs", READ_GET, "get", "log"},
};

enum read_function read_function_arg(lua_State *L, int idx)
{
    const char *name = arg_str(L, idx, "verb").p;
    for (size_t i = 0; i < ARRAY_LEN(functions); i++)
        if (strcmp(functions[i].name, name) == 0) return (enum read_function)i;
    script_raise(L, "no live read: %s", name);
}

/* A path is one by its first character. */
static void declare_path(lua_State *L, struct str path)
{
    struct err err;
    if (!read_paths_add(&script_of(L)->own.reads->paths, path, &err))
        script_raise(L, "k8s.reads: %s", err.text);
    inventory_note(L, INVENTORY_READ, path, (struct str){0});
}

/* reads(string): one declaration. */
static int l_live_reads(lua_State *L)
{
    arg_loading(L, "k8s.reads");
    struct str text = arg_str(L, 1, "k8s.reads: each entry");
    if (str_starts(text, STR("/"))) {
        declare_path(L, text);
        return 0;
    }
    kind_declare(L, &declares_reads, &script_of(L)->own.reads->declared, INVENTORY_READ);
    return 0;
}

static struct kind_access access_of(lua_State *L, const struct function *function, struct str kind)
{
    return (struct kind_access){
        .verb = function->name,
        .kind = kind,
        .subresource = str_of(function->subresource),
        .access = function->access,
        .access_name = function->access_name,
        .declarer = &declares_reads,
        .declared = &script_of(L)->own.reads->declared,
    };
}

const struct resource *read_resource_arg(lua_State *L, int idx, enum read_function of)
{
    const struct kind_access q = access_of(L, &functions[of], (struct str){0});
    return resource_declared(L, idx, &q);
}

/* resource(function, kind, cluster, as): what a kind means there; without a name in the home cluster. Errors
 * name the function `as`, a constant, if it is given. Waits. */
static int l_live_resource(lua_State *L)
{
    const struct function *function = &functions[read_function_arg(L, 1)];
    lua_settop(L, 4);
    const char *as = lua_isnil(L, 4) ? function->name : arg_str(L, 4, "as").p;
    lua_pushfstring(L, "%s: the kind", as);
    struct kind_access q = access_of(L, function, arg_str(L, 2, own_text(L, -1)));
    q.verb = as;
    q.cluster = cluster_arg(L, 3, function->name);
    return kind_resolve(L, &q);
}

/* kind(resource): its name, "deployments.apps". */
static int l_live_kind(lua_State *L)
{
    const struct resource *resource = resource_arg(L, 1, "kind");
    struct buf *text = script_scratch(script_of(L));
    resource_name(resource, text);
    lua_pushlstring(L, text->data, text->len);
    return 1;
}

struct get_wait {
    struct task_wait wait;
    struct live_read *read;
    const struct cluster_parts *cluster; /* held */
    struct root *object;                 /* NULL: the error */
    struct err err;
};

static void on_object(void *ctx, const struct object_response *response)
{
    struct get_wait *wait = ctx;
    wait->object = response->object;
    if (response->err) wait->err = *response->err;
    task_wake(&wait->wait);
}

static int push_object(lua_State *L, struct task_wait *base)
{
    struct get_wait *wait = container_of(base, struct get_wait, wait);
    if (!wait->object) return push_err(L, &wait->err);
    view_push_fetched(L, wait->object);
    return 1;
}

static void drop_get(struct task_wait *base)
{
    struct get_wait *wait = container_of(base, struct get_wait, wait);
    live_close(wait->read);
    cluster_let_go(wait->cluster);
    root_unref(wait->object);
    free(wait);
}

/* Splits a key (S-1) as the kind has it. */
static void split_key(lua_State *L, const struct resource *resource, struct str key, struct str *ns,
                      struct str *name)
{
    struct str rest = key, first;
    str_cut(&rest, '/', &first);
    bool whole = first.n > 0 && (!rest.p || (rest.n > 0 && !memchr(rest.p, '/', rest.n)));
    if (!whole) script_raise(L, "k8s.get: unexpected key format: \"%.*s\"", STR_ARG(key));
    if (!rest.p && resource->namespaced == SCOPE_NAMESPACED)
        script_raise(L, "k8s.get: \"%.*s\": the key of a namespaced object is \"namespace/name\"",
                     STR_ARG(key));
    if (rest.p && !resource->namespaced)
        script_raise(L, "k8s.get: \"%.*s\": %s are not namespaced", STR_ARG(key), resource->plural);
    *ns = rest.p ? first : STR("");
    *name = rest.p ? rest : first;
}

/* get(resource, key): the view, or nil, err. Waits. */
static int l_live_get(lua_State *L)
{
    static const struct task_wait_ops ops = {push_object, drop_get, .finishes = true};
    const struct resource *resource = read_resource_arg(L, 1, READ_FUNCTION_GET);
    struct str ns, name;
    split_key(L, resource, arg_str(L, 2, "k8s.get: the key"), &ns, &name);
    lua_pushlstring(L, ns.p, ns.n);
    task_check(L, "k8s.get");
    struct get_wait *wait = NEW(struct get_wait);
    err_clear(&wait->err);
    const struct object_request request = {
        .place = {.resource = resource, .namespace_ = own_text(L, -1), .name = name.p /* rest of the key */}};
    wait->cluster = cluster_hold(resource_cluster(L, 1));
    wait->read = live_call(wait->cluster->live, &request, on_object, wait);
    return task_yield(L, &wait->wait, &ops);
}

/* table(resource, namespace, name, selector, continue): the Table of the server, for prompts; or nil, err.
 * The texts may be nil: of all. Waits. */
static int l_live_table(lua_State *L)
{
    static const struct task_wait_ops ops = {push_object, drop_get, .finishes = false};
    const struct object_request request = {
        .verb = OBJECT_TABLE,
        .place = {.resource = read_resource_arg(L, 1, READ_FUNCTION_LIST),
                  .namespace_ = arg_str_opt(L, 2, "table: namespace").p,
                  .name = arg_str_opt(L, 3, "table: name").p},
        .selector = arg_str_opt(L, 4, "table: selector").p,
        .continue_ = arg_str_opt(L, 5, "table: continue").p,
    };
    task_check(L, "table");
    struct get_wait *wait = NEW(struct get_wait);
    err_clear(&wait->err);
    wait->cluster = cluster_hold(resource_cluster(L, 1));
    wait->read = live_call(wait->cluster->live, &request, on_object, wait);
    return task_yield(L, &wait->wait, &ops);
}

static void bind_live(lua_State *L)
{
    static const luaL_Reg verbs[] = {{"reads", l_live_reads}, {"resource", l_live_resource},
                                     {"kind", l_live_kind},   {"get", l_live_get},
                                     {"table", l_live_table}, {NULL, NULL}};
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    bind_reader(L);
    bind_text(L);
    lua_setfield(L, -2, "live");
}

static void close_reads(struct script *script)
{
    declarations_clear(&script->own.reads->declared);
    read_paths_clear(&script->own.reads->paths);
}

const struct feature feature_live = {.parts = {"live"},
                                     .bind = bind_live,
                                     .classes = CLASS_BIT(CLASS_PAGES) | CLASS_BIT(CLASS_WATCH) |
                                                CLASS_BIT(CLASS_LINES),
                                     FEATURE_OWNS(reads),
                                     .close = close_reads};
