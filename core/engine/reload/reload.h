/* Reloads while the engine runs. A changed file is loaded beside the running generation, waits until its
 * informers are synced and its indexes built, and is activated. A failure before that leaves the running one
 * as it is. Owner: the engine; on the engine thread, outside of any call into Lua and of any callback of an
 * informer, unless said otherwise. */
#pragma once
#include <stdbool.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"

struct managed_scripts;
struct informer_claim;
struct managed_script;

/* Files that a scan loads. */
enum reload_mode {
    RELOAD_IF_CHANGED, /* changed since the last try; files that are missing, empty or being written get time
                        */
    RELOAD_IF_REFUSED, /* also unchanged files that were refused */
    RELOAD_FORCED,     /* also those rolled back from */
};

/* Scans all files, and directories for new ones. */
void reload_scan(struct managed_scripts *scripts, enum reload_mode mode);
/* Scans the files of one script. */
void reload_scan_script(struct managed_script *managed, enum reload_mode mode);
/* Returns whether a file that is missing or empty since `*since_ms` (0: from now on) may be about to be
 * written, as when it is rewritten in place or moved; schedules another scan then. */
bool reload_may_come(struct managed_script *managed, int64_t *since_ms, enum reload_mode mode);
void reload_on_rescan(struct timer *timer);
/* Loads the next generation from `text`, whatever the file contains; NULL: from the file. */
void reload_text(struct managed_script *managed, struct str text);
/* Refuses the incoming generation, if any, as it is not ready. */
void reload_refuse_waiting(struct managed_script *managed, const char *why);
/* Stops the script for good, as when its file is removed: its generations drain, then it is freed. */
void reload_remove(struct managed_script *managed);
/* Loads the sources of the previous generation as a new one. Returns false and sets err if there is none. */
bool reload_rollback(struct managed_script *managed, const char *why, struct err *err);
/* Records that the server lacks a kind that an incoming generation claims; `text` names the place. From
 * inside the callback of discovery. */
void reload_unknown_kind(struct managed_script *managed, const char *text);
/* Checks soon whether incoming generations are ready. Call after discovery or news of informers, from
 * anywhere. */
void reload_check_soon(struct managed_scripts *scripts);
void reload_on_ready(struct timer *timer);
/* Drops the incoming generation. */
void reload_drop_incoming(struct managed_script *managed);
/* Drops incoming generations, as the engine ends. */
void reload_end(struct managed_scripts *scripts);

/* --- reload_files.c */

/* Starts watching files; changes cause a scan. */
void reload_watch(struct managed_scripts *scripts);
