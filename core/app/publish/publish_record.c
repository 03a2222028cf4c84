/* Texts of a publisher that are no objects: its record, and the cluster's kinds; see publish_internal.h. */
#include <string.h>

#include "app/publish/publish_internal.h"
#include "kube/kinds/catalogue.h"

static void put_field(const char *name, const char *text, struct buf *out)
{
    buf_printf(out, "\"%s\":", name);
    buf_json_string(out, str_of(text));
}

static void put_text(const char *name, const char *text, struct buf *out)
{
    put_field(name, text, out);
    buf_putc(out, ',');
}

/* "ends" comes first, and the name behind it: publish_record_is_own compares the beginning. */
static void put_head(const char *identity, bool ends, struct buf *out)
{
    buf_printf(out, "{\"ended\":%s,", ends ? "true" : "false");
    put_text("publisher", identity, out);
}

void publish_put_record(struct publisher *publisher, bool ends, struct buf *out)
{
    const struct publish_kind *kind;
    put_head(publisher->options.identity, ends, out);
    buf_printf(out, "\"atMicros\":%lld,\"refused\":%llu,\"kinds\":[", (long long)clock_wall_us(clock_real()),
               (unsigned long long)publisher->totals.refused);
    STAILQ_FOREACH (kind, &publisher->kinds, link) {
        buf_puts(out, kind == STAILQ_FIRST(&publisher->kinds) ? "{" : ",{");
        put_text("group", kind->resource.group, out);
        put_text("version", kind->resource.version, out);
        put_text("resource", kind->resource.plural, out);
        put_text("namespace", kind->namespace_, out);
        put_text("labels", kind->label_selector, out);
        put_field("listed", kind->listed, out);
        buf_putc(out, '}');
    }
    buf_puts(out, "]}");
}

bool publish_record_is_own(struct str record, const char *identity)
{
    struct buf own = {0};
    put_head(identity, false, &own);
    bool is_own = str_starts(record, buf_slice(&own));
    buf_clear(&own);
    return is_own;
}

bool publish_record_is_foreign(struct str record, const char *identity)
{
    return str_starts(record, STR("{\"ended\":false,")) && !publish_record_is_own(record, identity);
}

/* --- kinds */

static void put_resource(const struct catalogue_entry *entry, struct buf *out)
{
    const struct resource *resource = &entry->resource;
    buf_putc(out, '{');
    put_text("resource", resource->plural, out);
    buf_puts(out, "\"responseKind\":{");
    put_field("kind", resource->kind, out);
    buf_puts(out, "},");
    put_text("scope", resource->namespaced ? "Namespaced" : "Cluster", out);
    if (entry->singular) put_text("singularResource", entry->singular, out);
    buf_puts(out, "\"shortNames\":[");
    for (char **name = entry->short_names; name && *name; name++) {
        if (name != entry->short_names) buf_putc(out, ',');
        buf_json_string(out, str_of(*name));
    }
    buf_puts(out, "],\"verbs\":[");
    bool is_first = true;
    for (unsigned i = 0; i < KIND_VERBS; i++) {
        if (!(entry->verbs >> i & 1)) continue;
        buf_printf(out, "%s\"%s\"", is_first ? "" : ",", kind_verbs[i]);
        is_first = false;
    }
    buf_puts(out, "]}");
}

/* Entries are sorted by groups and versions, in the order that they are read in again. */
void publish_put_catalogue(const struct catalogue *catalogue, struct buf *out)
{
    const struct resource *before = NULL;
    buf_puts(out,
             "{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":\"apidiscovery.k8s.io/v2\",\"items\":[");
    for (size_t i = 0; i < catalogue->count; i++) {
        const struct resource *resource = &catalogue->entries[i].resource;
        bool is_group = before && strcmp(before->group, resource->group) == 0;
        bool is_version = is_group && strcmp(before->version, resource->version) == 0;
        if (before) buf_puts(out, is_version ? "," : is_group ? "]}," : "]}]},");
        if (!is_group) {
            buf_puts(out, "{\"metadata\":{");
            put_field("name", resource->group, out);
            buf_puts(out, "},\"versions\":[");
        }
        if (!is_version) {
            buf_putc(out, '{');
            put_text("version", resource->version, out);
            buf_puts(out, "\"resources\":[");
        }
        put_resource(&catalogue->entries[i], out);
        before = resource;
    }
    buf_puts(out, before ? "]}]}]}" : "]}");
}
