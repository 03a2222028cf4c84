/* simdjson's DOM parser for C: hands out its tape; see simdjson.h. */
#include "object/parse/simdjson.h"

#include <new>
#include <simdjson.h>

static_assert(SIMDJSON_TEXT_PADDING >= simdjson::SIMDJSON_PADDING, "simdjson reads further than we say");

/* A parser keeps room for the largest text it has seen; one much larger than what comes now is given up. */
static const size_t keep_capacity = 1 << 20, first_capacity = 1 << 14;

struct simdjson_parser {
    simdjson::dom::parser dom;
    /* Stage 1 alone, with an index of its own. */
    std::unique_ptr<simdjson::internal::dom_parser_implementation> stage1;
};

static const char *describe(simdjson::error_code code) noexcept
{
    switch (code) {
    case simdjson::NUMBER_ERROR: return "a number is malformed or out of range";
    case simdjson::DEPTH_ERROR: return "nested too deeply";
    case simdjson::EMPTY: return "empty text";
    case simdjson::UTF8_ERROR: return "bytes that are not UTF-8";
    case simdjson::UNCLOSED_STRING: return "a string does not end";
    case simdjson::STRING_ERROR: return "a string is malformed";
    case simdjson::UNESCAPED_CHARS: return "a control character inside a string";
    case simdjson::T_ATOM_ERROR:
    case simdjson::F_ATOM_ERROR:
    case simdjson::N_ATOM_ERROR: return "a malformed true, false or null";
    case simdjson::CAPACITY: return "too long a text";
    case simdjson::MEMALLOC: return "no memory for parsing";
    default: return "malformed structure";
    }
}

extern "C" struct simdjson_parser *simdjson_parser_new(void)
{
    return new (std::nothrow) simdjson_parser;
}

extern "C" void simdjson_parser_free(struct simdjson_parser *parser)
{
    delete parser;
}

extern "C" const char *simdjson_parse(struct simdjson_parser *parser, const char *text, size_t len,
                                      const uint64_t **words, const uint8_t **strings)
{
    simdjson::dom::parser &dom = parser->dom;
    if (dom.capacity() > keep_capacity && len < dom.capacity() / 8) dom = simdjson::dom::parser();
    simdjson::error_code code = dom.parse(text, len, false).error();
    if (code) return describe(code);
    *words = dom.doc.tape.get();
    *strings = dom.doc.string_buf.get();
    return nullptr;
}

/* The first text makes the parser; one that is too small for a text is enlarged to twice what it needs. */
static simdjson::error_code make_room(struct simdjson_parser *parser, size_t len) noexcept
{
    auto &stage1 = parser->stage1;
    if (stage1 && stage1->capacity() > keep_capacity && len < stage1->capacity() / 8) stage1.reset();
    if (!stage1)
        return simdjson::get_active_implementation()->create_dom_parser_implementation(
            len < first_capacity ? first_capacity : len, 1, stage1);
    return stage1->capacity() < len ? stage1->set_capacity(2 * len) : simdjson::SUCCESS;
}

extern "C" const char *simdjson_tokens(struct simdjson_parser *parser, const char *text, size_t len,
                                       const uint32_t **at, size_t *count)
{
    simdjson::error_code code = make_room(parser, len);
    if (!code)
        code = parser->stage1->stage1(reinterpret_cast<const uint8_t *>(text), len,
                                      simdjson::stage1_mode::regular);
    if (code) return describe(code);
    *at = parser->stage1->structural_indexes.get();
    *count = parser->stage1->n_structural_indexes;
    return nullptr;
}

extern "C" size_t simdjson_minify(const char *text, size_t len, char *out)
{
    size_t written = 0;
    return simdjson::minify(text, len, out, written) ? 0 : written;
}
