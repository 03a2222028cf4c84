/* One store for specs; see store.h. */
#include "core/informer/support/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct indexer *indexer;

int store_open(void **state)
{
    objects_open();
    indexer = indexer_new();
    return 0;
}

int store_close(void **state)
{
    indexer_free(indexer);
    objects_close();
    return 0;
}

void store_put(const char *text)
{
    root_unref(indexer_put(indexer, object(text)));
}

void store_put_labels(const char *text, const char *labels_json)
{
    root_unref(indexer_put(indexer, object_with_labels(text, labels_json)));
}

void store_drop(const char *text)
{
    struct root *like = object(text);
    root_unref(indexer_remove(indexer, like));
    root_unref(like);
}

void describe_next(const struct root *root, struct buf *out)
{
    if (out->len) buf_putc(out, ' ');
    if (root)
        object_describe(root, out);
    else
        buf_putc(out, '-');
}

bool describe_each(void *ctx, struct root *root)
{
    describe_next(root, ctx);
    return true;
}

void assert_row(struct buf *row, const char *expected)
{
    assert_string_equal(buf_text(row), expected);
    buf_clear(row);
}
