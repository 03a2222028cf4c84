/* JSON text to simdjson's tape, and reading small documents straight from it (Status, discovery, watch
 * envelopes). Owner: a parser belongs to one thread; a tape borrows from its parser and from nothing else,
 * until the next parse. Positions on the tape are indexes; 0 is "nothing", as index 0 never holds a value. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* Readable bytes that must follow every text that is parsed; their content does not matter. */
enum { TAPE_PADDING = 64 };

struct tape_parser;

struct tape {
    const uint64_t *words;
    const uint8_t *strings; /* each: 32-bit length, bytes, NUL */
};

struct tape_parser *tape_parser_new(void);
void tape_parser_free(struct tape_parser *parser);
/* Parses; `text` has TAPE_PADDING bytes behind `len`. Integers beyond 64 bits become doubles (H-19). The
 * error has the reason. */
bool tape_parse(struct tape_parser *parser, const char *text, size_t len, struct tape *tape, struct err *err);

/* Returns the document's value. */
size_t tape_root(const struct tape *tape);
/* simdjson's letter: '{' '[' '"' 'l' (int64) 'u' (uint64) 'd' (double) 't' 'f' 'n'; 0 for position 0. */
char tape_type(const struct tape *tape, size_t at);
/* Returns the position after the value. */
size_t tape_after(const struct tape *tape, size_t at);
/* Returns the value of a field of the object at `at`, or 0. */
size_t tape_field(const struct tape *tape, size_t at, struct str key);
/* First element of an array or, with `key`, first entry of an object; 0 when empty. */
size_t tape_first(const struct tape *tape, size_t at, struct str *key);
/* Returns the element or entry after the value at `value` in the container at `at`; 0 at the end. */
size_t tape_next(const struct tape *tape, size_t at, size_t value, struct str *key);
/* Returns a string; empty with a NULL pointer for other types. */
struct str tape_str(const struct tape *tape, size_t at);
/* Returns whether a string or key in the value at `at` has a NUL byte, where a C string would end. */
bool tape_has_nul(const struct tape *tape, size_t at);
/* Returns an integer, or `otherwise`. */
int64_t tape_int(const struct tape *tape, size_t at, int64_t otherwise);
bool tape_bool(const struct tape *tape, size_t at, bool otherwise);
