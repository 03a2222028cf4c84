/* Indexes for specs; see indexing.h. */
#include "core/informer/support/indexing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "object/value/value.h"

static bool give_users(void *ctx, struct root *object, struct index_values *out, struct err *err)
{
    struct text text;
    struct str rest = value_str(value_field(root_labels(object), STR("users")), &text), user;
    bool good = true;
    while (rest.n && str_cut(&rest, ',', &user)) {
        index_values_add(out, user);
        if (str_is(user, "bad")) good = err_set(err, ERR_INVALID, "a bad user");
    }
    return good;
}

struct index_source by_users(void)
{
    return (struct index_source){.values = give_users};
}

static bool give_label_keys(void *ctx, struct root *object, struct index_values *out, struct err *err)
{
    struct value labels = root_labels(object);
    for (size_t i = 0; i < value_count(labels); i++) {
        struct text text;
        struct str key;
        value_entry(labels, i, &key, &text);
        index_values_add(out, key);
    }
    return true;
}

struct index_source by_label_keys(void)
{
    return (struct index_source){.values = give_label_keys};
}

static void keep_value(void *ctx, struct str value, size_t count)
{
    assert_true(count > 0); /* S-5: empty sets are removed */
    buf_append(ctx, &value, sizeof value);
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static bool add_key(void *ctx, struct root *object)
{
    struct buf *out = ctx;
    if (out->data[out->len - 1] != '{') buf_putc(out, ',');
    root_key(object, out);
    return true;
}

void describe_index(const struct indexer *indexer, const struct index *index, struct buf *out)
{
    struct buf values = {0};
    index_each_value(index, keep_value, &values);
    size_t count = values.len / sizeof(struct str);
    struct str *value = (struct str *)values.data;
    if (count) qsort(value, count, sizeof *value, by_text);
    for (size_t i = 0; i < count; i++) {
        if (i) buf_putc(out, ' ');
        buf_str(out, value[i]);
        buf_putc(out, '{');
        indexer_each_under(indexer, index, value[i], add_key, out);
        buf_putc(out, '}');
    }
    buf_clear(&values);
}

void assert_index(const struct indexer *indexer, const struct index *index, const char *expected)
{
    struct buf out = {0};
    describe_index(indexer, index, &out);
    assert_string_equal(buf_text(&out), expected);
    buf_clear(&out);
}
