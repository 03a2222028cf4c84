/* simdjson's tape read from C; see tape.h. */
#include "object/parse/tape.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "base/text/widen.h"
#include "object/parse/simdjson.h"

_Static_assert((int)TAPE_PADDING >= (int)SIMDJSON_TEXT_PADDING, "simdjson reads beyond the end of its text");

#define PAYLOAD(word) ((word)&0x00ffffffffffffffu)

struct tape_parser {
    struct simdjson_parser *simdjson;
};

struct tape_parser *tape_parser_new(void)
{
    struct tape_parser *parser = NEW(struct tape_parser);
    parser->simdjson = simdjson_parser_new();
    must(parser->simdjson);
    return parser;
}

void tape_parser_free(struct tape_parser *parser)
{
    if (!parser) return;
    simdjson_parser_free(parser->simdjson);
    free(parser);
}

bool tape_parse(struct tape_parser *parser, const char *text, size_t len, struct tape *tape, struct err *err)
{
    const char *wrong = simdjson_parse(parser->simdjson, text, len, &tape->words, &tape->strings);
    struct buf wide = {0};
    if (wrong && widen_integers((struct str){text, len}, true, &wide)) {
        buf_reserve(&wide, TAPE_PADDING);
        wrong = simdjson_parse(parser->simdjson, wide.data, wide.len, &tape->words, &tape->strings);
    }
    buf_clear(&wide);
    return wrong ? err_set(err, ERR_PARSE, "invalid JSON: %s", wrong) : true;
}

size_t tape_root(const struct tape *tape)
{
    return 1;
}

char tape_type(const struct tape *tape, size_t at)
{
    return at ? (char)(tape->words[at] >> 56) : 0;
}

size_t tape_after(const struct tape *tape, size_t at)
{
    switch (tape_type(tape, at)) {
    case '{':
    case '[': return (uint32_t)tape->words[at];
    case 'l':
    case 'u':
    case 'd': return at + 2;
    default: return at + 1;
    }
}

struct str tape_str(const struct tape *tape, size_t at)
{
    if (tape_type(tape, at) != '"') return (struct str){NULL, 0};
    const uint8_t *p = tape->strings + PAYLOAD(tape->words[at]);
    uint32_t length;
    memcpy(&length, p, sizeof length);
    return (struct str){(const char *)p + sizeof length, length};
}

bool tape_has_nul(const struct tape *tape, size_t at)
{
    size_t end = tape_after(tape, at);
    while (at < end) {
        if (str_has_nul(tape_str(tape, at))) return true;
        char type = tape_type(tape, at);
        at = type == '{' || type == '[' ? at + 1 : tape_after(tape, at);
    }
    return false;
}

/* Returns the value at `at` of the container at `container`, with its key if it has one; 0 at the end. */
static size_t entry(const struct tape *tape, size_t container, size_t at, struct str *key)
{
    char type = tape_type(tape, at);
    if (type == '}' || type == ']') return 0;
    if (tape_type(tape, container) == '[') return at;
    if (key) *key = tape_str(tape, at);
    return at + 1;
}

size_t tape_first(const struct tape *tape, size_t at, struct str *key)
{
    char type = tape_type(tape, at);
    if (type != '{' && type != '[') return 0;
    return entry(tape, at, at + 1, key);
}

size_t tape_next(const struct tape *tape, size_t at, size_t value, struct str *key)
{
    return entry(tape, at, tape_after(tape, value), key);
}

/* Returns the last one of duplicate keys, as everywhere. */
size_t tape_field(const struct tape *tape, size_t at, struct str key)
{
    if (tape_type(tape, at) != '{') return 0;
    struct str name;
    size_t found = 0;
    for (size_t v = tape_first(tape, at, &name); v; v = tape_next(tape, at, v, &name)) {
        if (str_eq(name, key)) found = v;
    }
    return found;
}

int64_t tape_int(const struct tape *tape, size_t at, int64_t otherwise)
{
    if (tape_type(tape, at) != 'l') return otherwise;
    return (int64_t)tape->words[at + 1];
}

bool tape_bool(const struct tape *tape, size_t at, bool otherwise)
{
    char type = tape_type(tape, at);
    return type == 't' ? true : type == 'f' ? false : otherwise;
}
