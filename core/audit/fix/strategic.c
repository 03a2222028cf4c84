/* Strategic merge patches by the types of Kubernetes; see strategic.h. */
#include "audit/fix/strategic.h"

#include <string.h>

#include "base/mem.h"
#include "base/text/json_out.h"
#include "object/value/json.h"
#include "object/value/merge.h"

/* More items take the square of their number: such a list is no list of containers. */
enum { ITEMS_MAX = 1000 };

/* Place of a value in an object. */
enum strategic_place {
    AT_OTHER, /* its lists may have keys that are not known here */
    AT_PLAIN, /* its lists have none, and are replaced whole */
    AT_POD,
    AT_WORKLOAD, /* and the template of a job in a CronJob */
    AT_WORKLOAD_SPEC,
    AT_CRON_JOB,
    AT_CRON_JOB_SPEC,
    AT_TEMPLATE,
    AT_POD_SPEC,
    AT_CONTAINER,
};

static const struct {
    const char *group, *kind;
    enum strategic_place place;
} kinds[] = {
    {"", "Pod", AT_POD},
    {"", "ReplicationController", AT_WORKLOAD},
    {"apps", "Deployment", AT_WORKLOAD},
    {"apps", "StatefulSet", AT_WORKLOAD},
    {"apps", "DaemonSet", AT_WORKLOAD},
    {"apps", "ReplicaSet", AT_WORKLOAD},
    {"batch", "Job", AT_WORKLOAD},
    {"batch", "CronJob", AT_CRON_JOB},
};

static const struct {
    enum strategic_place from;
    const char *field;
    enum strategic_place to;
} steps[] = {
    {AT_POD, "spec", AT_POD_SPEC},
    {AT_WORKLOAD, "spec", AT_WORKLOAD_SPEC},
    {AT_WORKLOAD_SPEC, "template", AT_TEMPLATE},
    {AT_CRON_JOB, "spec", AT_CRON_JOB_SPEC},
    {AT_CRON_JOB_SPEC, "jobTemplate", AT_WORKLOAD},
    {AT_TEMPLATE, "spec", AT_POD_SPEC},
};

static const struct {
    enum strategic_place at;
    const char *field, *key;
    enum strategic_place items;
} lists[] = {
    {AT_POD_SPEC, "containers", "name", AT_CONTAINER},
    {AT_POD_SPEC, "initContainers", "name", AT_CONTAINER},
    {AT_POD_SPEC, "ephemeralContainers", "name", AT_CONTAINER},
    {AT_POD_SPEC, "volumes", "name", AT_PLAIN},
    {AT_POD_SPEC, "imagePullSecrets", "name", AT_PLAIN},
    {AT_POD_SPEC, "hostAliases", "ip", AT_PLAIN},
    {AT_POD_SPEC, "topologySpreadConstraints", "topologyKey", AT_PLAIN},
    {AT_POD_SPEC, "schedulingGates", "name", AT_PLAIN},
    {AT_POD_SPEC, "resourceClaims", "name", AT_PLAIN},
    {AT_CONTAINER, "ports", "containerPort", AT_PLAIN},
    {AT_CONTAINER, "env", "name", AT_PLAIN},
    {AT_CONTAINER, "volumeMounts", "mountPath", AT_PLAIN},
    {AT_CONTAINER, "volumeDevices", "devicePath", AT_PLAIN},
};

/* One patch that is being written. */
struct patch {
    struct buf *out;
    bool is_keyed; /* a list was merged by its key */
    bool failed;
};

static bool diff(struct patch *patch, struct value from, struct value to, enum strategic_place at);

static enum strategic_place place_of(struct value object)
{
    struct text texts[2];
    struct str version = value_str(value_field(object, STR("apiVersion")), &texts[0]);
    struct str kind = value_str(value_field(object, STR("kind")), &texts[1]);
    const char *slash = version.n ? memchr(version.p, '/', version.n) : NULL;
    struct str group = {version.p, slash ? (size_t)(slash - version.p) : 0};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_is(group, kinds[i].group) && str_is(kind, kinds[i].kind)) return kinds[i].place;
    return AT_OTHER;
}

/* Metadata and status have lists with keys of their own. */
static enum strategic_place step(enum strategic_place at, struct str field)
{
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        if (steps[i].from == at && str_is(field, steps[i].field)) return steps[i].to;
    bool is_top = at == AT_POD || at == AT_WORKLOAD || at == AT_CRON_JOB || at == AT_TEMPLATE;
    return is_top || at == AT_OTHER ? AT_OTHER : AT_PLAIN;
}

/* --- lists */

static bool has_key(struct value list, struct str key, struct value wanted, size_t before, size_t *at)
{
    for (size_t i = 0; i < before; i++) {
        if (!value_equal(value_field(value_item(list, i), key), wanted)) continue;
        *at = i;
        return true;
    }
    return false;
}

/* Each item is a map with a key that no other one has. */
static bool is_keyed(struct value list, struct str key)
{
    size_t count = value_count(list), other;
    if (count > ITEMS_MAX) return false;
    for (size_t i = 0; i < count; i++) {
        struct value own = value_field(value_item(list, i), key);
        enum value_type type = value_type(own);
        if (type != VALUE_STRING && type != VALUE_INT) return false;
        if (has_key(list, key, own, i, &other)) return false;
    }
    return true;
}

/* {"name":"web" and what follows is the caller's. */
static void put_item(struct buf *out, struct str key, struct value own)
{
    json_open(out, NULL, '{');
    json_key(out, key);
    json_write(out, own);
}

/* Both have it: what has changed of it, behind its key. */
static void put_changed(struct patch *patch, struct str key, struct value from, struct value to,
                        enum strategic_place at)
{
    struct buf inner = {0}, *out = patch->out;
    patch->out = &inner;
    bool differs = diff(patch, from, to, at);
    patch->out = out;
    if (differs) {
        put_item(out, key, value_field(to, key));
        buf_putc(out, ',');
        buf_append(out, inner.data + 1, inner.len - 1); /* without its bracket */
    }
    buf_clear(&inner);
}

/* Appends the order of the items: the server would place new ones as it likes. */
static void put_order(struct buf *out, struct str field, struct str key, struct value to)
{
    json_key(out, STR("$setElementOrder/"));
    out->len -= 2; /* the name goes on */
    buf_printf(out, "%.*s\":[", STR_ARG(field));
    for (size_t i = 0; i < value_count(to); i++) {
        put_item(out, key, value_field(value_item(to, i), key));
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

/* True when items are new, or stand in another order. */
static bool put_items(struct patch *patch, struct str key, struct value from, struct value to,
                      enum strategic_place at)
{
    size_t before = 0, count = value_count(from);
    bool moved = false;
    for (size_t i = 0; i < value_count(to); i++) {
        struct value item = value_item(to, i);
        size_t old;
        if (has_key(from, key, value_field(item, key), count, &old)) {
            put_changed(patch, key, value_item(from, old), item, at);
            moved |= old < before;
            before = old;
        } else {
            json_key(patch->out, (struct str){0});
            json_write(patch->out, item);
            moved = true;
        }
    }
    return moved;
}

static void put_removed(struct buf *out, struct str key, struct value from, struct value to)
{
    size_t count = value_count(to), now;
    for (size_t i = 0; i < value_count(from); i++) {
        struct value own = value_field(value_item(from, i), key);
        if (has_key(to, key, own, count, &now)) continue;
        put_item(out, key, own);
        buf_puts(out, ",\"$patch\":\"delete\"}");
    }
}

/* Two lists that differ, as fields of the map that they are in. */
static void put_list(struct patch *patch, struct str field, struct str key, struct value from,
                     struct value to, enum strategic_place at)
{
    struct buf items = {0}, *out = patch->out;
    if (!is_keyed(from, key) || !is_keyed(to, key)) {
        patch->failed = true;
        return;
    }
    patch->is_keyed = true;
    patch->out = &items;
    bool moved = put_items(patch, key, from, to, at);
    put_removed(&items, key, from, to);
    patch->out = out;
    if (items.len) {
        json_key(out, field);
        buf_printf(out, "[%s]", buf_text(&items));
    }
    if (moved) put_order(out, field, key, to);
    buf_clear(&items);
}

/* --- fields */

static void put_value(struct patch *patch, struct str field, struct value from, struct value to,
                      enum strategic_place at)
{
    bool is_list = value_type(from) == VALUE_ARRAY && value_type(to) == VALUE_ARRAY;
    for (size_t i = 0; is_list && i < ARRAY_LEN(lists); i++) {
        if (lists[i].at != at || !str_is(field, lists[i].field)) continue;
        put_list(patch, field, str_of(lists[i].key), from, to, lists[i].items);
        return;
    }
    enum strategic_place inner = step(at, field);
    bool differs = true;
    size_t before = patch->out->len;
    if (is_list && inner == AT_OTHER) patch->failed = true;
    json_key(patch->out, field);
    if (value_type(from) == VALUE_MAP && value_type(to) == VALUE_MAP)
        differs = diff(patch, from, to, inner);
    else
        json_write(patch->out, to);
    if (!differs) patch->out->len = before;
}

/* A map, whose entries are there. */
struct level {
    struct patch *patch;
    enum strategic_place at;
};

static void put_entry(void *ctx, struct buf *out, struct str field, struct value from, struct value to)
{
    const struct level *level = ctx;
    put_value(level->patch, field, from, to, level->at);
}

/* Two maps. False, with nothing written: they are equal, or but for nulls, which no patch can write. */
static bool diff(struct patch *patch, struct value from, struct value to, enum strategic_place at)
{
    struct level level = {patch, at};
    return merge_diff_maps(patch->out, from, to, put_entry, &level);
}

bool strategic_diff(struct buf *out, struct value from, struct value to)
{
    struct patch patch = {.out = out};
    size_t before = out->len;
    enum strategic_place at = place_of(from);
    bool ok = at != AT_OTHER && diff(&patch, from, to, at) && patch.is_keyed && !patch.failed;
    if (!ok) out->len = before;
    return ok;
}
