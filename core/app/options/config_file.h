/* The file of --config: YAML, the names of flags with their values. Owner: config_file_clear frees it; flags
 * that were set from it borrow its texts. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/cli/flags.h"
#include "base/err.h"

struct config_file {
    struct flag_setting *settings; /* in the order of the file */
    size_t count;
};

/* A sequence gives a flag several values, a mapping "NAME=VALUE" for each of its entries. ERR_IO,
 * ERR_NOT_FOUND or ERR_PARSE with the path; ERR_INVALID also with the line. */
bool config_file_read(const char *path, struct config_file *out, struct err *err);
void config_file_clear(struct config_file *file);
