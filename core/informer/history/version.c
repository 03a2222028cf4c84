/* Versions of objects, as what they replaced; see version.h. */
#include "informer/history/version.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "object/value/diff.h"
#include "object/value/json.h"

/* Differences as they are found. */
struct draft {
    struct text_table *texts;
    struct buf data;
    struct buf old;
};

static void put_number(struct buf *out, uint32_t number)
{
    for (; number >= 0x80; number >>= 7) buf_putc(out, (char)(number | 0x80));
    buf_putc(out, (char)number);
}

static uint32_t take_number(const unsigned char **at)
{
    uint32_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
        unsigned char byte = *(*at)++;
        number |= (uint32_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return number;
    }
}

static const unsigned char *first_difference(const struct object_version *version)
{
    const unsigned char *at = version->data;
    uint32_t length = take_number(&at);
    return at + length;
}

/* Fields that change with every version, and are shown beside it, are left out. */
static bool is_left_out(struct str path)
{
    return str_starts(path, STR("metadata.managedFields")) || str_is(path, "metadata.resourceVersion");
}

static bool add_difference(void *ctx, struct str path, struct value old, struct value now)
{
    struct draft *draft = ctx;
    (void)now;
    if (is_left_out(path)) return true;
    draft->old.len = 0;
    if (value_type(old) != VALUE_ABSENT) json_write(&draft->old, old);
    put_number(&draft->data, text_table_ref(draft->texts, path));
    put_number(&draft->data, (uint32_t)draft->old.len);
    buf_str(&draft->data, buf_slice(&draft->old));
    return true;
}

static struct value managers_of(const struct root *root)
{
    struct value metadata = root ? value_field(root_value(root), STR("metadata")) : value_absent;
    return value_field(metadata, STR("managedFields"));
}

static bool has(struct value entries, struct value entry)
{
    for (size_t i = 0; i < value_count(entries); i++)
        if (value_equal(value_item(entries, i), entry)) return true;
    return false;
}

/* Returns the entry that was written last, without those that were there `before`: times are in one form, so
 * that they compare as texts. */
static struct value last_entry(struct value entries, struct value before)
{
    struct value last = value_absent;
    struct text a, b;
    for (size_t i = 0; i < value_count(entries); i++) {
        struct value entry = value_item(entries, i);
        if (has(before, entry)) continue;
        struct str time = value_str(value_field(entry, STR("time")), &a);
        struct str latest = value_str(value_field(last, STR("time")), &b);
        size_t n = time.n < latest.n ? time.n : latest.n;
        int order = n > 0 ? memcmp(time.p, latest.p, n) : 0;
        if (order > 0 || (order == 0 && time.n >= latest.n)) last = entry;
    }
    return last;
}

/* Times are of seconds: of several managers within one it is the one whose entry is new. */
static struct str manager_of(const struct root *before, const struct root *after, struct text *text)
{
    struct value entries = managers_of(after), last = last_entry(entries, managers_of(before));
    if (value_type(last) == VALUE_ABSENT) last = last_entry(entries, value_absent);
    return value_str(value_field(last, STR("manager")), text);
}

struct object_version *version_new(struct text_table *texts, enum version_event event, struct root *before,
                                   struct root *after, int64_t time_us)
{
    struct draft draft = {.texts = texts};
    struct text number, manager;
    struct str own = root_resource_version(after, &number);
    put_number(&draft.data, (uint32_t)own.n);
    buf_str(&draft.data, own);
    if (before) value_diff(root_value(before), root_value(after), NULL, add_difference, &draft);
    struct object_version *version = xcalloc(1, sizeof *version + draft.data.len);
    version->event = event;
    version->time_us = time_us;
    version->size = draft.data.len & 0x1fffffff;
    memcpy(version->data, buf_text(&draft.data), draft.data.len);
    version->manager =
        text_table_ref(texts, event == VERSION_DELETED ? STR("") : manager_of(before, after, &manager));
    version->script = text_table_ref(texts, STR(""));
    buf_clear(&draft.data);
    buf_clear(&draft.old);
    return version;
}

void version_free(struct text_table *texts, struct object_version *version)
{
    const unsigned char *end = version->data + version->size, *at = first_difference(version);
    while (at < end) {
        text_table_unref(texts, take_number(&at));
        uint32_t length = take_number(&at);
        at += length;
    }
    text_table_unref(texts, version->manager);
    text_table_unref(texts, version->script);
    free(version);
}

struct str version_number(const struct object_version *version)
{
    const unsigned char *at = version->data;
    uint32_t length = take_number(&at);
    return (struct str){(const char *)at, length};
}

size_t version_bytes(const struct object_version *version)
{
    return sizeof *version + version->size;
}

void version_set_script(struct text_table *texts, struct object_version *version, const char *script)
{
    text_table_unref(texts, version->script);
    version->script = text_table_ref(texts, str_of(script));
}

void version_each(const struct object_version *version, const struct text_table *texts,
                  void (*fn)(void *ctx, struct str path, struct str old), void *ctx)
{
    const unsigned char *end = version->data + version->size, *at = first_difference(version);
    while (at < end) {
        struct str path = text_table_get(texts, take_number(&at));
        uint32_t length = take_number(&at);
        fn(ctx, path, (struct str){(const char *)at, length});
        at += length;
    }
}
