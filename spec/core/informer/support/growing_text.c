/* Texts that grow; see growing_text.h. */
#include "core/informer/support/growing_text.h"

#include <stdlib.h>

#include "base/mem.h"

struct text_stream {
    struct timer timer;
    struct loop *loop;
    const struct text_sink *sink;
    void *ctx;
    size_t sent;
    bool paused;
};

static void on_turn(struct timer *timer)
{
    static char chunk[GROWING_TEXT_CHUNK];
    struct text_stream *stream = container_of(timer, struct text_stream, timer);
    size_t rest = GROWING_TEXT_BYTES - stream->sent, n = rest < sizeof chunk ? rest : sizeof chunk;
    timer_start(timer, loop_clock(stream->loop), 0);
    if (stream->paused) return;
    stream->sent += n;
    if (n) {
        stream->sink->data(stream->ctx, chunk, n);
        return;
    }
    timer_cancel(timer);
    stream->sink->done(stream->ctx, NULL);
    free(stream);
}

static struct text_stream *start(void *ctx, const char *path, const struct text_sink *sink, void *sink_ctx)
{
    struct text_stream *stream = NEW(struct text_stream);
    *stream = (struct text_stream){.timer.fn = on_turn, .loop = ctx, .sink = sink, .ctx = sink_ctx};
    timer_start(&stream->timer, loop_clock(ctx), 0);
    return stream;
}

static void pause_stream(struct text_stream *stream, bool paused)
{
    stream->paused = paused;
}

static void cancel(struct text_stream *stream)
{
    timer_cancel(&stream->timer);
    free(stream);
}

struct text_caller growing_text(struct loop *loop)
{
    return (struct text_caller){start, pause_stream, cancel, loop};
}
