/* Text around objects; see form.h. */
#include "sim/store/form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/object/convert.h"
#include "sim/text/text.h"
#include "sim/text/tree.h"
#include "sim/validate/decode.h"

static void put(struct sim_out *out, const char *text)
{
    sim_out_put(out, str_of(text));
}

const char *sim_form_api_version(const struct sim_view *view)
{
    return view->beta ? "meta.k8s.io/v1beta1" : "meta.k8s.io/v1";
}

static void put_partial_head(struct sim_out *out, const struct sim_view *view)
{
    put(out, "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"");
    put(out, sim_form_api_version(view));
    put(out, "\",\"metadata\":");
}

static struct str number(uint64_t version, char digits[24])
{
    return (struct str){digits, (size_t)snprintf(digits, 24, "%llu", (unsigned long long)version)};
}

static void put_version(struct buf *out, uint64_t version)
{
    buf_printf(out, "\"resourceVersion\":\"%llu\"", (unsigned long long)version);
}

/* An object without a version is not stored. */
void sim_form_list_meta(struct buf *out, const struct sim_list_meta *meta)
{
    buf_putc(out, '{');
    if (meta->version) put_version(out, meta->version);
    if (meta->token) buf_printf(out, ",\"continue\":\"%s\"", meta->token);
    if (meta->remaining >= 0) buf_printf(out, ",\"remainingItemCount\":%lld", (long long)meta->remaining);
    if (meta->shard) buf_printf(out, ",\"shardInfo\":{\"selector\":\"%s\"}", meta->shard);
    buf_putc(out, '}');
}

static void put_columns(struct buf *out, struct sim_view *view)
{
    json_t *columns = view->columns_sent ? json_null() : sim_table_columns(view->served->kind);
    sim_put_json(out, columns);
    json_decref(columns);
    view->columns_sent = true;
}

void sim_form_list_head(struct buf *out, struct sim_view *view, const struct sim_list_meta *meta)
{
    const struct sim_served *served = view->served;
    if (view->form == SIM_FORM_JSON && served->kind->custom) {
        buf_printf(out, "{\"apiVersion\":\"%s\",\"items\":", served->api_version);
        return;
    }
    buf_printf(out, "{\"kind\":\"%s\",\"apiVersion\":\"%s\",",
               view->form == SIM_FORM_JSON    ? served->kind->list_kind
               : view->form == SIM_FORM_TABLE ? "Table"
                                              : "PartialObjectMetadataList",
               view->form == SIM_FORM_JSON ? served->api_version : sim_form_api_version(view));
    buf_puts(out, "\"metadata\":");
    sim_form_list_meta(out, meta);
    if (view->form == SIM_FORM_TABLE) {
        buf_puts(out, ",\"columnDefinitions\":");
        put_columns(out, view);
    }
    buf_puts(out, view->form == SIM_FORM_TABLE ? ",\"rows\":" : ",\"items\":");
}

/* Returns whether the kind is one of a server's own that has the table common to them, which ends with
 * Created At. */
static bool has_common_table(const struct sim_kind *kind)
{
    const json_t *columns = kind->printer_columns,
                 *last = json_array_get(columns, json_array_size(columns) - 1);
    return !kind->custom && strcmp(sim_text_at(last, "name"), "Created At") == 0;
}

/* Go writes null where it has made no slice. */
static const char *none_of(const struct sim_view *view)
{
    bool has_rows = view->form == SIM_FORM_TABLE && !has_common_table(view->served->kind);
    return view->form == SIM_FORM_JSON || has_rows ? "[]" : "null";
}

/* Lists of custom resources are written in the order of their keys: metadata comes behind the items. */
void sim_form_list_tail(struct buf *out, const struct sim_view *view, const struct sim_list_meta *meta)
{
    buf_puts(out, meta->empty ? none_of(view) : "]");
    if (view->form == SIM_FORM_JSON && view->served->kind->custom) {
        buf_printf(out, ",\"kind\":\"%s\",\"metadata\":{", view->served->kind->list_kind);
        buf_printf(out, "\"continue\":\"%s\",", meta->token ? meta->token : "");
        if (meta->remaining >= 0) buf_printf(out, "\"remainingItemCount\":%lld,", (long long)meta->remaining);
        put_version(out, meta->version);
        buf_putc(out, '}');
    }
    buf_puts(out, "}\n");
}

static void put_json(struct sim_out *out, json_t *value)
{
    struct buf text = {0};
    sim_put_json(&text, value);
    sim_out_put(out, buf_slice(&text));
    buf_clear(&text);
    json_decref(value);
}

/* Conversion to a version adds it to DaemonSets, and nothing to metadata alone. */
static const char generation[] = "deprecated.daemonset.template.generation";

static void hide_generation(const struct sim_kind *kind, json_t *object)
{
    json_t *metadata = json_object_get(object, "metadata"), *list = json_object_get(metadata, "annotations");
    if (!sim_kind_is(kind, "DaemonSet")) return;
    json_object_del(list, generation);
    if (!json_object_size(list)) json_object_del(metadata, "annotations");
}

/* Writes an object that is stored as another version; an item of a list has no kind. */
static void converted(struct sim_out *out, const struct sim_served *served, const struct sim_object *object,
                      uint64_t version, bool is_item)
{
    json_t *value = sim_served_json(served, object);
    if (version)
        sim_set_at(value, "metadata.resourceVersion", sim_textf("%llu", (unsigned long long)version));
    if (is_item) json_object_del(value, "kind");
    if (is_item) json_object_del(value, "apiVersion");
    put_json(out, value);
}

/* Of DaemonSets. */
static void put_daemon_metadata(struct sim_out *out, const struct sim_view *view,
                                const struct sim_object *object, uint64_t version)
{
    json_t *value = sim_served_json(view->served, object);
    if (version)
        sim_set_at(value, "metadata.resourceVersion", sim_textf("%llu", (unsigned long long)version));
    hide_generation(view->served->kind, value);
    put_json(out, json_incref(json_object_get(value, "metadata")));
    json_decref(value);
}

/* Writes the object as a client sees it, with kind and apiVersion, or metadata alone; with another version if
 * requested. */
static void whole(struct sim_out *out, const struct sim_view *view, enum sim_form form,
                  const struct sim_object *object, uint64_t version)
{
    const struct sim_served *served = view->served;
    struct str text = {object->text + 1, object->len - 1}; /* behind the brace */
    struct sim_span v = object->version_text;
    char digits[24];
    if (served->kind->conversion && form == SIM_FORM_JSON) {
        converted(out, served, object, version, false);
        return;
    }
    if (form == SIM_FORM_JSON) {
        put(out, "{");
        put(out, served->head);
    } else {
        text = sim_object_slice(object, object->metadata);
        put_partial_head(out, view);
    }
    if (form != SIM_FORM_JSON && sim_kind_is(served->kind, "DaemonSet")) {
        put_daemon_metadata(out, view, object, version);
        text.n = 0;
    } else if (version && version != object->version) {
        size_t before = (size_t)(object->text + v.at - text.p);
        sim_out_put(out, (struct str){text.p, before});
        sim_out_put(out, number(version, digits));
        text = (struct str){text.p + before + v.len, text.n - before - v.len};
    }
    sim_out_put(out, text);
    if (form != SIM_FORM_JSON) put(out, "}");
}

/* --- Tables */

/* The object as far as its cells are about it: the owners of its fields are most of its text, and in none. */
static json_t *shown(const struct sim_served *served, const struct sim_object *object)
{
    struct str owners = {0};
    if (!served->kind->custom)
        sim_text_member(sim_object_slice(object, object->metadata), "managedFields", &owners);
    json_t *value = json_pack("{ss ss}", "kind", served->kind->kind, "apiVersion", served->api_version);
    sim_read_stored((struct str){object->text, object->len}, owners.p, value);
    return sim_from_stored(served->kind, value);
}

/* Writes a row up to its object, whose value it takes. */
static void row_head(struct sim_out *out, const struct sim_view *view, json_t *value)
{
    json_t *row = sim_table_cells(view->served->kind, value, sim_now_s(view->api));
    put(out, "{\"cells\":");
    put_json(out, json_incref(json_array_get(row, 0)));
    if (json_is_array(json_array_get(row, 1))) {
        put(out, ",\"conditions\":");
        put_json(out, json_incref(json_array_get(row, 1)));
    }
    put(out, ",\"object\":");
    json_decref(row);
    json_decref(value);
}

static bool includes(const struct sim_view *view, const char *what)
{
    return view->include_object && strcmp(view->include_object, what) == 0;
}

static void put_row(struct sim_out *out, const struct sim_view *view, const struct sim_object *object)
{
    row_head(out, view, shown(view->served, object));
    if (includes(view, "None"))
        put(out, "null");
    else
        whole(out, view, includes(view, "Object") ? SIM_FORM_JSON : SIM_FORM_PARTIAL, object, 0);
    put(out, "}");
}

static void table_head(struct sim_out *out, struct sim_view *view, uint64_t version)
{
    struct buf head = {0};
    sim_form_list_head(&head, view, &(struct sim_list_meta){.version = version, .remaining = -1});
    buf_putc(&head, '[');
    sim_out_put(out, buf_slice(&head));
    buf_clear(&head);
}

/* Writes a Table of one object, or the object. */
static void one(struct sim_out *out, struct sim_view *view, const struct sim_object *object, uint64_t version)
{
    if (view->form != SIM_FORM_TABLE) {
        whole(out, view, view->form, object, version);
        return;
    }
    table_head(out, view, version ? version : object->version);
    put_row(out, view, object);
    put(out, "]}");
}

/* --- The form that is sent */

bool sim_form_is_made(const struct sim_view *view)
{
    return view->form != SIM_FORM_JSON || view->served->kind->conversion || view->served->kind->custom;
}

void sim_form_item(struct sim_out *out, const struct sim_view *view, const struct sim_object *object)
{
    if (view->form == SIM_FORM_TABLE)
        put_row(out, view, object);
    else if (!sim_form_is_made(view))
        sim_out_put(out, (struct str){object->text, object->len});
    else if (view->form == SIM_FORM_JSON && view->served->kind->conversion)
        converted(out, view->served, object, 0, true);
    else
        whole(out, view, view->form, object, 0);
}

void sim_form_object(struct sim_out *out, struct sim_view *view, const struct sim_object *object)
{
    one(out, view, object, 0);
    put(out, "\n");
}

void sim_form_event(struct sim_out *out, struct sim_view *view, const char *type,
                    const struct sim_object *object, uint64_t version)
{
    put(out, "{\"type\":\"");
    put(out, type);
    put(out, "\",\"object\":");
    one(out, view, object, version);
    put(out, "}\n");
}

void sim_form_error(struct buf *out, json_t *status)
{
    json_t *event = json_pack("{ss so}", "type", "ERROR", "object", status);
    sim_put_json(out, event);
    buf_putc(out, '\n');
    json_decref(event);
}

static json_t *bookmark_object(const struct sim_view *view, uint64_t version, bool initial_end)
{
    char digits[24];
    number(version, digits);
    json_t *metadata = json_pack("{ss}", "resourceVersion", digits);
    if (initial_end)
        json_object_set_new(metadata, "annotations", json_pack("{ss}", "k8s.io/initial-events-end", "true"));
    bool plain = view->form == SIM_FORM_JSON || view->form == SIM_FORM_TABLE;
    const char *kind = plain ? view->served->kind->kind : "PartialObjectMetadata";
    const char *api_version = plain ? view->served->api_version : sim_form_api_version(view);
    json_t *object = json_pack("{ss ss so}", "kind", kind, "apiVersion", api_version, "metadata", metadata);
    struct sim_decoding decoding = {0};
    if (plain && view->served->kind->schema)
        json_object_update_new(
            object, sim_decode(schema_type_of_kind(view->served->kind->schema), object, &decoding));
    if (plain && strcmp(view->served->kind->group, "apps") == 0 && sim_at(object, "spec"))
        sim_set_at(object, "spec.selector", json_null());
    if (plain && sim_kind_is(view->served->kind, "DaemonSet"))
        json_object_set_new(sim_at(object, "metadata.annotations"), generation, json_string("0"));
    else if (plain && sim_at(object, "spec.selector"))
        sim_default(json_object_get(object, "spec"), "replicas", json_integer(0));
    return object;
}

/* The bookmark that ends the initial events keeps its annotation in every form. */
static void put_bookmark_row(struct sim_out *out, struct sim_view *view, json_t *object, uint64_t version,
                             bool initial_end)
{
    table_head(out, view, version);
    row_head(out, view, json_deep_copy(object));
    if (includes(view, "None") && !initial_end)
        put(out, "null");
    else if (includes(view, "Object"))
        put_json(out, json_incref(object));
    else {
        hide_generation(view->served->kind, object);
        put_partial_head(out, view);
        put_json(out, json_incref(json_object_get(object, "metadata")));
        put(out, "}");
    }
    put(out, "}]}");
    json_decref(object);
}

/* As a real server fills it: an empty object of the kind, as Go writes it, and for Tables a row about
 * nothing. */
void sim_form_bookmark(struct sim_out *out, struct sim_view *view, uint64_t version, bool initial_end)
{
    json_t *object = bookmark_object(view, version, initial_end);
    put(out, "{\"type\":\"BOOKMARK\",\"object\":");
    if (view->form == SIM_FORM_TABLE)
        put_bookmark_row(out, view, object, version, initial_end);
    else
        put_json(out, object);
    put(out, "}\n");
}
