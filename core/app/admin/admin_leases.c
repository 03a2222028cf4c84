/* Status of leases for the admin socket: who leads, and which scripts lead with whom; see admin_engine.h. */
#include "app/admin/admin_engine.h"

#include "base/text/json_out.h"
#include "engine/engine_view.h"

static void put_scripts(const struct managed_scripts *scripts, const struct leadership *leadership,
                        struct buf *out)
{
    json_open(out, "scripts", '[');
    for (size_t i = 0; i < scripts->generation_count; i++)
        if (script_leadership(scripts->generations[i]) == leadership)
            json_text(out, NULL, script_name(scripts->generations[i]));
    json_close(out, ']');
}

static void put_lease(struct engine *engine, const struct leadership *leadership, struct buf *out)
{
    struct leadership_status status;
    leadership_get_status(leadership, &status);
    json_open(out, NULL, '{');
    json_text(out, "namespace", status.namespace_);
    json_text(out, "name", status.name);
    json_bool(out, "leader", status.leads);
    json_text(out, "identity", status.identity);
    json_text(out, "holder", status.holder);
    json_time(out, "since", status.since_us);
    json_time(out, "renewed", status.seen_us);
    json_int(out, "transitions", status.transitions);
    json_text(out, "cause", status.error);
    put_scripts(engine_scripts(engine), leadership, out);
    json_close(out, '}');
}

void admin_put_leases(const struct admin_engine *admin, struct buf *out)
{
    struct engine *engine = admin->engine;
    const struct leaders *leaders = engine_cluster(engine)->parts.leaders;
    json_open(out, "leases", '[');
    for (size_t i = 0; engine_competes(engine) && i < leaders_count(leaders); i++) {
        const struct leadership *leadership = leaders_at(leaders, i);
        if (leadership_is_joined(leadership)) put_lease(engine, leadership, out);
    }
    json_close(out, ']');
}
