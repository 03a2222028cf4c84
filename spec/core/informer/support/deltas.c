/* Deltas as text; see deltas.h. */
#include "core/informer/support/deltas.h"

#include <stdlib.h>

#include "core/informer/support/objects.h"

static void describe(const struct delta *d, struct buf *out)
{
    static const char *const names[] = {"Added", "Updated", "Deleted", "ReplacedAll", "SyncAll", "Bookmark"};
    buf_printf(out, "%s%s", out->len ? "; " : "", names[d->type]);
    if (d->initial) buf_putc(out, '+');
    if (d->coalesced) buf_putc(out, '*');
    if (d->born) buf_putc(out, '^');
    if (d->object) buf_putc(out, ' ');
    if (d->object) object_describe(d->object, out);
    const char *of = d->part ? d->part : d->resource_version;
    if (of) buf_printf(out, "(%s", of);
    for (size_t i = 0; i < d->count; i++) {
        buf_puts(out, i ? " " : ", ");
        object_describe(d->objects[i], out);
    }
    if (of) buf_putc(out, ')');
}

const char *deltas_pop(struct delta_fifo *fifo, size_t max)
{
    static char *text;
    struct buf out = {0};
    struct delta *batch;
    size_t count = delta_fifo_take(fifo, max, &batch);
    for (size_t i = 0; i < count; i++) describe(&batch[i], &out);
    delta_fifo_release(fifo, batch, count);
    free(text);
    text = buf_take(&out);
    return text;
}
