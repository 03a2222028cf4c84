/* Compiling in pieces; see load_text.h. */
#include "script/vm/load_text.h"

#include "script/vm/steps.h"

enum { PIECE = 4 << 10 };

struct reader {
    struct str rest;
    struct steps steps;
};

/* May raise: the parser is under protection. */
static const char *next_piece(lua_State *L, void *ctx, size_t *len)
{
    struct reader *reader = ctx;
    const char *piece = reader->rest.p;
    *len = reader->rest.n < PIECE ? reader->rest.n : PIECE;
    reader->rest.p += *len;
    reader->rest.n -= *len;
    steps_ask(&reader->steps);
    return *len > 0 ? piece : NULL;
}

bool load_text(lua_State *L, struct str text, const char *chunk)
{
    struct reader reader = {.rest = text};
    steps_init(&reader.steps, L);
    return lua_loadx(L, next_piece, &reader, chunk, "t") == 0;
}
