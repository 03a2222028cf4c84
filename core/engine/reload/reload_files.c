/* Set of script files, and watching them for changes; see reload.h. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "engine/reload/managed_script.h"
#include "engine/reload/reload.h"
#include "engine/reload/script_files.h"
#include "engine/reload/script_watch.h"
#include "script/generation/handover.h"
#include "script/vm/bundle.h"

enum { SETTLE_MS = 100, ON_ITS_WAY_MS = 3000 };

/* --- what to watch */

static void watch_bundle(const struct slots *slots, const struct bundle *bundle)
{
    for (size_t i = 0; bundle && i < bundle_count(bundle); i++)
        script_watch_file(slots->watch, bundle_path(bundle, i));
}

static void watch_all(const struct slots *slots)
{
    const struct flag_list *arguments = &slots->options.files;
    if (!slots->watch) return;
    for (size_t i = 0; i < arguments->count; i++)
        if (script_files_is_folder(arguments->items[i]))
            script_watch_folder(slots->watch, arguments->items[i]);
    for (size_t i = 0; i < slots->count; i++) {
        const struct slot *slot = slots->items[i];
        script_watch_file(slots->watch, slot->path);
        watch_bundle(slots, slot->refused);
        if (slot->current) watch_bundle(slots, script_bundle(slot->current));
        if (slot->incoming) watch_bundle(slots, script_bundle(slot->incoming));
    }
}

/* --- files that came and went */

static bool is_listed(const struct script_files *files, const char *path)
{
    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->paths[i], path) == 0) return true;
    return false;
}

static void stop_script(struct slot *slot)
{
    struct handover done;
    struct script *script = slot->current;
    const struct slots_hooks *hooks = &slot->slots->options.hooks;
    slot->gone = true;
    reload_drop_incoming(slot);
    slot->current = NULL;
    log_info("Script stopped because its file was removed", F("script", slot->name));
    if (script) {
        hooks->taken(hooks->ctx, script, NULL);
        script_drain(script, &done);
        managed_script_drain(slot, script);
    } else {
        managed_script_remove(slot);
    }
}

/* One that was named itself keeps running: the file may be on its way to another place. */
static void note_lost(struct slot *slot)
{
    bool lost = access(slot->path, F_OK) != 0;
    if (lost && !slot->lost)
        log_warn("Script file is missing, the script keeps running", F("script", slot->name));
    slot->lost = lost;
}

static void add_new(struct slots *slots, const struct script_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        if (!managed_script_find(slots, files->names[i]))
            managed_script_add(slots, files->paths[i], files->names[i]);
}

bool reload_may_come(struct slot *slot, int64_t *since_ms, enum reload_mode mode)
{
    struct slots *slots = slot->slots;
    struct clock *clock = loop_clock(slots->options.loop);
    int64_t now_ms = clock_now_ms(clock);
    if (!*since_ms) *since_ms = now_ms;
    int64_t left_ms = *since_ms + ON_ITS_WAY_MS - now_ms;
    if (mode == RELOAD_FORCED || left_ms <= 0) return false;
    if (!timer_running(&slots->rescan)) timer_start(&slots->rescan, clock, left_ms);
    return true;
}

static void check_gone(struct slot *slot, const struct script_files *files, enum reload_mode mode)
{
    if (slot->gone) return;
    if (is_listed(files, slot->path))
        slot->missing_ms = 0;
    else if (!reload_may_come(slot, &slot->missing_ms, mode))
        stop_script(slot);
}

/* Folders have what they have now; a folder that cannot be read has what it had. */
static void find_files(struct slots *slots, enum reload_mode mode)
{
    struct script_files files;
    struct err err;
    if (!script_files_rescan(&slots->options.files, &files, &err)) {
        log_warn("Failed to scan for scripts", F("err", err.text));
        return;
    }
    for (size_t i = slots->count; i-- > 0;) check_gone(slots->items[i], &files, mode);
    add_new(slots, &files);
    script_files_clear(&files);
}

void reload_scan(struct slots *slots, enum reload_mode mode)
{
    if (slots->ending) return;
    find_files(slots, mode);
    for (size_t i = 0; i < slots->count; i++) {
        struct slot *slot = slots->items[i];
        if (slot->gone || slot->missing_ms) continue;
        note_lost(slot);
        if (!slot->lost) reload_scan_script(slot, mode);
    }
    slots->options.hooks.looked(slots->options.hooks.ctx);
    watch_all(slots);
}

/* --- who tells */

static void on_changed(void *ctx)
{
    reload_scan(ctx, RELOAD_IF_CHANGED);
}

void reload_on_rescan(struct timer *timer)
{
    reload_scan(container_of(timer, struct slots, rescan), RELOAD_IF_CHANGED);
}

void reload_watch(struct slots *slots)
{
    int error = 0;
    slots->watch = script_watch_new(slots->options.loop, SETTLE_MS, on_changed, slots, &error);
    if (!slots->watch)
        log_warn("Failed to watch files, use SIGHUP or kubelua reload after changes",
                 F("err", strerror(error)));
    watch_all(slots);
}
