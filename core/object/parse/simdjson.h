/* C interface of simdjson.cc: everything that is used of simdjson. Owner: a parser belongs to one thread.
 * Nothing throws. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes behind a text that simdjson may read. */
enum { SIMDJSON_TEXT_PADDING = 64 };

struct simdjson_parser;

/* Creates a parser; NULL if out of memory. */
struct simdjson_parser *simdjson_parser_new(void);
void simdjson_parser_free(struct simdjson_parser *parser);
/* Parses; returns NULL, or the error (a static string). `text` has the padding behind `len`. The tape stays
 * valid until the next call. */
const char *simdjson_parse(struct simdjson_parser *parser, const char *text, size_t len,
                           const uint64_t **words, const uint8_t **strings);

/* Returns the beginnings of the tokens of a text: brackets, colons, commas, and the first byte of each
 * string, number or atom, in the order of the text; then one that is `len`. The text is UTF-8 and its strings
 * have ends; nothing else is checked. `*at` stays valid until the next call. */
const char *simdjson_tokens(struct simdjson_parser *parser, const char *text, size_t len, const uint32_t **at,
                            size_t *count);

/* Writes a text that was parsed without the blanks between its tokens; returns its length. `out` has room for
 * the text and the padding. */
size_t simdjson_minify(const char *text, size_t len, char *out);

#ifdef __cplusplus
}
#endif
