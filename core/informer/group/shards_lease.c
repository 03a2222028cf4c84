/* Leases and the table of a sharded group as objects; see shards_internal.h. A Lease of a member is its own:
 * what others write into it is replaced by the next renewal. */
#include <stdio.h>
#include <stdlib.h>

#include "base/civil.h"
#include "base/text/json_out.h"
#include "informer/group/shards_internal.h"
#include "object/value/value.h"

#define SEEN_LABEL SHARD_LABEL "-seen"

enum { SECOND_MS = 1000 };

static void copy(struct str from, char *out, size_t room)
{
    snprintf(out, room, "%.*s", STR_ARG(from));
}

void shards_lease_read(const struct root *lease, struct shard_lease *out)
{
    struct text text;
    struct value object = root_value(lease), spec = value_field(object, STR("spec"));
    struct value labels = value_field(value_field(object, STR("metadata")), STR("labels"));
    struct value seconds = value_field(spec, STR("leaseDurationSeconds"));
    uint64_t seen = 0;
    *out = (struct shard_lease){0};
    copy(root_name(lease, &text), out->name, sizeof out->name);
    copy(root_resource_version(lease, &text), out->version, sizeof out->version);
    copy(value_str(value_field(value_field(object, STR("metadata")), STR("uid")), &text), out->uid,
         sizeof out->uid);
    out->duration_ms = value_type(seconds) == VALUE_INT ? value_int(seconds) * SECOND_MS : 0;
    if (str_to_u64(value_str(value_field(labels, STR(SEEN_LABEL)), &text), &seen)) out->seen = (int64_t)seen;
    out->released = value_str(value_field(spec, STR("holderIdentity")), &text).n == 0;
}

static void put_metadata(const struct shards *shards, const char *name, const char *version, const char *uid,
                         int64_t seen, struct buf *out)
{
    char text[32];
    json_open(out, "metadata", '{');
    json_text(out, "name", name);
    json_text(out, "namespace", shards->namespace_);
    if (version && *version) json_text(out, "resourceVersion", version);
    if (*uid) json_text(out, "uid", uid);
    json_open(out, "labels", '{');
    json_text(out, SHARD_LABEL, shards->group);
    if (seen >= 0) {
        snprintf(text, sizeof text, "%lld", (long long)seen);
        json_text(out, SEEN_LABEL, text);
    }
    json_close(out, '}');
    json_close(out, '}');
}

void shards_lease_write(const struct shards *shards, const struct shard_lease *lease, struct buf *out)
{
    struct buf now = {0};
    civil_put_utc(&now, clock_wall_us(loop_clock(shards->options.io_loop)), 6);
    json_open(out, NULL, '{');
    json_text(out, "apiVersion", "coordination.k8s.io/v1");
    json_text(out, "kind", "Lease");
    put_metadata(shards, lease->name, lease->version, lease->uid, lease->seen, out);
    json_open(out, "spec", '{');
    json_text(out, "holderIdentity", lease->released ? "" : lease->name);
    json_int(out, "leaseDurationSeconds", lease->duration_ms / SECOND_MS);
    json_text(out, "renewTime", buf_text(&now));
    json_close(out, '}');
    json_close(out, '}');
    buf_clear(&now);
}

void shards_table_write(const struct shards *shards, const struct shard_request *request, struct buf *out)
{
    json_open(out, NULL, '{');
    json_text(out, "apiVersion", "v1");
    json_text(out, "kind", "ConfigMap");
    put_metadata(shards, shards->table_name, request->version, "", -1, out);
    json_open(out, "data", '{');
    json_str(out, "table", request->table);
    json_close(out, '}');
    json_close(out, '}');
}

void shards_delete_write(const struct shard_lease *lease, struct buf *out)
{
    json_open(out, NULL, '{');
    json_text(out, "apiVersion", "v1");
    json_text(out, "kind", "DeleteOptions");
    json_open(out, "preconditions", '{');
    json_text(out, "resourceVersion", lease->version);
    json_close(out, '}');
    json_close(out, '}');
}
