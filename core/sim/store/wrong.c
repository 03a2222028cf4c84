/* Kinds of faults; see wrong.h. */
#include "sim/store/wrong.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/lua/lua.h"
#include "sim/object/status.h"
#include "sim/store/action.h"
#include "sim/store/form.h"
#include "sim/text/duration.h"
#include "sim/text/tree.h"

enum { OVERSIZE = 9 << 20 };

static char *text_or(const json_t *step, const char *key, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(step, key));
    return xstrdup(text ? text : otherwise);
}

void sim_wrong_read(const json_t *step, struct sim_wrong *wrong)
{
    const json_t *after = json_object_get(step, "after");
    lua_State *L = sim_lua_take("sim.wrongs", "number");
    lua_pushstring(L, sim_text_at(step, "what"));
    json_t *kind = sim_lua_call(L);
    *wrong = (struct sim_wrong){.kind = (enum sim_wrong_kind)json_integer_value(kind),
                                .size = OVERSIZE,
                                .in_stream = after != NULL,
                                .after = (size_t)json_integer_value(after)};
    json_decref(kind);
    sim_duration_read(json_object_get(step, "for"), &wrong->for_ms);
    if (json_object_get(step, "size")) sim_size_read(json_object_get(step, "size"), &wrong->size);
    wrong->code = (int)sim_int_at(step, "code", wrong->kind == SIM_WRONG_ERROR_EVENT ? 410 : 500);
    wrong->retry_after_s = (int)sim_int_at(step, "retry_after", 0);
    wrong->reason = text_or(step, "reason", sim_status_reason(wrong->code));
    wrong->message = text_or(step, "message", "the scenario wants it so");
    wrong->text = text_or(step, "text", "");
}

void sim_wrong_clear(struct sim_wrong *wrong)
{
    free(wrong->reason);
    free(wrong->message);
    free(wrong->text);
    *wrong = (struct sim_wrong){0};
}

bool sim_wrong_is_response(const struct sim_wrong *wrong)
{
    switch (wrong->kind) {
    case SIM_WRONG_STATUS:
    case SIM_WRONG_DELAY: return true;
    case SIM_WRONG_CLOSE:
    case SIM_WRONG_RESET:
    case SIM_WRONG_SILENCE: return !wrong->in_stream;
    default: return false;
    }
}

json_t *sim_wrong_status(const struct sim_wrong *wrong)
{
    json_t *status = sim_status(wrong->code, wrong->reason, wrong->message, NULL, NULL);
    if (wrong->retry_after_s)
        json_object_set_new(sim_submap(status, "details"), "retryAfterSeconds",
                            json_integer(wrong->retry_after_s));
    return status;
}

/* A stream that something is put into. */
struct wrong_stream {
    struct sim_api *api;
    const struct sim_served *served;
    const char *namespace_; /* of its objects; NULL: any */
    bool watch;
};

/* Any object of the stream, as an event or as an item; nothing if it has none. */
static void real_object(struct buf *out, const struct wrong_stream *stream, const char *type)
{
    struct sim_out text = {0};
    struct sim_view view = {.served = stream->served, .form = SIM_FORM_JSON};
    struct omap_cursor cursor;
    char *prefix = stream->namespace_ ? xasprintf("%s/", stream->namespace_) : xstrdup("");
    sim_store_lock(stream->api->store);
    omap_seek(&cursor, stream->served->resource->map, prefix);
    const struct sim_object *object = omap_next(&cursor);
    if (object && strncmp(object->key, prefix, strlen(prefix)) != 0) object = NULL;
    if (object && type)
        sim_form_event(&text, &view, type, object, 0);
    else if (object)
        sim_form_item(&text, &view, object);
    sim_store_unlock(stream->api->store);
    buf_str(out, buf_slice(&text.kept));
    sim_out_clear(&text);
    free(prefix);
}

/* The bytes that are sent, which lua/sim/wrongs.lua writes. */
static void bytes_of(struct buf *out, const struct sim_wrong *wrong, const struct wrong_stream *stream)
{
    const char *ns = stream->namespace_ ? stream->namespace_ : "default";
    bool half = wrong->kind == SIM_WRONG_CUT || wrong->kind == SIM_WRONG_HALF_LINE;
    struct buf object = {0};
    if (wrong->kind == SIM_WRONG_ERROR_EVENT) {
        sim_form_error(out, sim_wrong_status(wrong));
        return;
    }
    if (half || wrong->kind == SIM_WRONG_UNKNOWN_TYPE)
        real_object(&object, stream, !half ? "RENAMED" : stream->watch ? "MODIFIED" : NULL);
    lua_State *L = sim_lua_take("sim.wrongs", "bytes");
    lua_pushinteger(L, wrong->kind);
    lua_pushboolean(L, stream->watch);
    lua_pushstring(L, stream->served->head);
    lua_pushstring(L, stream->served->kind->namespaced ? ns : NULL);
    lua_pushnumber(L, (lua_Number)wrong->size);
    lua_pushstring(L, wrong->text);
    lua_pushstring(L, buf_text(&object));
    json_t *bytes = sim_lua_call(L);
    buf_append(out, json_string_value(bytes), json_string_length(bytes));
    if (half) out->len /= 2;
    json_decref(bytes);
    buf_clear(&object);
}

static enum sim_then then_of(const struct sim_wrong *wrong)
{
    switch (wrong->kind) {
    case SIM_WRONG_CLOSE:
    case SIM_WRONG_CUT: return SIM_THEN_CUT;
    case SIM_WRONG_RESET: return SIM_THEN_RESET;
    case SIM_WRONG_SILENCE: return wrong->for_ms ? SIM_THEN_GO_ON : SIM_THEN_SILENCE;
    case SIM_WRONG_HALF_LINE:
    case SIM_WRONG_ERROR_EVENT:
    case SIM_WRONG_END: return SIM_THEN_END;
    default: return SIM_THEN_GO_ON;
    }
}

bool sim_wrong_is_end(const struct sim_wrong *wrong)
{
    return wrong->kind == SIM_WRONG_STATUS || then_of(wrong) != SIM_THEN_GO_ON;
}

bool sim_wrong_suits(const struct sim_wrong *wrong, const char *verb)
{
    if (sim_wrong_is_response(wrong) || strcmp(verb, "watch") == 0) return true;
    bool watches_only = wrong->kind == SIM_WRONG_NO_END || wrong->kind == SIM_WRONG_IGNORE_INITIAL ||
                        wrong->kind == SIM_WRONG_UNKNOWN_TYPE || wrong->kind == SIM_WRONG_ERROR_EVENT;
    return !watches_only && strcmp(verb, "list") == 0;
}

struct sim_action *sim_wrong_action(const struct sim_wrong *wrong, struct sim_api *api,
                                    const struct sim_served *served, const char *namespace_, bool watch)
{
    struct buf text = {0};
    bytes_of(&text, wrong, &(const struct wrong_stream){api, served, namespace_, watch});
    size_t len = text.len;
    struct sim_action *action =
        sim_action_new(wrong->after, len ? buf_take(&text) : NULL, len, then_of(wrong));
    if (wrong->kind == SIM_WRONG_PAUSE || wrong->kind == SIM_WRONG_SILENCE) action->pause_ms = wrong->for_ms;
    buf_clear(&text);
    return action;
}

/* --- Wrong things to do */

struct sim_action *sim_action_new(size_t after, char *text, size_t len, enum sim_then then)
{
    struct sim_action *action = NEW(struct sim_action);
    *action = (struct sim_action){.after = after, .text = text, .len = len, .then = then};
    return action;
}

struct sim_action *sim_action_copy(const struct sim_action *action)
{
    struct sim_action *copy = sim_action_new(
        action->after, action->text ? xstrndup(action->text, action->len) : NULL, action->len, action->then);
    copy->pause_ms = action->pause_ms;
    return copy;
}

void sim_action_free(struct sim_action *action)
{
    if (!action) return;
    free(action->text);
    free(action);
}

struct sim_action *sim_actions_due(struct sim_actions *actions, size_t done)
{
    struct sim_action *action;
    STAILQ_FOREACH (action, actions, link)
        if (action->after <= done) break;
    if (action) STAILQ_REMOVE(actions, action, sim_action, link);
    return action;
}

void sim_actions_clear(struct sim_actions *actions)
{
    struct sim_action *action;
    while ((action = STAILQ_FIRST(actions))) {
        STAILQ_REMOVE_HEAD(actions, link);
        sim_action_free(action);
    }
}
