/* Any bytes: refused with an error, or a record whose body becomes a table of a script. */
#include <stdint.h>
#include <string.h>

#include "base/must.h"
#include "core/script/support/patterns.h"
#include "script/generation/state_record.h"
#include "script/generation/state_walk.h"
#include "script/vm/call.h"
#include "script/vm/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_body(lua_State *L, void *ctx)
{
    struct state_walk walk;
    state_walk_init(&walk, ctx, LUA_NOREF, 0);
    walk.end_ns = INT64_MAX;
    must(state_walk_read(L, &walk) && lua_istable(L, -1));
    state_walk_end(L, &walk);
}

static void check(struct patterns *p, struct str bytes)
{
    struct err err = {0};
    struct state_record record;
    struct buf body = {0};
    if (!state_record_read(bytes, &record, &err)) {
        must(err.code == ERR_PARSE && err.text[0]);
        return;
    }
    must(record.version >= 0 && record.body.p + record.body.n == bytes.p + bytes.n);
    buf_str(&body, record.body);
    enum script_result result = script_call(p->script, "a record", read_body, &body);
    must(result == SCRIPT_OK || result == SCRIPT_MEMORY_LIMIT || result == SCRIPT_CPU_LIMIT);
    buf_clear(&body);
}

/* Random bytes have no checksum of their own: the same bytes are a body, too, with the right one. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct patterns patterns;
    struct buf record = {0};
    if (!patterns.script) patterns_init(&patterns);
    check(&patterns, (struct str){(const char *)data, size});
    state_record_write((struct str){(const char *)data, size}, 1, &record);
    check(&patterns, buf_slice(&record));
    buf_clear(&record);
    return 0;
}
