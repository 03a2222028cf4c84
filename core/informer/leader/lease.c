/* Reads and writes Leases; see lease.h. */
#include "informer/leader/lease.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "object/value/json.h"

static void copy_text(struct value v, char *out, size_t room)
{
    struct text text;
    struct str s = value_str(v, &text);
    snprintf(out, room, "%.*s", (int)s.n, s.n ? s.p : "");
}

/* As the API has them; a server takes no others. */
static int64_t clamp(int64_t n)
{
    return n < 0 ? 0 : n > INT32_MAX ? INT32_MAX : n;
}

/* What is too large for a lease is so for good: it must not look as if it had run out (L-5). */
static int64_t number_of(struct value v)
{
    switch (value_type(v)) {
    case VALUE_INT: return clamp(value_int(v));
    case VALUE_UINT: return INT32_MAX;
    case VALUE_DOUBLE: return value_double(v) >= INT32_MAX ? INT32_MAX : 0;
    default: return 0;
    }
}

void lease_record_read(const struct root *lease, struct lease_record *out)
{
    struct value spec = value_field(root_value(lease), STR("spec"));
    struct text text;
    struct str holder = value_str(value_field(spec, STR("holderIdentity")), &text);
    out->holder = xstrndup(holder.n ? holder.p : "", holder.n);
    for (size_t i = 0; i < holder.n; i++) /* a NUL byte would make another's name the beginning of it */
        if (!out->holder[i]) out->holder[i] = '?';
    out->duration_s = number_of(value_field(spec, STR("leaseDurationSeconds")));
    out->transitions = number_of(value_field(spec, STR("leaseTransitions")));
    copy_text(value_field(spec, STR("acquireTime")), out->acquired, sizeof out->acquired);
    copy_text(value_field(spec, STR("renewTime")), out->renewed, sizeof out->renewed);
}

void lease_record_clear(struct lease_record *record)
{
    free(record->holder);
    *record = (struct lease_record){0};
}

bool lease_record_equal(const struct lease_record *a, const struct lease_record *b)
{
    return a->holder && b->holder && strcmp(a->holder, b->holder) == 0 && a->duration_s == b->duration_s &&
           a->transitions == b->transitions && strcmp(a->acquired, b->acquired) == 0 &&
           strcmp(a->renewed, b->renewed) == 0;
}

void lease_time(int64_t wall_us, char out[40])
{
    struct tm tm;
    char seconds[24];
    time_t t = (time_t)(wall_us / 1000000);
    gmtime_r(&t, &tm);
    strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out, 40, "%s.%06dZ", seconds, (int)(wall_us % 1000000));
}

/* --- writing */

static void put_key(struct buf *out, struct str key)
{
    char last = out->data[out->len - 1];
    if (last != '{') buf_putc(out, ',');
    buf_json_string(out, key);
    buf_putc(out, ':');
}

static void put_text(struct buf *out, struct str key, const char *text)
{
    if (!*text) return;
    put_key(out, key);
    buf_json_string(out, str_of(text));
}

static void put_int(struct buf *out, struct str key, int64_t n)
{
    put_key(out, key);
    buf_printf(out, "%" PRId64, clamp(n));
}

/* The entries of a map but for those in `not`, which ends with an empty name. */
static void put_others(struct buf *out, struct value map, const char *const *without)
{
    for (size_t i = 0; i < value_count(map) && value_type(map) == VALUE_MAP; i++) {
        struct str key;
        struct text text;
        struct value v = value_entry(map, i, &key, &text);
        bool left_out = false;
        for (const char *const *name = without; *name; name++) left_out |= str_is(key, *name);
        if (left_out) continue;
        put_key(out, key);
        json_write(out, v);
    }
}

static void put_labels(struct buf *out, struct value before, struct lease_labels labels)
{
    const char **given = xcalloc(labels.count + 1, sizeof *given);
    for (size_t i = 0; i < labels.count; i++) given[i] = labels.items[2 * i];
    put_key(out, STR("labels"));
    buf_putc(out, '{');
    put_others(out, before, given);
    for (size_t i = 0; i < labels.count; i++) {
        put_key(out, str_of(labels.items[2 * i]));
        buf_json_string(out, str_of(labels.items[2 * i + 1]));
    }
    buf_putc(out, '}');
    free(given);
}

static void put_metadata(struct buf *out, struct value before, struct str ns, struct str name,
                         struct lease_labels labels)
{
    static const char *const own[] = {"name", "namespace", "managedFields", NULL};
    static const char *const own_and_labels[] = {"name", "namespace", "managedFields", "labels", NULL};
    put_key(out, STR("metadata"));
    buf_putc(out, '{');
    put_key(out, STR("name"));
    buf_json_string(out, name);
    put_key(out, STR("namespace"));
    buf_json_string(out, ns);
    put_others(out, before, labels.count ? own_and_labels : own);
    if (labels.count) put_labels(out, value_field(before, STR("labels")), labels);
    buf_putc(out, '}');
}

void lease_write(const struct root *before, struct str ns, struct str name, const struct lease_record *record,
                 struct lease_labels labels, struct buf *out)
{
    static const char *const own[] = {
        "holderIdentity", "leaseDurationSeconds", "leaseTransitions", "acquireTime", "renewTime", NULL};
    static const char *const top[] = {"apiVersion", "kind", "metadata", "spec", NULL};
    struct value object = before ? root_value(before) : value_absent;
    buf_puts(out, "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\"");
    put_metadata(out, value_field(object, STR("metadata")), ns, name, labels);
    put_key(out, STR("spec"));
    buf_putc(out, '{');
    put_key(out, STR("holderIdentity"));
    buf_json_string(out, str_of(record->holder));
    put_int(out, STR("leaseDurationSeconds"), record->duration_s);
    put_int(out, STR("leaseTransitions"), record->transitions);
    put_text(out, STR("acquireTime"), record->acquired);
    put_text(out, STR("renewTime"), record->renewed);
    put_others(out, value_field(object, STR("spec")), own);
    buf_putc(out, '}');
    put_others(out, object, top);
    buf_putc(out, '}');
}
