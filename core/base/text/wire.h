/* Numbers and strings as bytes, for messages between processes of this program: numbers of seven bits a byte,
 * the lowest first, strings with their length before them. A reader trusts nothing: truncated or too large
 * input makes it bad, and everything read afterwards is 0 or empty. Owner: strings that are read borrow from
 * the bytes. Any thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

void wire_put_number(struct buf *out, uint64_t number);
void wire_put_text(struct buf *out, struct str text);

struct wire_reader {
    struct str rest;
    bool bad;
};

uint64_t wire_number(struct wire_reader *reader);
/* Below `limit`; else the reader is bad. */
uint32_t wire_number_below(struct wire_reader *reader, uint64_t limit);
struct str wire_text(struct wire_reader *reader);
/* Returns whether everything was valid and the end is reached. */
bool wire_at_end(const struct wire_reader *reader);
