/* Foreign strings on a terminal: without control sequences, and with columns counted as the terminal does
 * (E-9). Owner: the buffer is the caller's. Any thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Controls, also those that turn the direction of a line, and what is no UTF-8 become U+FFFD, blanks of all
 * kinds one blank. */
void terminal_put(struct buf *out, struct str text);
/* Returns whether the text has none of these, and no blank except ' '. */
bool terminal_is_safe(struct str text);
/* JSON, or YAML whose texts are in quotes: such characters become escapes, so that it means the same. Ends of
 * lines stay; they stand between the texts. */
void terminal_put_json(struct buf *out, struct str json);
/* Returns the number of columns of a string of terminal_put: two for a character of Chinese, none for a
 * combining accent. */
size_t terminal_columns(struct str text);
/* Cuts a line of at most so many columns off `*rest`: behind a word where there is a blank, and inside one
 * that is too long. False when there is nothing left. */
bool terminal_wrap(struct str *rest, size_t columns, struct str *line);
