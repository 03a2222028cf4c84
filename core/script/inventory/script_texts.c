/* The texts in the code of a script; see script_texts.h. */
#include "script/inventory/script_texts.h"

#include <string.h>

#include "script/inventory/function_hash.h"
#include "script/vm/bundle.h"
#include "script/vm/modules.h"
#include "script/vm/state.h"

struct texts {
    struct str source;
    struct buf *found; /* each behind its length, a uint32_t */
};

static void compile(lua_State *L, void *ctx)
{
    const struct texts *texts = ctx;
    modules_push_chunk(L, texts->source, "=texts");
    function_code(L, lua_gettop(L), true, texts->found);
}

static void each(const struct buf *found, void (*fn)(void *ctx, struct str text), void *ctx)
{
    for (size_t at = 0; at < found->len;) {
        uint32_t n;
        memcpy(&n, found->data + at, sizeof n);
        fn(ctx, (struct str){found->data + at + sizeof n, n});
        at += sizeof n + n;
    }
}

/* What does not compile here was not loaded either. */
void script_each_text(struct script *script, void (*fn)(void *ctx, struct str text), void *ctx)
{
    struct buf found = {0};
    for (size_t i = 0; i < bundle_count(script->bundle); i++) {
        struct texts texts = {.found = &found};
        struct err err;
        found.len = 0;
        if (!bundle_text(script->bundle, bundle_path(script->bundle, i), &texts.source, &err)) continue;
        if (script_call(script, "texts", compile, &texts) == SCRIPT_OK) each(&found, fn, ctx);
    }
    buf_clear(&found);
}
