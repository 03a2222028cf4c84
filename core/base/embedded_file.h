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

/* --- The Lua half of the API, in the binary (lua/embed.cmake writes the table).
 * Owner: the binary; constant. May be read from any thread. */

struct embedded_module {
    const char *name;   /* as `require` names it: "k8s.selectors" */
    const char *chunk;  /* as tracebacks name it: "=lua/k8s/selectors.lua" */
    const char *source; /* its text; of the API's modules, bytecode */
    size_t len;
};

/* Ends with a NULL name. */
extern const struct embedded_module embedded_modules[];
