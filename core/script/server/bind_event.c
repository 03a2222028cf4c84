/* raw.event: Events about objects, passed to the recorder, which never waits. lua/k8s/events.lua has read the
 * fields of the object; here the name of a kind is resolved. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "kube/event/event_recorder.h"
#include "kube/kinds/kinds.h"
#include "script/server/dry_write.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"

/* The component is a qualified name, as reportingController must be: its last part has 63 characters. */
enum { COMPONENT_MAX = 63 };

/* Limit of the names of an object. Real ones are shorter; many Events may wait in the recorder, so each must
 * be small. event_new cuts the message. */
enum { FIELD_MAX = 1024 };

/* "kubelua/watch" of the script "/etc/scripts/pods/watch". */
static char *component_of(const struct script *script)
{
    struct buf out = {0};
    const char *slash = strrchr(script->id.name, '/');
    buf_puts(&out, "kubelua/");
    size_t begin = out.len;
    for (const char *p = slash ? slash + 1 : script->id.name; *p && out.len - begin < COMPONENT_MAX; p++) {
        bool is_plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9');
        if (is_plain || (out.len > begin && strchr("-_.", *p)))
            buf_putc(&out, *p);
        else if (out.len > begin)
            buf_putc(&out, '-');
    }
    if (out.len == begin) out.len--; /* nothing but "kubelua" is left */
    buf_text(&out);
    return buf_take(&out);
}

static char *text_arg(lua_State *L, int idx, const char *what)
{
    struct str text = arg_str_opt(L, idx, what);
    return xstrndup(text.p ? text.p : "", text.n);
}

/* Converts "pods" to v1 and Pod if the server's kinds are known, and "apps/v1/Deployment" to its parts in any
 * case; otherwise the kind stays as it is. */
static void set_kind(const struct kinds *kinds, struct event_object *about)
{
    struct resource resource;
    struct err err;
    if (*about->api_version) return;
    if (kinds && kinds_known(kinds) && kinds_resolve(kinds, str_of(about->kind), &resource, &err)) {
        struct buf version = {0};
        resource_api_version(&resource, &version);
        buf_text(&version);
        free(about->api_version);
        about->api_version = buf_take(&version);
        free(about->kind);
        about->kind = xstrdup(resource.kind);
        resource_clear(&resource);
        return;
    }
    char *slash = strrchr(about->kind, '/');
    if (!slash) return;
    free(about->api_version);
    about->api_version = xstrndup(about->kind, (size_t)(slash - about->kind));
    memmove(about->kind, slash + 1, strlen(slash + 1) + 1);
}

/* All that may raise, before anything is copied. */
static void check_texts(lua_State *L)
{
    static const char *const what[] = {"apiVersion",       "kind",     "namespace",  "name",       "uid",
                                       "resource version", "the type", "the reason", "the message"};
    char name[64];
    for (int i = 0; i < 9; i++) {
        snprintf(name, sizeof name, "k8s.event: %s", what[i]);
        struct str text = arg_str_opt(L, i + 1, name);
        if (!text.p || i == 8) continue;
        if (text.n > FIELD_MAX)
            script_raise(L, "%s has %zu bytes, the maximum is %d", name, text.n, FIELD_MAX);
    }
}

/* event(api_version, kind, namespace, name, uid, resource_version, type, reason, message, cluster) */
static int l_event(lua_State *L)
{
    struct script *script = script_of(L);
    if (script->phase == SCRIPT_LOADING)
        script_raise(L, "k8s.event may not be called while the script is loading");
    const struct cluster_parts *cluster = cluster_arg(L, 10, "k8s.event");
    if (!cluster->recorder) script_raise(L, "k8s.event: no server connection");
    check_texts(L);
    struct kube_event *event = event_new(arg_str(L, 9, "k8s.event: the message"));
    event->about = (struct event_object){
        .api_version = text_arg(L, 1, ""),
        .kind = text_arg(L, 2, ""),
        .ns = text_arg(L, 3, ""),
        .name = text_arg(L, 4, ""),
        .uid = text_arg(L, 5, ""),
        .resource_version = text_arg(L, 6, ""),
    };
    event->type = text_arg(L, 7, "");
    event->reason = text_arg(L, 8, "");
    event->component = component_of(script);
    event->time_us = clock_wall_us(script_clock(script));
    set_kind(cluster->kinds, &event->about);
    event->is_tried = script->write_mode == WRITES_TRIED;
    if (script->write_mode == WRITES_RECORDED) {
        log_info(dry_write_message(script), F("script", script->id.name), F("event", event->reason),
                 F("type", event->type), F("object", event->about.name),
                 F("namespace", event_namespace(event)), F("message", event->message));
        event_free(event);
        return 0;
    }
    event_recorder_put(cluster->recorder, event);
    return 0;
}

static void bind_event(lua_State *L)
{
    lua_pushcfunction(L, l_event);
    lua_setfield(L, -2, "event");
}

const struct feature feature_event = {.parts = {"event"}, .bind = bind_event};
