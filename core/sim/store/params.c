/* Options of lists and watches; see params.h. */
#include "sim/store/params.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/lua/lua.h"
#include "sim/object/status.h"
#include "sim/text/json_error.h"
#include "sim/text/tree.h"

enum { LONGEST_S = 10 * 365 * 24 * 3600 }; /* of a watch */

static const struct sim_kind list_options_kind = {.group = "meta.k8s.io", .kind = "ListOptions"};

static const char *text_of(const struct sim_request *request, const char *key)
{
    const char *value = sim_query(request, key);
    return value ? value : "";
}

/* Options that contradict each other, which lua/sim/options.lua knows. */
static json_t *check_combination(const struct sim_request *request, const struct sim_list_options *options)
{
    static const char *const keys[] = {"resourceVersionMatch", "sendInitialEvents", "resourceVersion",
                                       "continue"};
    if (!*text_of(request, keys[0]) && !sim_query(request, keys[1])) return NULL;
    json_t *causes = json_array();
    lua_State *L = sim_lua_take("sim.options", "list_problems");
    lua_pushboolean(L, options->watch);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) lua_pushstring(L, sim_query(request, keys[i]));
    sim_add_causes(causes, L);
    if (json_array_size(causes)) return sim_status_invalid_causes(&list_options_kind, "", causes);
    json_decref(causes);
    return NULL;
}

/* A number as Go reads it, with a sign; 0 if the parameter is not there. */
static json_t *read_number(const struct sim_request *request, const char *key, int64_t *number)
{
    const char *text = sim_query(request, key);
    if (!text) text = "0";
    const char *digits = text + (*text == '-' || *text == '+');
    bool good = *digits && !digits[strspn(digits, "0123456789")];
    errno = 0;
    *number = strtoll(text, NULL, 10);
    if (good && errno != ERANGE) return NULL;
    return sim_status_bad_request("strconv.ParseInt: parsing \"%s\": %s", text,
                                  good ? "value out of range" : "invalid syntax");
}

/* A code 500 has no reason. */
json_t *sim_version_refused(const char *version, bool stored)
{
    json_t *message =
        sim_textf("resourceVersion: Invalid value: \"%s\": strconv.ParseUint: parsing \"%s\": %s", version,
                  version, sim_number_problem(version));
    const char *text = json_string_value(message);
    json_t *status = stored ? sim_status(500, NULL, text, NULL, NULL)
                            : sim_status_bad_request("invalid resource version: %s", text);
    json_decref(message);
    return status;
}

/* A negative limit is none; a watch with a negative time ends at once. */
static json_t *read_numbers(const struct sim_request *request, struct sim_list_options *options)
{
    int64_t limit = 0;
    json_t *refusal = read_number(request, "timeoutSeconds", &options->timeout_s);
    if (!refusal) refusal = read_number(request, "limit", &limit);
    options->limit = limit > 0 ? (size_t)limit : 0;
    if (options->timeout_s > LONGEST_S) options->timeout_s = LONGEST_S;
    if (options->timeout_s < -LONGEST_S) options->timeout_s = -LONGEST_S;
    return refusal;
}

/* The storage reads the version, after all that the handler checks. */
static json_t *read_version(const char *version, struct sim_list_options *options)
{
    if (*version && !str_to_u64(str_of(version), &options->version))
        return sim_version_refused(version, options->watch);
    if (!options->watch && options->continue_ && options->version != 0)
        return sim_status_bad_request("specifying resource version is not allowed when using continue");
    return NULL;
}

/* A field that the kind does not know is refused later than what is no selector: `*unknown`. */
static json_t *read_selectors(const struct sim_request *request, const struct sim_kind *kind,
                              struct sim_list_options *options, json_t **unknown)
{
    const char *labels = text_of(request, "labelSelector"), *fields = text_of(request, "fieldSelector");
    char *message = NULL;
    if (*labels) options->labels = sim_label_selector_parse(labels, &message);
    bool later = !message;
    if (*fields && !message) options->fields = sim_field_selector_parse(kind, fields, &message);
    later = later && message && strncmp(message, "invalid ", strlen("invalid ")) != 0;
    json_t *status = message ? sim_status_bad_request("%s", message) : NULL;
    free(message);
    *unknown = later ? status : NULL;
    return later ? NULL : status;
}

/* A bad one has no reason, as on a real server. */
static json_t *read_shard(const struct sim_request *request, struct sim_list_options *options)
{
    const char *text = text_of(request, "shardSelector");
    char *message = NULL;
    if (*text) options->shard = sim_shard_parse(text, &message);
    json_t *status = message ? sim_status(500, NULL, message, NULL, NULL) : NULL;
    free(message);
    return status;
}

bool sim_list_options_read(const struct sim_request *request, const struct sim_kind *kind,
                           enum sim_sharding sharding, struct sim_list_options *options, json_t **refusal)
{
    const char *match = text_of(request, "resourceVersionMatch"), *token = text_of(request, "continue");
    const char *version = text_of(request, "resourceVersion");
    json_t *unknown = NULL;
    *options = (struct sim_list_options){
        .watch = sim_query_true(request, "watch"),
        .bookmarks = sim_query_true(request, "allowWatchBookmarks"),
        .send_initial = sim_query_true(request, "sendInitialEvents"),
        .has_version = *version,
        .match = strcmp(match, "Exact") == 0          ? SIM_MATCH_EXACT
                 : strcmp(match, "NotOlderThan") == 0 ? SIM_MATCH_NOT_OLDER
                                                      : SIM_MATCH_UNSET,
        .continue_ = *token ? token : NULL,
        .include_object = sim_query(request, "includeObject"),
    };
    *refusal = read_numbers(request, options);
    if (!*refusal) *refusal = read_selectors(request, kind, options, &unknown);
    if (!*refusal) *refusal = check_combination(request, options);
    if (!*refusal) *refusal = json_incref(unknown);
    if (!*refusal) *refusal = read_version(version, options);
    json_decref(unknown);
    if (!*refusal && sharding != SIM_SHARDS_OFF) *refusal = read_shard(request, options);
    return *refusal == NULL;
}

bool sim_list_selects(const struct sim_list_options *options, const struct sim_object *object)
{
    return (!options->shard || sim_shard_has(options->shard, object)) &&
           sim_object_matches(object, options->labels, options->fields);
}

void sim_list_options_clear(struct sim_list_options *options)
{
    sim_selector_free(options->labels);
    sim_selector_free(options->fields);
    options->labels = options->fields = NULL;
    sim_shard_free(options->shard);
    options->shard = NULL;
}

/* --- Continue tokens, which lua/sim/pages.lua writes and reads */

char *sim_page_token(int64_t version, const char *after)
{
    lua_State *L = sim_lua_take("sim.pages", "token");
    sim_lua_push_new(L, json_integer(version));
    lua_pushstring(L, after);
    json_t *token = sim_lua_call(L);
    char *text = xstrdup(sim_text_at(token, ""));
    json_decref(token);
    return text;
}

char *sim_page_read(const char *token, struct sim_page *page)
{
    lua_State *L = sim_lua_take("sim.pages", "read");
    lua_pushstring(L, token);
    json_t *found = sim_lua_call(L);
    const char *after = json_string_value(json_array_get(found, 1));
    char *why = after ? NULL : xasprintf("continue key is not valid: %s", sim_text_at(found, ""));
    *page = (struct sim_page){json_integer_value(json_array_get(found, 0)), after ? xstrdup(after) : NULL};
    json_decref(found);
    return why;
}
