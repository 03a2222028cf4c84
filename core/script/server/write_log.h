/* Write log: the writes of scripts and their attempts, the last ones in memory, all of them in a file of JSON
 * lines if there is one. Never the content of an object. Owner: the engine. On the engine thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct object_response;
struct write_log;
struct write_record;

/* Number of writes that are kept in memory. */
enum { WRITE_LOG_KEPT = 1000 };
/* Bytes of each text; a longer one ends with "...". */
enum { WRITE_LOG_TEXT_MAX = 2048 };

/* `path` NULL: no file. Appends to it; it is made for its owner alone. A write that could not be written
 * there is missing in the file, which then has a line with the result "Lost" that says how many are. NULL
 * when it cannot be opened. */
struct write_log *write_log_new(const char *path, struct err *err);
void write_log_free(struct write_log *write_log);
/* The file may have been moved: it is opened anew by its path, soon. On any thread. */
void write_log_reopen(struct write_log *write_log);
/* Adds a write that ended then. Long texts are kept in part. */
void write_log_add(struct write_log *write_log, struct write_record *record, int64_t ended_us,
                   const struct object_response *response);
/* Appends those that are kept as a JSON array, the oldest first; `key` as json_open has it. */
void write_log_write(const struct write_log *write_log, const char *key, size_t most, struct buf *out);
/* Returns the number of writes since the start. */
uint64_t write_log_total(const struct write_log *write_log);
