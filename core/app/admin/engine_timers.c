/* Timers and schedules of scripts in the answer of `kubelua status`; see admin_engine.h. */
#include "app/admin/admin_engine.h"

#include "base/text/json_out.h"
#include "engine/engine_internal.h"

/* A script may have thousands. */
enum { SHOWN_MAX = 100 };

struct put {
    struct buf *out;
    const struct script *script;
    size_t shown;
};

static void put_timer(void *ctx, const struct script_timer_status *timer)
{
    struct put *put = ctx;
    if (put->shown == SHOWN_MAX) return;
    put->shown++;
    json_open(put->out, NULL, '{');
    json_text(put->out, "timer", timer->what);
    json_text(put->out, "kind", timer->kind);
    json_text(put->out, "script", script_name(put->script));
    json_text(put->out, "place", timer->place);
    json_time(put->out, "due", timer->due_us);
    json_int(put->out, "calls", (int64_t)timer->calls);
    json_int(put->out, "skipped", (int64_t)timer->skipped);
    json_bool(put->out, "leader", timer->leader);
    json_close(put->out, '}');
}

void admin_put_timers(const struct admin_engine *admin, struct buf *out)
{
    const struct engine *engine = admin->engine;
    json_open(out, "timers", '[');
    for (size_t i = 0; i < engine->slots.script_count; i++) {
        struct put put = {.out = out, .script = engine->slots.scripts[i]};
        script_each_timer(put.script, put_timer, &put);
    }
    json_close(out, ']');
}
