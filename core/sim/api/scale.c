/* Scale, by which clients of any kind set a number of replicas; see subresource.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/api/subresource.h"
#include "sim/object/status.h"
#include "sim/text/tree.h"

static const struct schema_kind scale_schema = {
    .group = "autoscaling", .version = "v1", .kind = "Scale", .type = "autoscaling/v1.Scale"};
const struct sim_kind sim_scale_kind = {
    .group = "autoscaling", .version = "v1", .plural = "scales", .kind = "Scale", .schema = &scale_schema};

/* Where the others are: a CRD says so; others have them where Deployments do. */
static const char *path_of(const struct sim_kind *kind, const char *key, const char *otherwise)
{
    if (!kind->scale) return otherwise;
    const char *path = sim_text_at(kind->scale, key);
    return *path == '.' ? path + 1 : path;
}

static void put_requirement(struct buf *out, const json_t *requirement)
{
    const char *op = sim_text_at(requirement, "operator"), *key = sim_text_at(requirement, "key");
    json_t *value;
    size_t i;
    if (out->len) buf_putc(out, ',');
    if (strcmp(op, "DoesNotExist") == 0) buf_putc(out, '!');
    buf_puts(out, key);
    bool in = strcmp(op, "In") == 0, not_in = strcmp(op, "NotIn") == 0;
    if (!in && !not_in) return;
    buf_puts(out, in ? " in (" : " notin (");
    json_array_foreach (json_object_get(requirement, "values"), i, value)
        buf_printf(out, "%s%s", i ? "," : "", json_string_value(value));
    buf_putc(out, ')');
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void put_labels(struct buf *out, const json_t *labels)
{
    size_t count = 0;
    const char **keys = xcalloc(json_object_size(labels) + 1, sizeof *keys), *key;
    json_t *value;
    json_object_foreach ((json_t *)labels, key, value) keys[count++] = key;
    qsort(keys, count, sizeof *keys, compare);
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "%s%s=%s", out->len ? "," : "", keys[i],
                   json_string_value(json_object_get(labels, keys[i])));
    free(keys);
}

void sim_scale_selector(struct buf *out, const json_t *selector)
{
    json_t *requirement;
    size_t i;
    put_labels(out, json_object_get(selector, "matchLabels"));
    json_array_foreach (json_object_get(selector, "matchExpressions"), i, requirement)
        put_requirement(out, requirement);
}

/* "app=web,tier in (a,b)"; "" if there is none. */
static json_t *selector_of(const struct sim_kind *kind, const json_t *object)
{
    struct buf text = {0};
    if (kind->scale) return sim_string(sim_text_at(object, path_of(kind, "labelSelectorPath", "")));
    if (strcmp(kind->kind, "ReplicationController") == 0)
        put_labels(&text, sim_at(object, "spec.selector"));
    else
        sim_scale_selector(&text, sim_at(object, "spec.selector"));
    json_t *value = sim_string(buf_text(&text));
    buf_clear(&text);
    return value;
}

static json_t *scale_of(const struct sim_kind *kind, const json_t *object)
{
    static const char *const kept[] = {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"};
    json_t *metadata = json_object(), *spec = json_object(), *status = json_object();
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        json_t *value = json_object_get(json_object_get(object, "metadata"), kept[i]);
        if (value) json_object_set(metadata, kept[i], value);
    }
    int64_t wanted = sim_int_at(object, sim_scale_path(kind), 0);
    if (wanted) json_object_set_new(spec, "replicas", json_integer(wanted));
    json_object_set_new(
        status, "replicas",
        json_integer(sim_int_at(object, path_of(kind, "statusReplicasPath", "status.replicas"), 0)));
    json_t *selector = selector_of(kind, object);
    if (json_string_length(selector))
        json_object_set_new(status, "selector", selector);
    else
        json_decref(selector);
    return json_pack("{s:s, s:s, s:o, s:o, s:o}", "kind", "Scale", "apiVersion", "autoscaling/v1", "metadata",
                     metadata, "spec", spec, "status", status);
}

static void respond(const struct sim_served *served, const struct sim_object *object, struct sim_reply *reply)
{
    json_t *whole = sim_served_json(served, object);
    reply->json = scale_of(served->kind, whole);
    reply->code = 200;
    json_decref(whole);
}

void sim_scale_get(const struct sim_target *target, const struct sim_object *object, struct sim_reply *reply)
{
    respond(target->served, object, reply);
}

/* --- writes */

struct scaling {
    sim_body_fn *change;
    void *ctx;
};

/* A server checks the Scale itself, or the custom object with the number in it. */
static json_t *negative(const struct sim_kind *kind, const char *name, const json_t *replicas)
{
    if (!kind->scale)
        return sim_status_invalid(&sim_scale_kind, name, "FieldValueInvalid", "spec.replicas", replicas,
                                  "must be greater than or equal to 0");
    return sim_status_invalid(kind, name, "FieldValueInvalid", sim_text_at(kind->scale, "specReplicasPath"),
                              replicas, "should be a non-negative integer");
}

static bool check(const struct sim_kind *kind, const json_t *old, const json_t *scale,
                  struct sim_refusal *refusal)
{
    const char *name = sim_text_at(old, "metadata.name"), *own = sim_text_at(scale, "metadata.name");
    const char *version = sim_text_at(scale, "metadata.resourceVersion");
    json_t *replicas = sim_at(scale, "spec.replicas");
    if (strcmp(sim_text_at(scale, "kind"), "Scale") != 0)
        return sim_refuse(refusal, sim_status_bad_request("cannot update scale to unexpected object kind"));
    if (*own && strcmp(own, name) != 0)
        return sim_refuse(
            refusal, sim_status_bad_request("the name of the object (%s) does not match the name on the URL "
                                            "(%s)",
                                            own, name));
    if (json_integer_value(replicas) < 0) return sim_refuse(refusal, negative(kind, name, replicas));
    if (*version && strcmp(version, sim_text_at(old, "metadata.resourceVersion")) != 0)
        return sim_refuse(refusal, sim_status_modified(kind, name));
    return true;
}

/* The object with the number that the changed Scale has. */
static json_t *scaled(void *ctx, const struct sim_kind *kind, const json_t *old, struct sim_refusal *refusal)
{
    struct scaling *scaling = ctx;
    json_t *present = scale_of(kind, old), *object = NULL;
    json_t *scale = scaling->change(scaling->ctx, &sim_scale_kind, present, refusal);
    if (scale && check(kind, old, scale, refusal)) {
        object = json_deep_copy(old);
        sim_set_at(object, sim_scale_path(kind), json_integer(sim_int_at(scale, "spec.replicas", 0)));
    }
    json_decref(present);
    json_decref(scale);
    return object;
}

void sim_scale_write(struct writing *w, const char *key, sim_body_fn *change, void *ctx)
{
    struct sim_written written;
    struct scaling scaling = {change, ctx};
    sim_write_update(w->api, w->target->served, key, "scale", scaled, &scaling, w->by, &written);
    if (written.refusal) {
        sim_reply_status(w->reply, written.refusal);
        written.refusal = NULL;
    } else {
        respond(w->target->served, written.object, w->reply);
    }
    sim_written_clear(w->api, &written);
}
