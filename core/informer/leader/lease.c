/* Reading and writing of Leases; see lease.h. */
#include "informer/leader/lease.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/civil.h"
#include "base/mem.h"
#include "base/text/json_out.h"
#include "object/value/json.h"

static void copy_text(struct value v, char *out, size_t room)
{
    struct text text;
    struct str s = value_str(v, &text);
    snprintf(out, room, "%.*s", (int)s.n, s.n ? s.p : "");
}

/* Clamps to the range of the API; a server rejects other numbers. */
static int64_t clamp(int64_t n)
{
    return n < 0 ? 0 : n > INT32_MAX ? INT32_MAX : n;
}

/* Clamps the number: one too large for a lease stays too large, and must not look like an expired lease
 * (L-5). */
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
    for (size_t i = 0; i < holder.n;
         i++) /* a C string would end at a NUL byte and might equal this identity */
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
    struct buf text = {0};
    civil_put_utc(&text, wall_us, 6);
    snprintf(out, 40, "%s", buf_text(&text));
    buf_clear(&text);
}

/* --- writing */

/* Writes the entries of a map except those in `without`, which ends with NULL. */
static void put_others(struct buf *out, struct value map, const char *const *without)
{
    for (size_t i = 0; i < value_count(map) && value_type(map) == VALUE_MAP; i++) {
        struct str key;
        struct text text;
        struct value v = value_entry(map, i, &key, &text);
        bool left_out = false;
        for (const char *const *name = without; *name; name++) left_out |= str_is(key, *name);
        if (left_out) continue;
        json_key(out, key);
        json_write(out, v);
    }
}

static void put_labels(struct buf *out, struct value before, struct lease_labels labels)
{
    const char **given = xcalloc(labels.count + 1, sizeof *given);
    for (size_t i = 0; i < labels.count; i++) given[i] = labels.items[2 * i];
    json_open(out, "labels", '{');
    put_others(out, before, given);
    for (size_t i = 0; i < labels.count; i++) json_text(out, labels.items[2 * i], labels.items[2 * i + 1]);
    json_close(out, '}');
    free(given);
}

static void put_metadata(struct buf *out, struct value before, struct str ns, struct str name,
                         struct lease_labels labels)
{
    /* managedFields are left out: the server keeps them, and they are long. */
    static const char *const own[] = {"name", "namespace", "managedFields", NULL};
    static const char *const own_and_labels[] = {"name", "namespace", "managedFields", "labels", NULL};
    json_open(out, "metadata", '{');
    json_str(out, "name", name);
    json_str(out, "namespace", ns);
    put_others(out, before, labels.count ? own_and_labels : own);
    if (labels.count) put_labels(out, value_field(before, STR("labels")), labels);
    json_close(out, '}');
}

void lease_write(const struct root *before, struct str ns, struct str name, const struct lease_record *record,
                 struct lease_labels labels, struct buf *out)
{
    static const char *const own[] = {
        "holderIdentity", "leaseDurationSeconds", "leaseTransitions", "acquireTime", "renewTime", NULL};
    static const char *const top[] = {"apiVersion", "kind", "metadata", "spec", NULL};
    struct value object = before ? root_value(before) : value_absent;
    json_open(out, NULL, '{');
    json_text(out, "apiVersion", "coordination.k8s.io/v1");
    json_text(out, "kind", "Lease");
    put_metadata(out, value_field(object, STR("metadata")), ns, name, labels);
    json_open(out, "spec", '{');
    json_text(out, "holderIdentity", record->holder);
    json_int(out, "leaseDurationSeconds", clamp(record->duration_s));
    json_int(out, "leaseTransitions", clamp(record->transitions));
    json_str_unless_empty(out, "acquireTime", str_of(record->acquired));
    json_str_unless_empty(out, "renewTime", str_of(record->renewed));
    /* Fields of newer API versions, such as strategy, survive an update by this client. */
    put_others(out, value_field(object, STR("spec")), own);
    json_close(out, '}');
    put_others(out, object, top);
    json_close(out, '}');
}
