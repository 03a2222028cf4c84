/* A string function called twice: as scripts have it, and as LuaJIT has it in a state of its own. Knows
 * nothing of cmocka, as a fuzz target uses it too. Owner: the spec. */
#pragma once
#include "base/buf.h"
#include "script/generation/script.h"
#include "script/vm/limits.h"
#include "script/vm/state.h"
#include "script/vm/turns.h"

enum replacement_kind { REPLACE_TEXT, REPLACE_TABLE, REPLACE_FUNCTION, REPLACEMENTS };

struct pattern_call {
    const char *function; /* find, match, gmatch, gsub */
    struct str subject, pattern, text;
    enum replacement_kind replacement; /* of gsub; `text` is REPLACE_TEXT's */
    bool has_number, plain; /* `number` is find's and match's init, and the most that gsub replaces */
    int number;
};

struct patterns {
    char path[64];
    struct limits limits;
    struct script_host host;
    struct turns turns;
    struct script *script;
    lua_State *stock;
    struct buf own, expected; /* what the last call gave */
};

void patterns_init(struct patterns *p);
void patterns_clear(struct patterns *p);
/* False when they differ. */
bool patterns_agree(struct patterns *p, const struct pattern_call *call);
