/* raw.live: what live reads name, and k8s.get. Lists and watches are in bind_reader.c. Each read has two
 * steps: the name of its kind is resolved, which may have to wait for discovery, and checked against what the
 * script declared; then the server is asked. */
#include "script/bind_live.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "informer/live.h"
#include "kube/kinds.h"
#include "script/args.h"
#include "script/bind.h"
#include "script/push_err.h"
#include "script/reads.h"
#include "script/task.h"
#include "script/view.h"

/* A function of k8s; pages are lists for those who declare them. */
struct verb {
    const char *name;
    enum read_verb access;
    const char *access_name;
};

static const struct verb verbs_of_reads[] = {
    {"k8s.get", READ_GET, "get"},
    {"k8s.list", READ_LIST, "list"},
    {"k8s.pages", READ_LIST, "list"},
    {"k8s.watch", READ_WATCH, "watch"},
};

struct box {
    struct resource resource; /* all NULL while it is being made */
};

const struct resource *resource_arg(lua_State *L, int idx, const char *verb)
{
    struct box *box = class_test(L, idx, CLASS_RESOURCE);
    if (!box) script_raise(L, "%s: expected a resource, not %s", verb, arg_type_name(L, idx));
    return &box->resource;
}

static int l_resource_gc(lua_State *L)
{
    struct box *box = lua_touserdata(L, 1);
    resource_clear(&box->resource);
    return 0;
}

/* reads(text): one declaration. */
static int l_live_reads(lua_State *L)
{
    struct err err;
    arg_loading(L, "k8s.reads");
    if (!reads_declare(&script_of(L)->reads, arg_str(L, 1, "k8s.reads: each entry"), &err))
        script_raise(L, "k8s.reads: %s", err.text);
    return 0;
}

static _Noreturn void raise_undeclared(lua_State *L, const struct verb *verb, struct str kind)
{
    script_raise(L, "%s: \"%.*s:%s\" is not declared by k8s.reads", verb->name, STR_ARG(kind),
                 verb->access_name);
}

/* Pushes the resource, or nil, err. A read that is not declared is told before the kind is. */
static int push_resource(lua_State *L, const struct verb *verb, struct str kind)
{
    const struct script *script = script_of(L);
    struct kinds *kinds = script->host->kinds;
    struct box *box = lua_newuserdata(L, sizeof *box);
    struct err err;
    memset(box, 0, sizeof *box);
    class_set(L, script, CLASS_RESOURCE);
    bool known = kinds_resolve(kinds, kind, &box->resource, &err);
    if (!reads_allow(&script->reads, verb->access, kind, known ? &box->resource : NULL, kinds))
        raise_undeclared(L, verb, kind);
    return known ? 1 : push_err(L, &err);
}

/* Until discovery has answered, for the first time or once more. */
struct kind_wait {
    struct task_wait wait;
    struct kinds_waiter waiter;
    const struct verb *verb;
    char *kind;
    struct err err;
};

static void on_kinds(struct kinds_waiter *waiter, const struct err *err)
{
    struct kind_wait *wait = container_of(waiter, struct kind_wait, waiter);
    if (err) wait->err = *err;
    task_wake(&wait->wait);
}

static int push_kind(lua_State *L, struct task_wait *base)
{
    struct kind_wait *wait = container_of(base, struct kind_wait, wait);
    bool known = kinds_known(script_of(L)->host->kinds);
    if (!known) return push_err(L, &wait->err);
    return push_resource(L, wait->verb, str_of(wait->kind));
}

static void drop_kind(struct task_wait *base)
{
    struct kind_wait *wait = container_of(base, struct kind_wait, wait);
    kinds_cancel(&wait->waiter);
    free(wait->kind);
    free(wait);
}

static const struct verb *verb_arg(lua_State *L, int idx)
{
    const char *name = arg_str(L, idx, "verb").p;
    for (size_t i = 0; i < ARRAY_LEN(verbs_of_reads); i++)
        if (strcmp(verbs_of_reads[i].name, name) == 0) return &verbs_of_reads[i];
    script_raise(L, "no live read: %s", name);
}

enum name_state {
    NAME_KNOWN,
    NAME_REFUSED, /* and nothing new is to be learned: not declared, or the server was asked a moment ago */
    NAME_OPEN,    /* discovery will tell */
};

static enum name_state name_state(const struct script *script, const struct verb *verb, struct str kind)
{
    struct kinds *kinds = script->host->kinds;
    struct resource resource;
    struct err err;
    if (!kinds_known(kinds)) return NAME_OPEN;
    if (kinds_resolve(kinds, kind, &resource, &err)) {
        resource_clear(&resource);
        return NAME_KNOWN;
    }
    bool declared = reads_allow(&script->reads, verb->access, kind, NULL, kinds);
    return err.code != ERR_NOT_FOUND || !declared || !kinds_doubt(kinds) ? NAME_REFUSED : NAME_OPEN;
}

/* resource(verb, kind): what a kind means. Waits. */
static int l_live_resource(lua_State *L)
{
    static const struct task_wait_ops ops = {push_kind, drop_kind, .finishes = true};
    struct script *script = script_of(L);
    const struct verb *verb = verb_arg(L, 1);
    lua_pushfstring(L, "%s: the kind", verb->name);
    struct str kind = arg_str(L, 2, lua_tostring(L, -1));
    task_check(L, verb->name);
    if (!script->host->live) script_raise(L, "%s: there is no server to ask", verb->name);
    if (script->reads.count == 0) raise_undeclared(L, verb, kind);
    enum name_state state = name_state(script, verb, kind);
    if (state == NAME_KNOWN) return push_resource(L, verb, kind);
    struct kind_wait *wait = NEW(struct kind_wait);
    wait->verb = verb;
    wait->kind = xstrndup(kind.p, kind.n);
    wait->waiter.ready = on_kinds;
    err_clear(&wait->err);
    /* Who asks again and again for what is not there lets others run. */
    if (state == NAME_OPEN)
        kinds_wait(script->host->kinds, &wait->waiter);
    else
        task_wake(&wait->wait);
    return task_yield(L, &wait->wait, &ops);
}

struct get_wait {
    struct task_wait wait;
    struct live_read *read;
    struct live_answer answer;
    struct err err;
};

static void on_object(void *ctx, const struct live_answer *answer)
{
    struct get_wait *wait = ctx;
    wait->answer = *answer;
    if (answer->err) wait->err = *answer->err;
    task_wake(&wait->wait);
}

static int push_object(lua_State *L, struct task_wait *base)
{
    struct get_wait *wait = container_of(base, struct get_wait, wait);
    if (wait->answer.count == 0) return push_err(L, &wait->err);
    view_push_object(L, wait->answer.objects[0]);
    return 1;
}

static void drop_get(struct task_wait *base)
{
    struct get_wait *wait = container_of(base, struct get_wait, wait);
    live_close(wait->read);
    live_answer_clear(&wait->answer);
    free(wait);
}

/* Splits a key (S-1) as the kind has it. */
static void split_key(lua_State *L, const struct resource *resource, struct str key, struct str *ns,
                      struct str *name)
{
    struct str rest = key, first;
    str_cut(&rest, '/', &first);
    if (memchr(key.p, '\0', key.n)) script_raise(L, "k8s.get: the key has a zero byte");
    bool whole = first.n > 0 && (!rest.p || (rest.n > 0 && !memchr(rest.p, '/', rest.n)));
    if (!whole) script_raise(L, "k8s.get: unexpected key format: \"%.*s\"", STR_ARG(key));
    if (!rest.p && resource->namespaced)
        script_raise(L, "k8s.get: \"%.*s\": the key of a namespaced object is \"namespace/name\"",
                     STR_ARG(key));
    if (rest.p && !resource->namespaced)
        script_raise(L, "k8s.get: \"%.*s\": %s have no namespace", STR_ARG(key), resource->plural);
    *ns = rest.p ? first : STR("");
    *name = rest.p ? rest : first;
}

/* get(resource, key): the view, or nil, err. Waits. */
static int l_live_get(lua_State *L)
{
    static const struct task_wait_ops ops = {push_object, drop_get, .finishes = true};
    const struct resource *resource = resource_arg(L, 1, "k8s.get");
    struct str ns, name;
    split_key(L, resource, arg_str(L, 2, "k8s.get: the key"), &ns, &name);
    lua_pushlstring(L, ns.p, ns.n);
    task_check(L, "k8s.get");
    struct get_wait *wait = NEW(struct get_wait);
    err_clear(&wait->err);
    wait->read = live_start(script_of(L)->host->live,
                            &(struct live_question){
                                .verb = LIVE_GET,
                                .resource = resource,
                                .name = name.p, /* the rest of the key */
                                .scope = {.namespace_ = lua_tostring(L, -1)},
                                .resource_version = "",
                                .resource_version_match = "",
                            },
                            on_object, wait);
    return task_yield(L, &wait->wait, &ops);
}

void bind_live(lua_State *L)
{
    static const luaL_Reg meta[] = {{"__gc", l_resource_gc}, {NULL, NULL}};
    static const luaL_Reg verbs[] = {
        {"reads", l_live_reads}, {"resource", l_live_resource}, {"get", l_live_get}, {NULL, NULL}};
    class_define(L, CLASS_RESOURCE, meta, NULL);
    lua_pop(L, 1);
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    bind_reader(L);
    lua_setfield(L, -2, "live");
}
