/* Scripts and their generations; see managed_script.h. */
#include "engine/reload/managed_script.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "engine/reload/reload.h"
#include "engine/reload/reload_internal.h"
#include "engine/reload/script_watch.h"
#include "script/vm/bundle.h"

/* Grace period of an old generation: long enough for a request to end, short enough that reloads in a row do
 * not pile up states. Draining is checked by polling, as many kinds of calls can end it. */
enum { DRAIN_MS = 10000, DRAIN_CHECK_MS = 50 };

void managed_scripts_init(struct managed_scripts *scripts, const struct managed_scripts_options *options)
{
    *scripts = (struct managed_scripts){.options = *options, .rescan.fn = reload_on_rescan};
    if (options->is_counted) scripts->metrics = reload_metrics_new();
}

/* Returns a copy that lives as long as the engine: other threads may read a name at any time (running.h). */
static const char *keep_name(struct managed_scripts *scripts, const char *name)
{
    for (size_t i = 0; i < scripts->name_count; i++)
        if (strcmp(scripts->names[i], name) == 0) return scripts->names[i];
    return *array_add(scripts->names, scripts->name_count) = xstrdup(name);
}

struct managed_script *managed_script_add(struct managed_scripts *scripts, const char *path, const char *name)
{
    struct managed_script *managed = NEW(struct managed_script);
    managed->scripts = scripts;
    managed->path = keep_name(scripts, path);
    managed->name = keep_name(scripts, name);
    managed->ready.fn = reload_on_ready;
    managed->drain.fn = managed_script_on_drain;
    *array_add(scripts->items, scripts->count) = managed;
    return managed;
}

struct managed_script *managed_script_find(const struct managed_scripts *scripts, const char *name)
{
    for (size_t i = 0; i < scripts->count; i++)
        if (strcmp(scripts->items[i]->name, name) == 0) return scripts->items[i];
    return NULL;
}

struct managed_script *managed_script_of_incoming(const struct managed_scripts *scripts,
                                                  const struct script *script)
{
    for (size_t i = 0; i < scripts->count; i++)
        if (scripts->items[i]->incoming == script) return scripts->items[i];
    return NULL;
}

static void free_managed(struct managed_script *managed)
{
    timer_cancel(&managed->ready);
    timer_cancel(&managed->drain);
    bundle_unref(managed->previous);
    bundle_unref(managed->refused);
    buf_clear(&managed->error);
    probation_clear(&managed->probation);
    buf_clear(&managed->unknown);
    buf_clear(&managed->rollback_why);
    bundle_unref(managed->rollback_of);
    buf_clear(&managed->waits_for);
    series_free(managed->memory);
    series_free(managed->load);
    series_free(managed->generation);
    series_free(managed->is_refused);
    free(managed);
}

void managed_script_remove(struct managed_script *managed)
{
    struct managed_scripts *scripts = managed->scripts;
    size_t i = 0;
    while (i < scripts->count && scripts->items[i] != managed) i++;
    must(i < scripts->count);
    memmove(&scripts->items[i], &scripts->items[i + 1],
            (--scripts->count - i) * sizeof(struct managed_script *));
    free_managed(managed);
}

static struct script_source next_of(const struct managed_script *managed, struct bundle *bundle)
{
    return (struct script_source){.path = managed->path,
                                  .name = managed->name,
                                  .bundle = bundle,
                                  .generation = managed->made + 1,
                                  .before = managed->running};
}

struct script *managed_script_load(struct managed_script *managed, struct bundle *bundle, struct err *err)
{
    const struct script_source source = next_of(managed, bundle);
    struct script *script = script_prepare(managed->scripts->options.host, &source, err);
    if (script) managed_script_adopt(managed->scripts, script);
    return script;
}

struct script *managed_script_begin_load(struct managed_script *managed, struct bundle *bundle,
                                         struct err *err)
{
    const struct script_source source = next_of(managed, bundle);
    return script_prepare_in_parts(managed->scripts->options.host, &source, err);
}

void managed_script_adopt(struct managed_scripts *scripts, struct script *script)
{
    *array_add(scripts->generations, scripts->generation_count) = script;
}

void managed_script_drop(struct managed_scripts *scripts, struct script *script)
{
    size_t i = 0;
    while (i < scripts->generation_count && scripts->generations[i] != script) i++;
    must(i < scripts->generation_count);
    memmove(&scripts->generations[i], &scripts->generations[i + 1],
            (--scripts->generation_count - i) * sizeof(struct script *));
    script_free(script);
}

/* --- draining */

void managed_script_drain(struct managed_script *managed, struct script *script)
{
    struct managed_scripts *scripts = managed->scripts;
    struct clock *clock = loop_clock(scripts->options.loop);
    *array_add(scripts->draining, scripts->draining_count) =
        (struct draining){script, managed, clock_now_ms(clock) + DRAIN_MS};
    timer_start(&managed->drain, clock, 0);
}

size_t managed_script_draining_count(const struct managed_script *managed)
{
    size_t count = 0;
    for (size_t i = 0; i < managed->scripts->draining_count; i++)
        count += managed->scripts->draining[i].managed == managed;
    return count;
}

/* Frees a generation that has drained, or whose grace period is over. Returns false if it goes on. */
static bool end_draining(struct managed_scripts *scripts, const struct draining *d)
{
    size_t calls = script_waiting_calls(d->script);
    if (calls > 0 && clock_now_ms(loop_clock(scripts->options.loop)) < d->until_ms) return false;
    if (calls > 0)
        log_warn("Cancelled calls of an old generation that did not finish within 10 s",
                 F("script", d->managed->name), FI("generation", script_generation(d->script)),
                 FI("calls", calls));
    if (calls > 0 && script_main_state(d->script) == SCRIPT_MAIN_RUNNING)
        log_warn("k8s.main was cancelled and will not run again; use a timer for recurring work",
                 F("script", d->managed->name));
    reload_metrics_cancelled(scripts->metrics, calls);
    /* The counters of a script survive its generations. */
    if (d->managed->running) script_add_counters(d->managed->running, d->script);
    managed_script_drop(scripts, d->script);
    return true;
}

void managed_script_on_drain(struct timer *timer)
{
    struct managed_script *managed = container_of(timer, struct managed_script, drain);
    struct managed_scripts *scripts = managed->scripts;
    /* From the end, as entries are removed on the way. */
    for (size_t i = scripts->draining_count; i-- > 0;) {
        if (scripts->draining[i].managed != managed || !end_draining(scripts, &scripts->draining[i]))
            continue;
        memmove(&scripts->draining[i], &scripts->draining[i + 1],
                (--scripts->draining_count - i) * sizeof *scripts->draining);
    }
    if (managed_script_draining_count(managed) > 0)
        timer_start(timer, loop_clock(scripts->options.loop), DRAIN_CHECK_MS);
    else if (managed->gone) {
        managed_script_remove(managed);
        reload_scan(scripts, RELOAD_IF_CHANGED); /* a file of that name may have come again */
    }
}

void managed_scripts_clear(struct managed_scripts *scripts)
{
    script_watch_free(scripts->watch);
    timer_cancel(&scripts->rescan);
    timer_cancel(&scripts->probation);
    /* A generation may refer to the one before it: the newest goes first. */
    while (scripts->generation_count > 0)
        managed_script_drop(scripts, scripts->generations[scripts->generation_count - 1]);
    for (size_t i = 0; i < scripts->count; i++) free_managed(scripts->items[i]);
    for (size_t i = 0; i < scripts->name_count; i++) free(scripts->names[i]);
    free(scripts->generations);
    free(scripts->items);
    free(scripts->names);
    free(scripts->draining);
    reload_metrics_free(scripts->metrics);
}
