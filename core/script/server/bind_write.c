/* raw.write: creates, changes and deletes objects. lua/k8s/write.lua converts the arguments to kind, place
 * and body. Here the kind is resolved and checked against the script's declarations, the body becomes JSON,
 * the write waits for its turn, and the request goes to the I/O thread. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "informer/live/live_client.h"
#include "script/server/applied.h"
#include "script/server/bind_kind.h"
#include "script/server/dry_write.h"
#include "script/server/write_record.h"
#include "script/server/write_request.h"
#include "script/view/json_encode.h"
#include "script/view/view.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"
#include "script/vm/task.h"
#include "script/vm/throttle.h"

/* A kube-apiserver takes no larger one. Of a script's writes together: thousands of tasks may wait. */
enum { BODY_MAX = 3 << 20, BODIES_MAX = 64 << 20 };

/* declare(string): one declaration. */
static int l_write_declare(lua_State *L)
{
    kind_declare(L, &declares_writes, &script_of(L)->own.writes->declared, INVENTORY_WRITE);
    return 0;
}

static struct kind_access access_of(lua_State *L, const struct object_request *request, struct str kind,
                                    struct str subresource)
{
    const struct write_function *function = write_function_of(request);
    return (struct kind_access){
        .verb = function->name,
        .kind = kind,
        .subresource = subresource,
        .access = function->access,
        .access_name = function->name + strlen("k8s."), /* as declared */
        .declarer = &declares_writes,
        .declared = &script_of(L)->own.writes->declared,
    };
}

/* resource(function, kind, subresource, cluster, as): what a kind means there; without a name in the home
 * cluster. Errors name the function `as`, a constant, if it is given. Waits. */
static int l_write_resource(lua_State *L)
{
    const struct object_request request = {.verb = write_verb_arg(L, 1)};
    lua_settop(L, 5);
    const char *as = lua_isnil(L, 5) ? write_function_of(&request)->name : arg_str(L, 5, "as").p;
    lua_pushfstring(L, "%s: the kind", as);
    struct str kind = arg_str(L, 2, own_text(L, -1)), subresource = arg_str_opt(L, 3, "subresource");
    struct kind_access q = access_of(L, &request, kind, subresource);
    q.verb = as;
    q.cluster = cluster_arg(L, 4, q.verb);
    return kind_resolve(L, &q);
}

/* --- waiting */

struct write_wait {
    struct task_wait wait;
    struct script *script;
    struct live_read *read; /* NULL: nothing was sent */
    size_t body_len;        /* bytes that it holds */
    bool responded;
    struct object_response response;
    struct err err; /* of it */
    struct write_record record;
    struct applied applied;
};

static void on_response(void *ctx, const struct object_response *response)
{
    struct write_wait *wait = ctx;
    wait->response = *response;
    wait->responded = true;
    if (response->err) wait->err = *response->err;
    write_record_veil(&wait->record, &wait->err);
    if (applied_same(&wait->applied, wait->script, wait->record.request, response->object))
        pace_give_back(wait->script, LIMIT_WRITES);
    task_wake(&wait->wait);
}

/* Pushes the object; true if the server returned none. */
static int push_response(lua_State *L, struct task_wait *base)
{
    struct write_wait *wait = container_of(base, struct write_wait, wait);
    if (wait->err.code) return push_err(L, &wait->err);
    if (wait->response.object)
        view_push_fetched(L, wait->response.object);
    else
        lua_pushboolean(L, 1);
    return 1;
}

static void drop_write(struct task_wait *base)
{
    struct write_wait *wait = container_of(base, struct write_wait, wait);
    if (!wait->responded) err_set(&wait->err, ERR_CANCELLED, "cancelled in flight; it may have been applied");
    wait->response.err = wait->err.code ? &wait->err : NULL;
    write_record_end(&wait->record, base->task, &wait->response);
    if (wait->read) live_close(wait->read);
    cluster_let_go(wait->record.cluster);
    wait->script->own.writes->bodies -= wait->body_len;
    root_unref(wait->response.object);
    free(wait);
}

static void send(struct write_wait *wait, struct object_request *r)
{
    struct script *script = wait->script;
    r->fence = task_fence(script);
    applied_begin(&wait->applied, script, wait->record.cluster, r);
    wait->read = live_call(wait->record.cluster->live, r, on_response, wait);
    wait->body_len = r->body.n;
    script->own.writes->bodies += r->body.n;
}

/* --dry-run=client */
static void record(struct write_wait *wait, const struct object_request *r, struct root *given)
{
    dry_write(wait->script, r, given, &wait->response.object, &wait->err);
    wait->responded = true;
    task_wake(&wait->wait);
}

static void check_bodies(lua_State *L, const char *verb, size_t more)
{
    size_t waiting = script_of(L)->own.writes->bodies;
    if (waiting + more > BODIES_MAX)
        script_raise(L, "%s: limit write-bodies exceeded: %zu bytes in flight, the maximum is %d MiB", verb,
                     waiting, BODIES_MAX >> 20);
}

/* Whatever came before in Lua: what is sent is declared. */
static void check_declared(lua_State *L, const struct object_request *r)
{
    const struct kind_access q = access_of(L, r, (struct str){0}, str_of(r->place.subresource));
    resource_declared(L, 1, &q);
}

/* Reads resource, function and a table of lua/k8s with the members of struct object_request. */
static struct object_request request_arg(lua_State *L)
{
    struct object_request r = {.verb = write_verb_arg(L, 2)};
    const char *function = write_function_of(&r)->name;
    r.place.resource = resource_arg(L, 1, function);
    arg_table(L, 3, function);
    lua_settop(L, 5);
    write_request_read(L, 3, &r);
    check_declared(L, &r);
    return r;
}

/* body(resource, function, request, body): checks the arguments, and returns the body as JSON. */
static int l_write_body(lua_State *L)
{
    const struct object_request r = request_arg(L);
    const char *function = write_function_of(&r)->name;
    const struct buf *json = json_encode(L, 4, function, BODY_MAX);
    lua_pushlstring(L, json->data, json->len);
    return 1;
}

/* turn(function): returns true, or nil, err. Waits for the limit writes. */
static int l_write_turn(lua_State *L)
{
    const struct object_request request = {.verb = write_verb_arg(L, 1)};
    int count = pace_turn(L, LIMIT_WRITES, write_function_of(&request)->name);
    if (count == 2) script_of(L)->report.counters.failed_writes++;
    return count;
}

/* send(resource, function, request, json, given): returns the object, or true, or nil, err. `given` is the
 * view that the script passed, if any. Waits. */
static int l_write_send(lua_State *L)
{
    static const struct task_wait_ops ops = {push_response, drop_write, .finishes = true};
    struct script *script = script_of(L);
    struct object_request r = request_arg(L);
    const char *function = write_function_of(&r)->name;
    const struct view *given = view_test(L, 5);
    r.body = arg_bytes(L, 4, function);
    check_bodies(L, function, r.body.n);
    task_check(L, function);
    struct write_wait *wait = NEW(struct write_wait);
    wait->script = script;
    err_clear(&wait->err);
    write_record_begin(&wait->record, script, cluster_hold(resource_cluster(L, 1)), &r);
    if (wait->record.is_recorded)
        record(wait, &r, given ? given->root : NULL);
    else
        send(wait, &r);
    return task_yield(L, &wait->wait, &ops);
}

/* type_of(resource): apiVersion, kind and plural of its objects, and whether they must have a namespace. */
static int l_write_type_of(lua_State *L)
{
    const struct resource *resource = resource_arg(L, 1, "k8s.apply");
    struct buf *version = script_scratch(script_of(L));
    resource_api_version(resource, version);
    lua_pushlstring(L, version->data, version->len);
    lua_pushstring(L, resource->kind);
    lua_pushstring(L, resource->plural);
    lua_pushboolean(L, resource->namespaced == SCOPE_NAMESPACED);
    return 4;
}

/* seconds(what, duration): checks for full seconds, as the API has them. */
static int l_write_seconds(lua_State *L)
{
    int64_t ms = arg_duration_ms(L, 2, arg_str(L, 1, "what").p);
    if (ms < 0 || ms % 1000) script_raise(L, "%s must be whole seconds", own_text(L, 1));
    lua_pushnumber(L, (lua_Number)ms / 1000);
    return 1;
}

static void bind_write(lua_State *L)
{
    static const luaL_Reg verbs[] = {{"declare", l_write_declare}, {"resource", l_write_resource},
                                     {"body", l_write_body},       {"turn", l_write_turn},
                                     {"send", l_write_send},       {"type_of", l_write_type_of},
                                     {"seconds", l_write_seconds}, {NULL, NULL}};
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    if (script_of(L)->write_mode == WRITES_TRIED) {
        lua_pushliteral(L, "server");
        lua_setfield(L, -2, "dry_run");
    }
    lua_setfield(L, -2, "write");
}

static void close_writes(struct script *script)
{
    write_counters_clear(script->own.writes);
    number_map_clear(&script->own.writes->applied);
    declarations_clear(&script->own.writes->declared);
}

const struct feature feature_write = {
    .parts = {"write"}, .bind = bind_write, FEATURE_OWNS(writes), .close = close_writes};
