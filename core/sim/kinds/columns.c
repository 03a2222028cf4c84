/* Tables of the kinds with few columns: namespaces, configmaps, secrets, leases, CRDs, events. */
#include "sim/kinds/columns.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sim/text/timestamp.h"
#include "sim/text/tree.h"

void sim_cell_text(json_t *cells, const char *text)
{
    json_array_append_new(cells, sim_string(text));
}

void sim_cell_age(json_t *cells, const json_t *object, int64_t now_s)
{
    char age[SIM_AGE_MAX];
    sim_age(sim_text_at(object, "metadata.creationTimestamp"), now_s, age);
    sim_cell_text(cells, age);
}

const char *sim_or_none(const char *text)
{
    return *text ? text : "<none>";
}

static json_t *begin(const json_t *object)
{
    json_t *cells = json_array();
    sim_cell_text(cells, sim_text_at(object, "metadata.name"));
    return cells;
}

static const struct sim_column namespace_columns[] = {
    SIM_COLUMN_NAME,
    {"Status", "string", "", "The status of the namespace", 0},
    SIM_COLUMN_AGE,
};

static json_t *namespace_cells(const struct sim_kind *kind, const json_t *object, int64_t now_s)
{
    json_t *cells = begin(object);
    sim_cell_text(cells, sim_text_at(object, "status.phase"));
    sim_cell_age(cells, object, now_s);
    return cells;
}

const struct sim_layout sim_layout_namespaces = {namespace_columns, ARRAY_LEN(namespace_columns),
                                                 namespace_cells};

static const struct sim_column configmap_columns[] = {
    SIM_COLUMN_NAME,
    {"Data", "string", "", "The number of keys in data and binaryData.", 0},
    SIM_COLUMN_AGE,
};

static json_t *configmap_cells(const struct sim_kind *kind, const json_t *object, int64_t now_s)
{
    json_t *cells = begin(object);
    size_t keys = json_object_size(json_object_get(object, "data"));
    keys += json_object_size(json_object_get(object, "binaryData"));
    json_array_append_new(cells, json_integer((json_int_t)keys));
    sim_cell_age(cells, object, now_s);
    return cells;
}

const struct sim_layout sim_layout_configmaps = {configmap_columns, ARRAY_LEN(configmap_columns),
                                                 configmap_cells};

static const struct sim_column secret_columns[] = {
    SIM_COLUMN_NAME,
    {"Type", "string", "", "Used to facilitate programmatic handling of secret data.", 0},
    {"Data", "string", "", "The number of keys in data.", 0},
    SIM_COLUMN_AGE,
};

static json_t *secret_cells(const struct sim_kind *kind, const json_t *object, int64_t now_s)
{
    json_t *cells = begin(object);
    sim_cell_text(cells, sim_text_at(object, "type"));
    json_array_append_new(cells, json_integer((json_int_t)json_object_size(json_object_get(object, "data"))));
    sim_cell_age(cells, object, now_s);
    return cells;
}

const struct sim_layout sim_layout_secrets = {secret_columns, ARRAY_LEN(secret_columns), secret_cells};

static const struct sim_column lease_columns[] = {
    SIM_COLUMN_NAME,
    {"Holder", "string", "", "The identity of the holder of the lease.", 0},
    SIM_COLUMN_AGE,
};

static json_t *lease_cells(const struct sim_kind *kind, const json_t *object, int64_t now_s)
{
    json_t *cells = begin(object);
    sim_cell_text(cells, sim_text_at(object, "spec.holderIdentity"));
    sim_cell_age(cells, object, now_s);
    return cells;
}

const struct sim_layout sim_layout_leases = {lease_columns, ARRAY_LEN(lease_columns), lease_cells};

static const struct sim_column crd_columns[] = {
    SIM_COLUMN_NAME,
    {"Created At", "date", "", "The time at which this object was created, by the clock of the server.", 0},
};

static json_t *crd_cells(const struct sim_kind *kind, const json_t *object, int64_t now_s)
{
    json_t *cells = begin(object);
    sim_cell_text(cells, sim_text_at(object, "metadata.creationTimestamp"));
    return cells;
}

const struct sim_layout sim_layout_crds = {crd_columns, ARRAY_LEN(crd_columns), crd_cells};

static const struct sim_column event_columns[] = {
    {"Last Seen", "string", "", "The time at which the most recent occurrence of this event was recorded.",
     0},
    {"Type", "string", "", "Type of this event (Normal, Warning), new types could be added in the future", 0},
    {"Reason", "string", "", "The reason for the transition into the object's current status.", 0},
    {"Object", "string", "", "The object that this event is about.", 0},
    {"Subobject", "string", "", "The piece of the object that this event is about.", 1},
    {"Source", "string", "", "The component reporting this event.", 1},
    {"Message", "string", "", "A human-readable description of the status of this operation.", 0},
    {"First Seen", "string", "", "The time at which the event was first recorded.", 1},
    {"Count", "string", "", "The number of times this event has occurred.", 1},
    {"Name", "string", "name", "Name must be unique within a namespace, and cannot be updated.", 1},
};

/* The first of two paths that holds a text. */
static const char *either(const json_t *object, const char *path, const char *other)
{
    const char *text = sim_text_at(object, path);
    return *text ? text : sim_text_at(object, other);
}

/* "kubelet, node-1" */
static void source_cell(json_t *cells, const json_t *event)
{
    const char *component = either(event, "source.component", "reportingComponent");
    const char *instance = either(event, "source.host", "reportingInstance");
    if (*instance)
        json_array_append_new(cells, sim_textf("%s, %s", component, instance));
    else
        sim_cell_text(cells, component);
}

/* "pod/web-1" */
static void object_cell(json_t *cells, const json_t *event)
{
    struct buf b = {0};
    const char *name = sim_text_at(event, "involvedObject.name");
    for (const char *p = sim_text_at(event, "involvedObject.kind"); *p; p++)
        buf_putc(&b, (char)tolower((unsigned char)*p));
    if (*name) buf_printf(&b, "/%s", name);
    sim_cell_text(cells, buf_text(&b));
    buf_clear(&b);
}

static void message_cell(json_t *cells, const json_t *event)
{
    struct str message = str_trim(str_of(sim_text_at(event, "message")));
    json_array_append_new(cells, json_stringn(message.p, message.n));
}

static json_t *event_cells(const struct sim_kind *kind, const json_t *object, int64_t now_s)
{
    char first[SIM_AGE_MAX], last[SIM_AGE_MAX];
    const json_t *series = sim_at(object, "series");
    const char *last_time = sim_text_at(object, "lastTimestamp");
    int64_t count = sim_int_at(object, "count", 0);
    sim_age(either(object, "firstTimestamp", "eventTime"), now_s, first);
    if (json_is_object(series)) {
        sim_age(sim_text_at(series, "lastObservedTime"), now_s, last);
        count = sim_int_at(series, "count", 0);
    } else {
        if (*last_time)
            sim_age(last_time, now_s, last);
        else
            memcpy(last, first, sizeof first);
        if (count == 0) count = 1;
    }

    json_t *cells = json_array();
    sim_cell_text(cells, last);
    sim_cell_text(cells, sim_text_at(object, "type"));
    sim_cell_text(cells, sim_text_at(object, "reason"));
    object_cell(cells, object);
    sim_cell_text(cells, sim_text_at(object, "involvedObject.fieldPath"));
    source_cell(cells, object);
    message_cell(cells, object);
    sim_cell_text(cells, first);
    json_array_append_new(cells, json_integer(count));
    sim_cell_text(cells, sim_text_at(object, "metadata.name"));
    return cells;
}

const struct sim_layout sim_layout_events = {event_columns, ARRAY_LEN(event_columns), event_cells};
