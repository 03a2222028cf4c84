/* Checking and shortening of JSON text by simdjson; see compact.h. */
#include "object/parse/compact.h"

#include <string.h>

#include "base/must.h"
#include "object/parse/simdjson.h"
#include "object/parse/tape.h"

/* Walks the tape from word to word, whatever is within what. */
static bool is_plain(const struct tape *tape)
{
    size_t end = tape_after(tape, tape_root(tape));
    for (size_t at = tape_root(tape); at < end;) {
        char type = tape_type(tape, at);
        if (type == 'u' || type == 'd') return false;
        if (type == '"' && str_has_nul(tape_str(tape, at))) return false;
        at += type == 'l' ? 2 : 1;
    }
    return true;
}

bool json_compact(struct str text, struct buf *out)
{
    struct simdjson_parser *parser = simdjson_parser_new();
    struct buf padded = {0};
    struct tape tape;
    must(parser);
    memcpy(buf_reserve(&padded, text.n + SIMDJSON_TEXT_PADDING), text.p, text.n);
    memset(padded.data + text.n, 0, SIMDJSON_TEXT_PADDING);
    bool good = !simdjson_parse(parser, padded.data, text.n, &tape.words, &tape.strings) && is_plain(&tape);
    if (good)
        out->len += simdjson_minify(padded.data, text.n, buf_reserve(out, text.n + SIMDJSON_TEXT_PADDING));
    buf_clear(&padded);
    simdjson_parser_free(parser);
    return good;
}
