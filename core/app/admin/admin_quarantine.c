/* Methods of the admin socket that list and lift quarantine; see admin_engine.h. */
#include "app/admin/admin_engine.h"

#include "base/text/json_out.h"
#include "engine/engine_view.h"

struct quarantine_listing {
    const char *script;
    int64_t now_us;
    struct buf *out;
};

static void put_one(void *ctx, const struct script_quarantine_status *status)
{
    const struct quarantine_listing *listing = ctx;
    json_open(listing->out, NULL, '{');
    json_text(listing->out, "script", listing->script);
    json_text(listing->out, "id", status->id);
    json_time(listing->out, "since", status->since_us);
    json_int(listing->out, "seconds", (listing->now_us - status->since_us) / 1000000);
    json_int(listing->out, "skipped", (int64_t)status->skipped);
    json_text(listing->out, "why", status->why);
    json_close(listing->out, '}');
}

void admin_put_quarantine(const struct admin_engine *admin, struct buf *out)
{
    const struct managed_scripts *scripts = engine_scripts(admin->engine);
    int64_t now_us = clock_wall_us(loop_clock(engine_loop(admin->engine)));
    json_open(out, "quarantined", '[');
    for (size_t i = 0; i < scripts->generation_count; i++)
        script_each_quarantine(
            scripts->generations[i], put_one,
            &(struct quarantine_listing){script_name(scripts->generations[i]), now_us, out});
    json_close(out, ']');
}

/* In all generations of the script, also those that drain. */
static size_t lift(const struct managed_scripts *scripts, struct str script, const char *id)
{
    size_t count = 0;
    for (size_t i = 0; id && i < scripts->generation_count; i++)
        if (str_is(script, script_name(scripts->generations[i])))
            count += script_lift(scripts->generations[i], id);
    return count;
}

void admin_lift(struct engine *engine, struct admin_call *call)
{
    const struct tape *tape;
    struct buf result = {0};
    size_t count = 0, params = admin_call_params(call, &tape);
    size_t items = params ? tape_field(tape, params, STR("items")) : 0;
    if (items && tape_type(tape, items) != '[') items = 0;
    for (size_t v = items ? tape_first(tape, items, NULL) : 0; v; v = tape_next(tape, items, v, NULL))
        count += lift(engine_scripts(engine), tape_str(tape, tape_field(tape, v, STR("script"))),
                      tape_str(tape, tape_field(tape, v, STR("id"))).p);
    buf_printf(&result, "{\"lifted\":%zu}", count);
    admin_call_reply(call, buf_slice(&result));
    buf_clear(&result);
}
