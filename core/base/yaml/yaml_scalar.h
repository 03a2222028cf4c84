/* Scalars as kubectl reads them, by YAML 1.1: `yes` and `on` are true, 0644 is octal, 1_000 a number. Times
 * are strings. Owner: the caller's buffer. Any thread. */
#pragma once
#include <yaml.h>

#include "base/buf.h"

/* Appends the scalar of the event as JSON: a string if it is a key. `fractions_stay`: 1e17 stays a fraction.
 */
void yaml_put_scalar(struct buf *out, const yaml_event_t *event, bool fractions_stay, bool is_key);
