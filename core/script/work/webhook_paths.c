/* Table of paths, under a mutex under which no script runs; see webhook_paths.h. */
#include "script/work/webhook_paths.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "script/vm/state.h"

/* For other threads everything but `script` and `hook` is copied. */
struct path_entry {
    char *path;
    struct webhook_rules rules;
    char *header; /* with the signature; NULL: none is asked for, or its key may change */
    struct buf key;
    enum signature_algorithm algorithm;
    struct script *script;
    struct webhook *hook;
};

struct webhook_paths {
    struct webhook_paths_options options;
    pthread_mutex_t lock;
    struct path_entry *items; /* written on the engine thread, under the lock */
    size_t count;
    uint64_t version; /* changes with them; from 1 up */
};

struct webhook_paths *webhook_paths_new(const struct webhook_paths_options *options)
{
    struct webhook_paths *paths = NEW(struct webhook_paths);
    paths->options = *options;
    paths->version = 1;
    pthread_mutex_init(&paths->lock, NULL);
    return paths;
}

static void entry_clear(struct path_entry *entry)
{
    buf_wipe(&entry->key);
    free(entry->header);
    free(entry->path);
}

void webhook_paths_free(struct webhook_paths *paths)
{
    if (!paths) return;
    for (size_t i = 0; i < paths->count; i++) entry_clear(&paths->items[i]);
    free(paths->items);
    pthread_mutex_destroy(&paths->lock);
    free(paths);
}

size_t webhook_paths_count(struct webhook_paths *paths)
{
    return paths->count;
}

static struct path_entry *find(struct webhook_paths *paths, const char *path)
{
    for (size_t i = 0; i < paths->count; i++)
        if (strcmp(paths->items[i].path, path) == 0) return &paths->items[i];
    return NULL;
}

struct webhook *webhook_paths_find(struct webhook_paths *paths, const char *path)
{
    const struct path_entry *entry = find(paths, path);
    return entry ? entry->hook : NULL;
}

/* --- requests */

static bool takes(const struct webhook_rules *rules, const char *method)
{
    for (int i = 0; i < WEBHOOK_METHODS; i++)
        if (rules->methods & 1U << i && strcmp(method, webhook_method_name((enum webhook_method)i)) == 0)
            return true;
    return false;
}

void webhook_put_methods(const struct webhook_rules *rules, struct buf *out)
{
    for (int i = 0; i < WEBHOOK_METHODS; i++)
        if (rules->methods & 1U << i)
            buf_printf(out, "%s%s", out->len ? ", " : "", webhook_method_name((enum webhook_method)i));
}

bool webhook_paths_admit(struct webhook_paths *paths, const struct webhook_request *head, size_t *body_max,
                         struct webhook_response *response)
{
    struct webhook_rules rules = {.methods = 0};
    pthread_mutex_lock(&paths->lock);
    const struct path_entry *entry = find(paths, head->path);
    if (entry) rules = entry->rules;
    pthread_mutex_unlock(&paths->lock);
    *body_max = rules.body_max;
    if (!rules.methods) {
        webhook_response_set(response, 404, "no webhook has this path");
    } else if (!takes(&rules, head->method)) {
        webhook_response_set(response, 405, "the webhook does not take this method");
        webhook_put_methods(&rules, &response->allow);
    } else if (rules.has_token && !token_digest_admits(&rules.token, webhook_header(head, "Authorization"))) {
        bool has_one = webhook_header(head, "Authorization");
        webhook_response_set(
            response, 401, has_one ? "the bearer token is not the webhook's" : "a bearer token is required");
    } else {
        return true;
    }
    return false;
}

/* Sets copies of what verifies requests to the path; without a header if nothing does. Returns the version.
 */
static uint64_t copy_key(struct webhook_paths *paths, const char *path, struct path_entry *out)
{
    *out = (struct path_entry){.path = NULL};
    pthread_mutex_lock(&paths->lock);
    uint64_t version = paths->version;
    const struct path_entry *entry = find(paths, path);
    if (entry && entry->header) {
        *out = (struct path_entry){.header = xstrdup(entry->header), .algorithm = entry->algorithm};
        buf_reserve(&out->key, entry->key.len);
        buf_str(&out->key, buf_slice(&entry->key));
    }
    pthread_mutex_unlock(&paths->lock);
    return version;
}

uint64_t webhook_paths_verify(struct webhook_paths *paths, const struct webhook_request *request,
                              struct webhook_response *response)
{
    struct path_entry own;
    uint64_t version = copy_key(paths, request->path, &own);
    bool ok = !own.header || signature_admits(own.algorithm, buf_slice(&own.key), request->body,
                                              webhook_header(request, own.header));
    if (!ok) webhook_response_set(response, 401, "the signature is missing or wrong");
    entry_clear(&own);
    return ok ? version : 0;
}

bool webhook_paths_is_verified(const struct webhook_paths *paths, const struct webhook_request *request)
{
    return request->verified == paths->version;
}

/* --- scripts */

bool webhooks_fit(const struct script *script, struct err *err)
{
    struct webhook_paths *paths = script->host->webhooks;
    const struct script_webhooks *own = script->own.webhooks;
    if (!paths || !own->count) return true;
    for (size_t i = 0; i < own->count; i++) {
        const struct path_entry *entry = find(paths, own->items[i]->path);
        if (!entry || strcmp(entry->script->id.name, script->id.name) == 0) continue;
        return err_set(err, ERR_SCRIPT, "%s: k8s.webhook: the path \"%s\" is that of a webhook of %s",
                       own->items[i]->place, own->items[i]->path, entry->script->id.path);
    }
    if (!paths->options.begin || paths->options.begin(paths->options.ctx, err)) return true;
    return err_wrap(err, "%s: k8s.webhook", own->items[0]->place);
}

static void remove_of(struct webhook_paths *paths, const struct script *script)
{
    for (size_t i = paths->count; i-- > 0;) {
        if (paths->items[i].script != script) continue;
        entry_clear(&paths->items[i]);
        array_remove(paths->items, paths->count, i);
    }
}

static struct path_entry entry_of(struct script *script, struct webhook *hook)
{
    struct path_entry entry = {.path = xstrdup(hook->path),
                               .rules = hook->rules,
                               .algorithm = hook->algorithm,
                               .script = script,
                               .hook = hook};
    if (!hook->header || hook->secret != LUA_NOREF) return entry;
    entry.header = xstrdup(hook->header);
    buf_reserve(&entry.key, hook->key.len);
    buf_str(&entry.key, buf_slice(&hook->key));
    return entry;
}

void webhooks_handover(struct script *from, struct script *to)
{
    struct webhook_paths *paths = to->host->webhooks;
    if (!paths || (!to->own.webhooks->count && !(from && from->own.webhooks->count))) return;
    pthread_mutex_lock(&paths->lock);
    paths->version++;
    if (from) remove_of(paths, from);
    for (size_t i = 0; i < to->own.webhooks->count; i++) {
        struct webhook *hook = to->own.webhooks->items[i];
        *array_add(paths->items, paths->count) = entry_of(to, hook);
    }
    pthread_mutex_unlock(&paths->lock);
    if (from) webhooks_move_waiting(from, to);
    if (paths->options.changed) paths->options.changed(paths->options.ctx);
}

void webhooks_leave(struct script *script)
{
    struct webhook_paths *paths = script->host->webhooks;
    if (!paths || !script->own.webhooks->count) return;
    size_t before = paths->count;
    pthread_mutex_lock(&paths->lock);
    paths->version++;
    remove_of(paths, script);
    pthread_mutex_unlock(&paths->lock);
    if (paths->count != before && paths->options.changed) paths->options.changed(paths->options.ctx);
}
