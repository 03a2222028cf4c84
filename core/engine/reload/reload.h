/* New generations of scripts while the engine runs: a file that says something else than what runs is loaded
 * beside it, waits until its informers are synced and its indexes built, and takes over. Whatever fails
 * before leaves the old one as it is. Owner: the engine; on the engine thread, outside of any call into Lua
 * and of any processing of an informer, but where said otherwise. */
#pragma once
#include <stdbool.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"

struct managed_scripts;
struct informer_claim;
struct managed_script;

/* Files that are loaded although they differ from what runs. */
enum reload_mode {
    RELOAD_IF_CHANGED, /* changed since the last try; missing and empty files are waited for */
    RELOAD_IF_REFUSED, /* and those refused, unchanged */
    RELOAD_FORCED,     /* and those rolled back from */
};

/* Looks at all files, and at the folders for new ones. */
void reload_scan(struct managed_scripts *scripts, enum reload_mode mode);
/* The same for one script. */
void reload_scan_script(struct managed_script *managed, enum reload_mode mode);
/* A file is gone or empty since `*since_ms`, 0 for right now: whether it may still be on its way, as when it
 * is rewritten in place or moved; then it is checked once more. */
bool reload_may_come(struct managed_script *managed, int64_t *since_ms, enum reload_mode mode);
void reload_on_rescan(struct timer *timer);
/* The script's next generation is of this text, whatever its file says; NULL: of what that says now. */
void reload_text(struct managed_script *managed, struct str text);
/* The incoming generation, if there is one, is refused as it is not ready yet. */
void reload_refuse_waiting(struct managed_script *managed, const char *why);
/* Stops the script for good, as when its file is gone: its generations drain, then it is removed. */
void reload_remove(struct managed_script *managed);
/* The generation before the current one comes back as a new one. False: there is none. */
bool reload_rollback(struct managed_script *managed, const char *why, struct err *err);
/* An incoming generation's claim is of a kind that the server does not have; `text` tells where it asks for
 * it. From inside discovery's response. */
void reload_unknown_kind(struct managed_script *managed, const char *text);
/* Discovery has responded, or informers have news: incoming generations may be ready, or refused. From
 * anywhere. */
void reload_check_soon(struct managed_scripts *scripts);
void reload_on_ready(struct timer *timer);
/* The one that waits is given up. */
void reload_drop_incoming(struct managed_script *managed);
/* No incoming generation comes any more: the engine ends. */
void reload_end(struct managed_scripts *scripts);

/* --- reload_files.c */

/* Files are looked at whenever they may have changed. */
void reload_watch(struct managed_scripts *scripts);
