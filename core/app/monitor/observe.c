/* Updates the engine's values in probes and metrics; see observe.h. */
#include "app/monitor/observe.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/engine_view.h"

FAMILY(family_script_memory, 112, GAUGE, "kubelua_script_memory_bytes", "script", NULL,
       "Memory of a script's Lua state.");
FAMILY(family_script_load, 113, GAUGE, "kubelua_script_load_seconds", "script", NULL,
       "Load time of the current generation of a script.");
FAMILY(family_script_generation, 114, GAUGE, "kubelua_script_generation", "script", NULL,
       "Current generation of a script.");
FAMILY(
    family_script_refused, 115, GAUGE, "kubelua_script_refused", "script", NULL,
    "1 if the running generation differs from the file because a reload was refused or rolled back, else 0.");

/* So many informers are named when they lag; the rest is counted. */
enum { LAGGARDS_MAX = 20 };
/* The size of a cache is estimated from thousands of its objects: not each second. */
enum { THOROUGH_EVERY = 10 };

/* Scripts that share an informer have it named once. */
static bool is_named(const struct buf *names, struct str line)
{
    struct str rest = buf_slice(names), one;
    while (str_cut(&rest, '\n', &one))
        if (str_eq(one, line)) return true;
    return false;
}

static bool describe(struct engine *engine, struct informer_claim *claim, struct buf *line)
{
    struct claim_status status;
    if (!claim_describe_lag(claim, line)) return false;
    claim_get_status(claim, &status);
    if (status.state != CLAIM_PENDING || *status.text) return true;
    buf_puts(line, ": ");
    discoverer_describe(engine_cluster(engine)->discoverer, line);
    return true;
}

void observe_describe_lag(struct engine *engine, struct buf *out)
{
    const struct managed_scripts *scripts = engine_scripts(engine);
    struct buf names = {0}, line = {0};
    size_t named = 0, more = 0;
    for (size_t i = 0; i < scripts->generation_count; i++)
        for (size_t j = 0; j < script_claim_count(scripts->generations[i]); j++) {
            /* Other clusters have a state of their own: none of them makes the engine unready. */
            if (!claim_is_of_home(script_claim(scripts->generations[i], j))) continue;
            line.len = 0;
            if (!describe(engine, script_claim(scripts->generations[i], j), &line)) continue;
            if (is_named(&names, buf_slice(&line))) continue;
            buf_printf(&names, "%s\n", buf_text(&line));
            if (out->len > CLAIM_LINE_MAX) buf_shorten(&line, 0, CLAIM_BRIEF_MAX);
            if (named == LAGGARDS_MAX)
                more++;
            else
                buf_printf(out, "%s%s", named++ ? "; " : "", buf_text(&line));
        }
    if (more) buf_printf(out, "; and %zu more", more);
    buf_clear(&names);
    buf_clear(&line);
}

static void observe_informers(struct observer *observer)
{
    struct buf lag = {0};
    observe_describe_lag(observer->engine, &lag);
    health_set_informers(monitor_health(observer->monitor), buf_text(&lag));
    buf_clear(&lag);
}

static void observe_scripts(const struct managed_scripts *scripts)
{
    for (size_t i = 0; i < scripts->count; i++) {
        struct managed_script *managed = scripts->items[i];
        if (!managed->is_refused) managed->is_refused = SERIES(&family_script_refused, managed->name);
        series_set(managed->is_refused, managed->refused != NULL);
        if (!managed->running) continue;
        if (!managed->memory) managed->memory = SERIES(&family_script_memory, managed->name);
        if (!managed->load) managed->load = SERIES(&family_script_load, managed->name);
        if (!managed->generation) managed->generation = SERIES(&family_script_generation, managed->name);
        series_set(managed->memory, (double)script_memory(managed->running));
        series_set(managed->load, (double)script_load_us(managed->running) / 1e6);
        series_set(managed->generation, (double)script_generation(managed->running));
    }
}

/* Returns memory that scripts freed to the system, which would otherwise keep it for the next allocation. */
static void rest(struct observer *observer)
{
    enum { REST_MS = 1000 };
    const struct managed_scripts *scripts = engine_scripts(observer->engine);
    int64_t now_ms = clock_now_ms(loop_clock(engine_loop(observer->engine)));
    if (now_ms - observer->rested_ms < REST_MS) return;
    observer->rested_ms = now_ms;
    for (size_t i = 0; i < scripts->generation_count; i++) script_collect_idle(scripts->generations[i]);
    mem_give_back();
}

void observe(void *ctx)
{
    struct observer *observer = ctx;
    struct engine *engine = observer->engine;
    rest(observer);
    observe_informers(observer);
    observe_scripts(engine_scripts(engine));
    const struct cluster *cluster;
    bool thorough = observer->times++ % THOROUGH_EVERY == 0;
    for (size_t i = 0; (cluster = engine_cluster_at(engine, i)); i++)
        shared_factory_update_metrics(cluster->parts.factory, thorough);
}
