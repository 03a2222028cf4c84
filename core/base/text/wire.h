/* Numbers and texts as bytes, for what processes of ours tell each other: numbers of seven bits a byte, the
 * lowest first, texts with their length before them. Whoever reads believes nothing: what is cut off or too
 * large makes the reader bad, and all that is read from then on is 0 or empty.
 * Owner: texts that are read borrow from the bytes. Any thread. */
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
/* All was good, and there is nothing more. */
bool wire_at_end(const struct wire_reader *reader);
