/* Files that `kubelua init` writes: all of project/, and types/; with --recipe those of scripts/recipes that
 * have its name. Owner: the binary; constant. */
#pragma once
#include "base/embedded_file.h"

extern const struct embedded_file project_files[], recipe_files[];
