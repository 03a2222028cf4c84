/* Paths that k8s.raw reads, and the patterns of k8s.reads that allow them: by segment, where "*" stands for
 * one. What would open a connection into a pod or a node, or never end, is neither: proxy, exec, attach,
 * portforward, watches. Owner: the script, of its patterns. On the engine thread; nothing here raises. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

struct read_paths {
    char **items;
    size_t count;
};

/* Returns whether a path may be read at all. ERR_INVALID, with the path in the text. */
bool read_path_check(struct str path, struct err *err);
/* Adds a pattern; the same again changes nothing. ERR_INVALID if nothing that it matches may be read, or if a
 * "*" stands for a subresource: the permission for that would be one for exec, too. */
bool read_paths_add(struct read_paths *paths, struct str pattern, struct err *err);
/* Returns whether a pattern matches the path, which was checked. */
bool read_paths_allow(const struct read_paths *paths, struct str path);
void read_paths_clear(struct read_paths *paths);
