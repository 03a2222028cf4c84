/* Text around objects; see form.h. */
#include "sim/store/form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/text/tree.h"
#include "sim/validate/decode.h"

#define PARTIAL_HEAD(version) \
    "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/" version "\",\"metadata\":"

static void put(struct sim_out *out, const char *text)
{
    sim_out_put(out, str_of(text));
}

static struct str number(uint64_t version, char digits[24])
{
    return (struct str){digits, (size_t)snprintf(digits, 24, "%llu", (unsigned long long)version)};
}

static void put_version(struct buf *out, uint64_t version)
{
    buf_printf(out, "\"resourceVersion\":\"%llu\"", (unsigned long long)version);
}

static void list_meta(struct buf *out, const struct sim_list_meta *meta)
{
    buf_puts(out, "\"metadata\":{");
    put_version(out, meta->version);
    if (meta->token) buf_printf(out, ",\"continue\":\"%s\"", meta->token);
    if (meta->remaining >= 0) buf_printf(out, ",\"remainingItemCount\":%lld", (long long)meta->remaining);
    if (meta->shard) buf_printf(out, ",\"shardInfo\":{\"selector\":\"%s\"}", meta->shard);
    buf_putc(out, '}');
}

void sim_form_list_head(struct buf *out, const struct sim_served *served, enum sim_form form,
                        const struct sim_list_meta *meta)
{
    if (form == SIM_FORM_JSON && served->kind->custom) {
        buf_printf(out, "{\"apiVersion\":\"%s\",\"items\":", served->api_version);
        return;
    }
    if (form == SIM_FORM_JSON)
        buf_printf(out, "{\"kind\":\"%s\",\"apiVersion\":\"%s\",", served->kind->list_kind,
                   served->api_version);
    else
        buf_puts(out, "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/v1\",");
    list_meta(out, meta);
    buf_puts(out, ",\"items\":");
}

/* Lists of custom resources are written in the order of their keys: metadata comes behind the items. */
void sim_form_list_tail(struct buf *out, const struct sim_served *served, enum sim_form form,
                        const struct sim_list_meta *meta)
{
    buf_puts(out, !meta->empty ? "]" : form == SIM_FORM_JSON ? "[]" : "null");
    if (form == SIM_FORM_JSON && served->kind->custom) {
        buf_printf(out, ",\"kind\":\"%s\",\"metadata\":{", served->kind->list_kind);
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

void sim_form_hide_generation(const struct sim_kind *kind, json_t *object)
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

/* Writes the object as a client sees it, with kind and apiVersion; with another version if requested. `beta`:
 * only of watches, whose replies are not rewritten later. */
static void whole(struct sim_out *out, const struct sim_served *served, enum sim_form form, bool beta,
                  const struct sim_object *object, uint64_t version)
{
    struct str text = {object->text + 1, object->len - 1}; /* behind the brace */
    struct sim_span v = object->version_text;
    char digits[24];
    if (served->kind->conversion && form == SIM_FORM_JSON) {
        converted(out, served, object, version, false);
        return;
    }
    if (form != SIM_FORM_JSON && sim_kind_is(served->kind, "DaemonSet")) {
        json_t *value = sim_served_json(served, object);
        if (version)
            sim_set_at(value, "metadata.resourceVersion", sim_textf("%llu", (unsigned long long)version));
        sim_form_hide_generation(served->kind, value);
        put(out, beta ? PARTIAL_HEAD("v1beta1") : PARTIAL_HEAD("v1"));
        put_json(out, json_incref(json_object_get(value, "metadata")));
        json_decref(value);
        put(out, "}");
        return;
    }
    if (form == SIM_FORM_PARTIAL || form == SIM_FORM_PARTIAL_LIST) {
        struct str metadata = sim_object_slice(object, object->metadata);
        text = (struct str){metadata.p, metadata.n};
        put(out, beta ? PARTIAL_HEAD("v1beta1") : PARTIAL_HEAD("v1"));
    } else {
        put(out, "{");
        put(out, served->head);
    }
    if (version && version != object->version) {
        size_t before = (size_t)(object->text + v.at - text.p);
        sim_out_put(out, (struct str){text.p, before});
        sim_out_put(out, number(version, digits));
        text = (struct str){text.p + before + v.len, text.n - before - v.len};
    }
    sim_out_put(out, text);
    if (form != SIM_FORM_JSON) put(out, "}");
}

void sim_form_item(struct sim_out *out, const struct sim_served *served, enum sim_form form,
                   const struct sim_object *object)
{
    if (form == SIM_FORM_JSON && served->kind->conversion)
        converted(out, served, object, 0, true);
    else if (form == SIM_FORM_JSON && !served->kind->custom)
        sim_out_put(out, (struct str){object->text, object->len});
    else
        whole(out, served, form, false, object, 0);
}

void sim_form_object(struct sim_out *out, const struct sim_served *served, enum sim_form form,
                     const struct sim_object *object)
{
    whole(out, served, form, false, object, 0);
    put(out, "\n");
}

static void table_of(struct sim_out *out, struct sim_event_form *form, const struct sim_object *object,
                     uint64_t version)
{
    char digits[24];
    json_t *one = sim_served_json(form->served, object);
    json_t *const objects[] = {one};
    number(version ? version : object->version, digits);
    json_t *table = sim_table(form->served->kind, objects, 1, digits, NULL, form->include_object,
                              !form->columns_sent, sim_now_s(form->api));
    if (form->beta) sim_form_to_beta(table);
    put_json(out, table);
    form->columns_sent = true;
    json_decref(one);
}

void sim_form_event(struct sim_out *out, struct sim_event_form *form, const char *type,
                    const struct sim_object *object, uint64_t version)
{
    put(out, "{\"type\":\"");
    put(out, type);
    put(out, "\",\"object\":");
    if (form->form == SIM_FORM_TABLE)
        table_of(out, form, object, version);
    else
        whole(out, form->served, form->form, form->beta, object, version);
    put(out, "}\n");
}

void sim_form_error(struct buf *out, json_t *status)
{
    json_t *event = json_pack("{ss so}", "type", "ERROR", "object", status);
    sim_put_json(out, event);
    buf_putc(out, '\n');
    json_decref(event);
}

static json_t *bookmark_object(const struct sim_event_form *form, uint64_t version, bool initial_end)
{
    char digits[24];
    number(version, digits);
    json_t *metadata = json_pack("{ss}", "resourceVersion", digits);
    if (initial_end)
        json_object_set_new(metadata, "annotations", json_pack("{ss}", "k8s.io/initial-events-end", "true"));
    bool plain = form->form == SIM_FORM_JSON || form->form == SIM_FORM_TABLE;
    const char *kind = plain ? form->served->kind->kind : "PartialObjectMetadata";
    const char *api_version = plain ? form->served->api_version : "meta.k8s.io/v1";
    json_t *object = json_pack("{ss ss so}", "kind", kind, "apiVersion", api_version, "metadata", metadata);
    struct sim_decoding decoding = {0};
    if (plain && form->served->kind->schema)
        json_object_update_new(
            object, sim_decode(schema_type_of_kind(form->served->kind->schema), object, &decoding));
    if (plain && strcmp(form->served->kind->group, "apps") == 0 && sim_at(object, "spec"))
        sim_set_at(object, "spec.selector", json_null());
    if (plain && sim_kind_is(form->served->kind, "DaemonSet"))
        json_object_set_new(sim_at(object, "metadata.annotations"), generation, json_string("0"));
    else if (plain && sim_at(object, "spec.selector"))
        sim_default(json_object_get(object, "spec"), "replicas", json_integer(0));
    return object;
}

/* As a real server fills it: an empty object of the kind, as Go writes it, and for Tables a row about
 * nothing. */
void sim_form_bookmark(struct sim_out *out, struct sim_event_form *form, uint64_t version, bool initial_end)
{
    json_t *object = bookmark_object(form, version, initial_end);
    if (form->form == SIM_FORM_TABLE) {
        json_t *const objects[] = {object};
        json_t *table = sim_table(form->served->kind, objects, 1, NULL, NULL, form->include_object,
                                  !form->columns_sent, sim_now_s(form->api));
        form->columns_sent = true;
        json_decref(object);
        object = table;
    }
    if (form->beta) sim_form_to_beta(object);
    put(out, "{\"type\":\"BOOKMARK\",\"object\":");
    put_json(out, object);
    put(out, "}\n");
}
