/* A handler that writes down what it is told; see history.h. */
#include "core/informer/support/history.h"

#include "core/informer/support/objects.h"

static void begin(struct history *h, const char *call, const struct event_info *info)
{
    if (h->before) h->before(h, h->ctx);
    h->calls++;
    if (h->text.len) buf_puts(&h->text, "; ");
    buf_puts(&h->text, call);
    if (info->initial) buf_putc(&h->text, '+');
    if (info->final_state_unknown) buf_putc(&h->text, '?');
    if (info->resync) buf_putc(&h->text, '~');
    if (info->filtered) buf_putc(&h->text, '!');
    if (info->coalesced) buf_putc(&h->text, '*');
    if (info->disowned) buf_putc(&h->text, '<');
    if (info->shard == SHARD_GAINED) buf_putc(&h->text, '^');
    if (info->shard == SHARD_LOST) buf_putc(&h->text, '-');
}

static void put_object(struct history *h, const struct root *root)
{
    buf_putc(&h->text, ' ');
    object_describe(root, &h->text);
}

static void end(struct history *h, const struct root *root)
{
    if (!h->store) return;
    struct text text;
    const struct root *stored = indexer_get_like(h->store, root);
    struct str version = stored ? root_resource_version(stored, &text) : STR("absent");
    buf_printf(&h->text, " (store %.*s)", STR_ARG(version));
}

static void on_add(void *ctx, struct root *root, const struct event_info *info)
{
    begin(ctx, "add", info);
    put_object(ctx, root);
    end(ctx, root);
}

static void on_update(void *ctx, struct root *before, struct root *after, const struct event_info *info)
{
    begin(ctx, "update", info);
    put_object(ctx, before);
    put_object(ctx, after);
    end(ctx, after);
}

static void on_delete(void *ctx, struct root *last, const struct event_info *info)
{
    begin(ctx, "delete", info);
    put_object(ctx, last);
    end(ctx, last);
}

struct event_handler history_handler(struct history *history)
{
    return (struct event_handler){
        .on_add = on_add, .on_update = on_update, .on_delete = on_delete, .ctx = history};
}

const char *history_take(struct history *history)
{
    static struct buf taken;
    taken.len = 0;
    buf_str(&taken, buf_slice(&history->text));
    history->text.len = 0;
    return buf_text(&taken);
}

void history_clear(struct history *history)
{
    buf_clear(&history->text);
}
