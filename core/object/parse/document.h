/* Parsed JSON printed for people and programs: indented JSON, or YAML.
 * Owner: everything borrowed. Any thread. */
#pragma once
#include "base/buf.h"
#include "object/parse/tape.h"

/* Without blanks and line ends. */
void document_compact(const struct tape *tape, size_t at, struct buf *out);
/* The value at `at`, with a line end behind it. */
void document_json(const struct tape *tape, size_t at, struct buf *out);
void document_yaml(const struct tape *tape, size_t at, struct buf *out);
