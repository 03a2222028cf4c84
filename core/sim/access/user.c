/* Users of requests; see user.h. */
#include "sim/access/user.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/must.h"
#include "sim/lua/lua.h"
#include "sim/text/tree.h"

enum { FILE_MAX = 1 << 20, TOKEN_BYTES = 16, TOKEN_SHOWN = 8 };

static const char user_mark[] = "user:";
static const char authenticated[] = "system:authenticated";

struct sim_users {
    bool is_strict;
    json_t *by_token;
    pthread_mutex_t lock;
    json_t *issued; /* to service accounts, by token, with audiences and end; guarded by the lock */
    char admin_token[2 * TOKEN_BYTES + 1];
};

static json_t *make_user(const char *name, const char *uid)
{
    json_t *user = json_pack("{s:o, s:[]}", "username", sim_string(name), "groups");
    if (*uid) json_object_set_new(user, "uid", sim_string(uid));
    return user;
}

static void add_group(json_t *user, const char *group)
{
    json_t *groups = json_object_get(user, "groups");
    if (!sim_has_text(groups, group)) json_array_append_new(groups, sim_string(group));
}

/* --- the file */

/* Lines of token,user,uid and groups, which lua/sim/access.lua reads. */
static bool read_lines(struct sim_users *users, struct str text, struct err *err)
{
    lua_State *L = sim_lua_take("sim.access", "users");
    lua_pushlstring(L, text.n ? text.p : "", text.n);
    json_t *result = sim_lua_call(L), *found = json_array_get(result, 1);
    bool ok = json_is_true(json_array_get(result, 0));
    if (ok)
        json_object_update(users->by_token, found);
    else {
        err_set(err, ERR_INVALID, "expected token,user,uid and optionally \"group1,group2\"");
        err_wrap(err, "line %lld", (long long)json_integer_value(found));
    }
    json_decref(result);
    return ok;
}

static bool read_file(struct sim_users *users, const char *path, struct err *err)
{
    struct buf text = {0};
    bool ok = file_read(path, FILE_MAX, &text, err);
    if (ok && !read_lines(users, buf_slice(&text), err)) ok = err_in_file(err, path);
    buf_wipe(&text);
    return ok;
}

/* --- all of them */

static void make_token(char token[static 2 * TOKEN_BYTES + 1])
{
    unsigned char bytes[TOKEN_BYTES];
    must(getrandom(bytes, sizeof bytes, 0) == sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(token + 2 * i, 3, "%02x", bytes[i]);
}

static void make_admin(struct sim_users *users)
{
    make_token(users->admin_token);
    json_t *user = make_user("kubernetes-admin", "");
    add_group(user, "system:masters");
    add_group(user, authenticated);
    json_object_set_new(users->by_token, users->admin_token, user);
}

struct sim_users *sim_users_new(const char *token_file, bool is_strict, struct err *err)
{
    struct sim_users *users = NEW(struct sim_users);
    users->is_strict = is_strict;
    users->by_token = json_object();
    users->issued = json_object();
    pthread_mutex_init(&users->lock, NULL);
    make_admin(users);
    if (!token_file || read_file(users, token_file, err)) return users;
    sim_users_free(users);
    return NULL;
}

void sim_users_free(struct sim_users *users)
{
    if (!users) return;
    json_decref(users->by_token);
    json_decref(users->issued);
    pthread_mutex_destroy(&users->lock);
    free(users);
}

bool sim_users_are_strict(const struct sim_users *users)
{
    return users->is_strict;
}

const char *sim_users_admin_token(const struct sim_users *users)
{
    return users->admin_token;
}

char *sim_users_issue(struct sim_users *users, const struct sim_account *account)
{
    char token[2 * TOKEN_BYTES + 1];
    make_token(token);
    lua_State *L = sim_lua_take("sim.access", "account");
    lua_pushstring(L, account->namespace_);
    lua_pushstring(L, account->name);
    lua_pushstring(L, account->uid);
    lua_pushlstring(L, token, TOKEN_SHOWN);
    json_t *user = sim_lua_call(L);
    pthread_mutex_lock(&users->lock);
    json_object_set_new(users->issued, token,
                        json_pack("{so sO sI}", "user", user, "audiences", account->audiences, "until",
                                  (json_int_t)account->until_s));
    pthread_mutex_unlock(&users->lock);
    return xstrdup(token);
}

/* The part of the token's audiences that is wanted; NULL wants the server's own. */
static json_t *common(const json_t *audiences, const json_t *wanted)
{
    json_t *both = json_array(), *one;
    size_t i;
    json_array_foreach ((json_t *)audiences, i, one)
        if (wanted ? sim_has_text(wanted, json_string_value(one))
                   : strcmp(json_string_value(one), SIM_AUDIENCE) == 0)
            json_array_append(both, one);
    return both;
}

static json_t *issued_user(struct sim_users *users, const char *token, const json_t *wanted,
                           json_t **audiences)
{
    pthread_mutex_lock(&users->lock);
    json_t *entry = json_deep_copy(json_object_get(users->issued, token)), *user = NULL;
    pthread_mutex_unlock(&users->lock);
    *audiences = common(json_object_get(entry, "audiences"), wanted);
    if (sim_int_at(entry, "until", 0) > time(NULL) && json_array_size(*audiences))
        user = json_incref(json_object_get(entry, "user"));
    json_decref(entry);
    return user;
}

json_t *sim_user_of_token(struct sim_users *users, const char *token, const json_t *wanted,
                          json_t **audiences)
{
    size_t mark = sizeof user_mark - 1;
    json_t *found = issued_user(users, token, wanted, audiences);
    if (found) return found;
    json_decref(*audiences);
    *audiences = NULL;
    /* A copy: the references of one that is shared would be counted by the threads of several requests. */
    if ((found = json_object_get(users->by_token, token))) return json_deep_copy(found);
    if (strncmp(token, user_mark, mark) != 0 || !token[mark]) return NULL;
    json_t *user = make_user(token + mark, "");
    add_group(user, authenticated);
    return user;
}

/* The token of a header "Bearer TOKEN"; NULL without. */
static const char *bearer(const struct sim_request *request)
{
    static const char scheme[] = "Bearer ";
    const char *value = sim_header(request, "Authorization");
    return value && strncasecmp(value, scheme, sizeof scheme - 1) == 0 ? value + sizeof scheme - 1 : NULL;
}

json_t *sim_user_of_request(struct sim_users *users, const struct sim_request *request)
{
    json_t *audiences = NULL;
    const char *token = bearer(request);
    json_t *user = token ? sim_user_of_token(users, token, NULL, &audiences) : NULL;
    json_decref(audiences);
    if (user || (token && users->is_strict)) return user;
    user = make_user("system:anonymous", "");
    add_group(user, "system:unauthenticated");
    return user;
}

/* --- impersonation */

json_t *sim_user_impersonated(const struct sim_request *request)
{
    json_t *headers = json_array();
    for (size_t i = 0; i < request->header_count; i++)
        json_array_append_new(headers, json_pack("[oo]", sim_string(request->headers[i].key),
                                                 sim_string(request->headers[i].value)));
    lua_State *L = sim_lua_take("sim.access", "impersonated");
    sim_lua_push_new(L, headers);
    return sim_lua_call(L);
}
