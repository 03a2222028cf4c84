/* Files that `kubelua init` writes: all of project/, and types/. Owner: the binary; constant. */
#pragma once
#include "base/embedded_file.h"

extern const struct embedded_file project_files[];
