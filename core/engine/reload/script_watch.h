/* Watches files of scripts with inotify on their directories, so that editors that rename, mounts that swap a
 * symlink, new files and removed ones are all noticed. The callback finds out what changed. Owner: the
 * engine, on its thread. */
#pragma once
#include <stddef.h>

#include "net/loop.h"

struct script_watch;

/* Creates a watch. Calls `changed` when nothing has happened for `settle_ms` after an event. Returns NULL and
 * sets `*error` to an errno if the system has no inotify left. `reload`, borrowed, is the name in messages of
 * what the user can do instead. */
struct script_watch *script_watch_new(struct loop *loop, int64_t settle_ms, const char *reload,
                                      void (*changed)(void *ctx), void *ctx, int *error);
/* Watches the directory and the place where its links lead; repeated calls do no harm. A missing directory is
 * watched for in its parent. */
void script_watch_folder(struct script_watch *watch, const char *folder);
/* Watches the directory of a file, and where its links lead. */
void script_watch_file(struct script_watch *watch, const char *path);
/* Returns how long to wait for writers that have written to a Lua file and not closed it; 0: not at all. Logs
 * files that were not closed in time. NULL is allowed, here and below. */
int64_t script_watch_unclosed_ms(struct script_watch *watch);
void script_watch_free(struct script_watch *watch);
