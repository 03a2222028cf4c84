/* Scripts for units; see fixture.h. */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/must.h"
#include "core/script/support/patient.h"
#include "script/vm/call.h"
#include "script/vm/turns.h"

void fixture_write(struct fixture *f, const char *name, const char *text)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    FILE *file = fopen(path, "w");
    must(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

void fixture_init(struct fixture *f)
{
    struct err err;
    memset(f, 0, sizeof *f);
    static const struct cluster_parts none;
    f->host.cluster = &none;
    f->host.default_namespace = "";
    f->host.limits = &patient_limits;
    turns_init(&f->turns);
    f->host.turns = &f->turns;
    f->pool = pool_new(&(struct pool_options){0});
    f->packer = packer_new(f->pool);
    strcpy(f->folder, "/tmp/kubelua-spec-XXXXXX");
    must(mkdtemp(f->folder));
    snprintf(f->path, sizeof f->path, "%s/unit.lua", f->folder);
    fixture_write(f, "unit.lua", "");
    f->script = script_load(&f->host, f->path, "unit", &err);
    if (!f->script) fail_msg("%s", err.text);
}

void fixture_check_pool(struct fixture *f)
{
    pool_drain(f->pool);
    assert_int_equal(pool_stats(f->pool).roots, 0);
    assert_int_equal(pool_stats(f->pool).nodes, 0);
}

void fixture_clear(struct fixture *f)
{
    char command[128];
    script_free(f->script);
    fixture_check_pool(f);
    packer_free(f->packer);
    pool_free(f->pool);
    buf_clear(&f->result);
    snprintf(command, sizeof command, "rm -rf %s", f->folder);
    must(system(command) == 0);
}

int fixture_setup(void **state)
{
    static struct fixture f;
    fixture_init(&f);
    *state = &f;
    return 0;
}

int fixture_teardown(void **state)
{
    fixture_clear(*state);
    return 0;
}

struct root *fixture_pack(struct fixture *f, const char *json)
{
    struct buf text = {0};
    struct root *root;
    struct err err;
    buf_puts(&text, json);
    memset(buf_reserve(&text, TAPE_PADDING), 0, TAPE_PADDING);
    if (!pack_text(f->packer, text.data, text.len, NULL, &root, &err)) fail_msg("%s", err.text);
    buf_clear(&text);
    return root;
}

struct global {
    const char *name;
    struct root *root;
};

static void set_global(lua_State *L, void *ctx)
{
    const struct global *global = ctx;
    view_push_object(L, global->root);
    lua_setglobal(L, global->name);
}

void fixture_global(struct fixture *f, const char *name, const char *json)
{
    struct global global = {name, fixture_pack(f, json)};
    must(script_call(f->script, "a snippet", set_global, &global) == SCRIPT_OK);
    root_unref(global.root);
}

struct snippet {
    const char *lua;
    struct buf *result;
};

static void run_snippet(lua_State *L, void *ctx)
{
    const struct snippet *snippet = ctx;
    if (luaL_loadbuffer(L, snippet->lua, strlen(snippet->lua), "@snippet.lua") != 0) lua_error(L);
    lua_call(L, 0, 1);
    lua_getglobal(L, "tostring");
    lua_insert(L, -2);
    lua_call(L, 1, 1);
    size_t len;
    const char *text = lua_tolstring(L, -1, &len);
    buf_append(snippet->result, text, len);
}

const char *fixture_run(struct fixture *f, const char *lua)
{
    f->result.len = 0;
    if (script_call(f->script, "a snippet", run_snippet, &(struct snippet){lua, &f->result}) != SCRIPT_OK) {
        f->result.len = 0;
        buf_puts(&f->result, "raised: ");
        buf_str(&f->result, buf_slice(&f->script->failure.text));
    }
    return buf_text(&f->result);
}

void fixture_assert_raises(struct fixture *f, const char *lua, const char *part, const char *file, int line)
{
    const char *text = fixture_run(f, lua);
    if (strncmp(text, "raised: ", 8) == 0 && strstr(text, part)) return;
    print_error("%s\n  gave: %s\n  wanted an error with: %s\n", lua, text, part);
    _fail(file, line);
}
