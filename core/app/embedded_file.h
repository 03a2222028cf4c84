/* Files that are compiled into the binary as they are (core/app/embed_files.cmake writes the tables).
 * Owner: the binary; constant. May be read from any thread. */
#pragma once
#include <stddef.h>

struct embedded_file {
    const char *path; /* "types/k8s.lua" */
    const char *text; /* terminated */
    size_t len;
};

/* What `kubelua init` writes. Ends with a NULL path. */
extern const struct embedded_file project_files[];
