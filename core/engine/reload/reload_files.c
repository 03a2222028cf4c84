/* Set of script files, and watching them for changes; see reload.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "engine/reload/managed_script.h"
#include "engine/reload/reload.h"
#include "engine/reload/reload_internal.h"
#include "engine/reload/script_files.h"
#include "engine/reload/script_folders.h"
#include "engine/reload/script_watch.h"
#include "script/generation/handover.h"
#include "script/vm/bundle.h"

/* Editors write a file in several steps: wait until events pause. A file that is missing or empty gets some
 * seconds, as tools that replace it may be slow. */
enum { SETTLE_MS = 100, ON_ITS_WAY_MS = 3000 };

/* --- what to watch */

static void watch_file(const struct managed_scripts *scripts, const char *path)
{
    if (!bundle_is_given(path)) script_watch_file(scripts->watch, path);
}

static void watch_bundle(const struct managed_scripts *scripts, const struct bundle *bundle)
{
    for (size_t i = 0; bundle && i < bundle_count(bundle); i++) watch_file(scripts, bundle_path(bundle, i));
}

static void watch_folder(void *ctx, const char *folder)
{
    script_watch_folder(ctx, folder);
}

/* Directories are watched before they are scanned: what comes into a new one either is found, or is an event
 * that brings the next scan. The scan that follows logs what cannot be read. */
static void watch_folders(const struct managed_scripts *scripts)
{
    const struct script_search *search = &scripts->options.search;
    const struct script_folders_visitor visitor = {.folder = watch_folder, .ctx = scripts->watch};
    struct err err;
    for (size_t i = 0; scripts->watch && i < search->count; i++)
        if (script_files_is_folder(search->arguments[i]))
            script_folders_walk(search->arguments[i], search->recursive, &visitor, &err);
}

void reload_watch_files(const struct managed_scripts *scripts)
{
    if (!scripts->watch) return;
    for (size_t i = 0; i < scripts->count; i++) {
        const struct managed_script *managed = scripts->items[i];
        watch_file(scripts, managed->path);
        watch_bundle(scripts, managed->refused);
        if (managed->running) watch_bundle(scripts, script_bundle(managed->running));
        if (managed->incoming) watch_bundle(scripts, script_bundle(managed->incoming));
        if (managed->loading) watch_bundle(scripts, script_bundle(managed->loading));
    }
}

/* --- files that came and went */

static bool is_listed(const struct script_files *files, const char *path)
{
    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->paths[i], path) == 0) return true;
    return false;
}

void reload_remove(struct managed_script *managed)
{
    struct handover done;
    struct script *script = managed->running;
    const struct managed_scripts_hooks *hooks = &managed->scripts->options.hooks;
    managed->gone = true;
    reload_drop_incoming(managed);
    managed->running = NULL;
    if (script) {
        hooks->activated(hooks->ctx, script, NULL);
        script_drain(script, &done);
        managed_script_drain(managed, script);
    } else {
        managed_script_remove(managed);
    }
}

/* Warns, once, about a missing file that was named as an argument. Its script keeps running: the file may be
 * about to be moved back. */
static void note_lost(struct managed_script *managed)
{
    bool lost = access(managed->path, F_OK) != 0;
    if (lost && !managed->lost)
        log_warn("Script file is missing, the script keeps running", F("script", managed->name));
    managed->lost = lost;
}

static void add_new(struct managed_scripts *scripts, const struct script_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        if (!managed_script_find(scripts, files->names[i]))
            managed_script_add(scripts, files->paths[i], files->names[i]);
}

bool reload_may_come(struct managed_script *managed, int64_t *since_ms, enum reload_mode mode)
{
    struct managed_scripts *scripts = managed->scripts;
    struct clock *clock = loop_clock(scripts->options.loop);
    int64_t now_ms = clock_now_ms(clock);
    if (!*since_ms) *since_ms = now_ms;
    int64_t left_ms = *since_ms + ON_ITS_WAY_MS - now_ms;
    if (mode == RELOAD_FORCED || left_ms <= 0) return false;
    if (!timer_running(&scripts->rescan)) timer_start(&scripts->rescan, clock, left_ms);
    return true;
}

static void check_gone(struct managed_script *managed, const struct script_files *files,
                       enum reload_mode mode)
{
    if (managed->gone) return;
    if (is_listed(files, managed->path))
        managed->missing_ms = 0;
    else if (!reload_may_come(managed, &managed->missing_ms, mode)) {
        log_info("Script stopped because its file was removed", F("script", managed->name));
        reload_remove(managed);
    }
}

/* Updates the list of files from the directories. After a failed scan the old list stays: a directory that
 * cannot be read for a moment must not stop its scripts. */
static void find_files(struct managed_scripts *scripts, enum reload_mode mode)
{
    struct script_files files;
    struct err err;
    watch_folders(scripts);
    if (!script_files_rescan(&scripts->options.search, &files, &err)) {
        log_warn("Failed to scan for scripts", F("err", err.text));
        return;
    }
    /* From the end, as scripts are removed on the way. Removals come before additions, so that a renamed
     * script never runs twice. */
    for (size_t i = scripts->count; i-- > 0;) check_gone(scripts->items[i], &files, mode);
    add_new(scripts, &files);
    script_files_clear(&files);
}

/* Returns whether a file is being written: its next scan comes when it is closed, or has had its time. Any
 * Lua file counts, as a script may require one that no generation has read. */
static bool is_unclosed(struct managed_scripts *scripts, enum reload_mode mode)
{
    int64_t wait_ms = mode == RELOAD_FORCED ? 0 : script_watch_unclosed_ms(scripts->watch);
    if (wait_ms > 0 && (int)mode > scripts->postponed) scripts->postponed = (int)mode;
    if (wait_ms > 0 && !timer_running(&scripts->rescan))
        timer_start(&scripts->rescan, loop_clock(scripts->options.loop), wait_ms);
    return wait_ms > 0;
}

void reload_scan(struct managed_scripts *scripts, enum reload_mode mode)
{
    if (scripts->ending || is_unclosed(scripts, mode)) return;
    if (scripts->postponed > (int)mode) mode = (enum reload_mode)scripts->postponed;
    scripts->postponed = RELOAD_IF_CHANGED;
    find_files(scripts, mode);
    for (size_t i = 0; i < scripts->count; i++) {
        struct managed_script *managed = scripts->items[i];
        if (managed->gone || managed->missing_ms) continue;
        note_lost(managed);
        if (!managed->lost) reload_scan_script(managed, mode);
    }
    scripts->options.hooks.scanned(scripts->options.hooks.ctx);
    /* Watched again after each scan: modules of new generations may lie in other directories. */
    reload_watch_files(scripts);
}

/* --- triggers */

static void on_changed(void *ctx)
{
    reload_scan(ctx, RELOAD_IF_CHANGED);
}

void reload_on_rescan(struct timer *timer)
{
    reload_scan(container_of(timer, struct managed_scripts, rescan), RELOAD_IF_CHANGED);
}

void reload_watch(struct managed_scripts *scripts)
{
    int error = 0;
    const char *reload = scripts->options.reload_name;
    scripts->watch = script_watch_new(scripts->options.loop, SETTLE_MS, reload, on_changed, scripts, &error);
    if (!scripts->watch) {
        char message[96];
        snprintf(message, sizeof message, "Failed to watch files, use SIGHUP or %s after changes", reload);
        log_warn(message, F("err", strerror(error)));
    }
    watch_folders(scripts);
    reload_watch_files(scripts);
}
