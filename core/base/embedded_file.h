/* Files that are compiled into the binary as they are (core/base/embed_files.cmake writes the tables).
 * Owner: the binary; constant. May be read from any thread. */
#pragma once
#include <stddef.h>

/* A table of them ends with a NULL path. */
struct embedded_file {
    const char *path; /* "types/k8s.lua" */
    const char *text; /* terminated */
    size_t len;
};
