/* Requests of fuzz targets; see bodies.h. */
#include "fuzz/support/bodies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "schema/schema.h"

static struct loop *loop;
static struct sim_inside *inside;

json_t *fuzz_begin(const uint8_t *data, size_t size)
{
    json_t *list = json_loadb((const char *)data, size, 0, NULL);
    if (!json_is_array(list)) {
        json_decref(list);
        return NULL;
    }
    if (!loop) loop = loop_new_by_hand(INT64_C(1700000000000000));
    inside = sim_inside_new(loop);
    return list;
}

static const json_t *definition_of(const json_t *list, const char *group, const char *kind)
{
    size_t i;
    json_t *one;
    json_array_foreach ((json_t *)list, i, one)
        if (strcmp(sim_text_at(one, "spec.names.kind"), kind) == 0 &&
            strcmp(sim_text_at(one, "spec.group"), group) == 0)
            return one;
    return NULL;
}

/* Percent-encoded, as any name may be in a body. */
static void put_escaped(struct buf *path, const char *text)
{
    for (; *text; text++) buf_printf(path, "%%%02X", (unsigned char)*text);
}

static const struct schema_kind *schema_of(const json_t *body)
{
    const char *version = sim_text_at(body, "apiVersion"), *slash = strchr(version, '/');
    char *group = slash ? xstrndup(version, (size_t)(slash - version)) : xstrdup("");
    const struct schema_kind *schema =
        schema_kind(group, slash ? slash + 1 : version, sim_text_at(body, "kind"));
    free(group);
    return schema;
}

bool fuzz_is_custom(const json_t *body)
{
    return !schema_of(body);
}

char *fuzz_path(const json_t *list, const json_t *body, bool collection)
{
    const char *version = sim_text_at(body, "apiVersion"), *kind = sim_text_at(body, "kind"),
               *slash = strchr(version, '/'), *plural = NULL;
    char *group = slash ? xstrndup(version, (size_t)(slash - version)) : xstrdup("");
    const struct schema_kind *schema = schema_of(body);
    const json_t *definition = schema ? NULL : definition_of(list, group, kind);
    bool namespaced = schema && schema->namespaced;
    if (schema) plural = schema->plural;
    if (definition) plural = sim_text_at(definition, "spec.names.plural");
    if (definition) namespaced = strcmp(sim_text_at(definition, "spec.scope"), "Namespaced") == 0;
    free(group);
    if (!plural || !*plural || strpbrk(version, " %?#")) return NULL;
    struct buf path = {0};
    buf_printf(&path, "/%s/%s/%s", slash ? "apis" : "api", version, namespaced ? "namespaces/default/" : "");
    put_escaped(&path, plural);
    if (!collection) buf_putc(&path, '/');
    if (!collection) put_escaped(&path, sim_text_at(body, "metadata.name"));
    return buf_take(&path);
}

void fuzz_end(json_t *list)
{
    if (list) sim_inside_free(inside);
    json_decref(list);
}

/* Failures that a kube-apiserver has too. */
static bool is_known_failure(const char *message)
{
    static const char *const known[] = {
        "failed to create typed patch object",
        "failed to convert new object ",
        "resourceVersion should not be set on objects to be created",
        "strconv.ParseUint: parsing ",
        "target.name: Required value",
        "target.kind: Unsupported value",
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(message, known[i])) return true;
    return false;
}

/* Each cause of what is invalid, or in conflict, has a field. A kind that is not served has no page. */
static bool good_status(const struct fuzz_reply *reply)
{
    const char *message = sim_text_at(reply->body, "message"), *reason = sim_text_at(reply->body, "reason");
    json_t *causes = sim_at(reply->body, "details.causes"), *cause;
    size_t i;
    if (!reply->body) return reply->code == 404;
    if (strcmp(sim_text_at(reply->body, "kind"), "Status") != 0 || !*message) return false;
    if (reply->code >= 500 && !is_known_failure(message)) return false;
    if (strcmp(reason, "Invalid") == 0 && json_array_size(causes) == 0) return false;
    json_array_foreach (causes, i, cause)
        if (!*sim_text_at(cause, "field") || !*sim_text_at(cause, "message")) return false;
    return true;
}

void fuzz_check(bool good, const struct fuzz_reply *reply)
{
    if (!good) json_dumpf(reply->body, stderr, JSON_INDENT(1));
    must(good);
}

struct fuzz_reply fuzz_send(const char *method, const char *path, const char *query, const json_t *body)
{
    bool apply = strcmp(method, "PATCH") == 0;
    char *target = xasprintf("%s?%s", path, query), *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    struct sim_inside_request request = {
        .method = method,
        .target = target,
        .content_type = apply ? "application/apply-patch+yaml" : "application/json",
        .agent = "fuzz",
        .body = str_of(text ? text : ""),
    };
    struct sim_inside_response response = {0};
    sim_inside_serve(inside, &request, &response);
    struct str got = buf_slice(&response.body);
    struct fuzz_reply reply = {response.code, json_loadb(got.p, got.n, 0, NULL)};
    if (reply.code >= 400) fuzz_check(good_status(&reply), &reply);
    sim_inside_response_clear(&response);
    free(target);
    free(text);
    return reply;
}

void fuzz_reply_clear(struct fuzz_reply *reply)
{
    json_decref(reply->body);
    *reply = (struct fuzz_reply){0};
}
