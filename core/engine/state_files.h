/* States of scripts in files (k8s.state with keep = "file"): DIR/SCRIPT/NAME.state, one for each state. A
 * file is replaced as a whole, by one that the disk has; one that another process has changed is left as it
 * is. Reading blocks on the disk, as loading a script does; writing has a thread, which touches no memory but
 * that of its operation. Owner: the engine. On the engine thread. */
#pragma once
#include "base/err.h"
#include "net/loop.h"
#include "script/view/state_store.h"

/* Bytes of a file, at most. */
enum { STATE_FILE_MAX = 8 << 20 };

/* Creates the directory if it is not there. Returns NULL and sets err if it cannot be used. */
struct state_store *state_files_new(const char *dir, struct loop *loop, struct err *err);
