/* A prompt's own engine as a backend; see repl_backend.h. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/repl/repl_backend.h"
#include "base/mem.h"

struct local {
    struct repl_backend base;
    struct repl_engine *engine;
    enum repl_end end;
    struct buf *answer;
};

static struct local *local_of(struct repl_backend *backend)
{
    return container_of(backend, struct local, base);
}

void repl_backend_print(struct str line)
{
    fwrite(line.p, 1, line.n, stdout);
    putchar('\n');
}

static void on_print(void *ctx, struct str line)
{
    repl_backend_print(line);
}

static void on_end(void *ctx, enum repl_end end, struct str text)
{
    struct local *local = ctx;
    local->end = end;
    buf_str(local->answer, text);
}

static enum repl_end eval(struct repl_backend *backend, struct str text, const struct repl_style *style,
                          struct buf *answer)
{
    struct local *local = local_of(backend);
    struct repl *repl = local->engine->repl;
    local->answer = answer;
    repl_eval(repl, text, style);
    while (repl_is_busy(repl)) {
        fflush(stdout); /* what was printed is seen while the line waits */
        repl_engine_turn(local->engine, true);
        if (repl_was_interrupted(repl)) repl_cancel(repl);
    }
    return local->end;
}

static void complete(struct repl_backend *backend, struct str text, size_t *start, struct buf *names)
{
    repl_complete(local_of(backend)->engine->repl, text, start, names);
}

static void await_input(struct repl_backend *backend)
{
    repl_engine_await_input(local_of(backend)->engine, STDIN_FILENO);
}

/* In a signal handler. */
static void interrupt(struct repl_backend *backend)
{
    const struct local *local = local_of(backend);
    repl_interrupt(local->engine->repl);
    repl_engine_wake(local->engine);
}

static void local_free(struct repl_backend *backend)
{
    struct local *local = local_of(backend);
    repl_engine_free(local->engine);
    free(local);
}

struct repl_backend *repl_local_new(const struct repl_engine_options *options, struct err *err)
{
    struct local *local = NEW(struct local);
    struct repl_engine_options own = *options;
    local->base = (struct repl_backend){
        .eval = eval, .complete = complete, .wait = await_input, .interrupt = interrupt, .free = local_free};
    own.ops = (struct repl_ops){.printed = on_print, .ended = on_end, .ctx = local};
    local->engine = repl_engine_new(&own, err);
    if (local->engine) return &local->base;
    free(local);
    return NULL;
}
