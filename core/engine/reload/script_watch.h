/* Tells when files of scripts may have changed: inotify on the folders they are in, so that editors that
 * rename, mounts that swap a symlink, new files and removed ones are all noticed. What changed is for who is
 * told to find out. Owner: the engine, on its thread. */
#pragma once
#include <stddef.h>

#include "net/loop.h"

struct script_watch;

/* `changed` is called when nothing has happened for `settle_ms` after something did. NULL, with `*error` an
 * errno, where the system has no inotify left. */
struct script_watch *script_watch_new(struct loop *loop, int64_t settle_ms, void (*changed)(void *ctx),
                                      void *ctx, int *error);
/* From now on the folder too, and the place that it really is; one that is watched already is that once. A
 * folder that is not there is watched for by its parent. */
void script_watch_folder(struct script_watch *watch, const char *folder);
/* The folder of a file, and where its links lead. */
void script_watch_file(struct script_watch *watch, const char *path);
/* NULL is allowed. */
void script_watch_free(struct script_watch *watch);
