/* Names by which operators mean a script, in flags. On any thread. */
#pragma once
#include <stdbool.h>

#include "base/str.h"

/* Returns whether a flag means a script by this: its name, the last part of its name, its path, or the
 * file there, without its ending. */
bool script_goes_by(struct str wanted, const char *name, const char *path);
