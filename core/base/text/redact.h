/* Secrets that log lines must not show: texts that operators gave for parameters of the type secret. A line
 * has "***" in their place, whoever wrote it. Owner: the process; texts stay until it ends. May be called
 * from any thread, also in a child that was forked. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

/* REDACT_MIN: shorter texts stay, as they may be part of any word. REDACT_MAX: beyond it the oldest is
 * forgotten. */
enum { REDACT_MIN = 8, REDACT_MAX = 256 };

/* Hides the text from now on, also as it is within a JSON string; one that is known costs a comparison. */
void redact_add(struct str secret);
/* Replaces every secret of the text. Costs nothing while there is none. */
void redact(struct buf *text);
