/* A script made of text, and snippets run in its state as if they were part of it.
 * Owner: the spec. fixture_run's text lives until the next call. */
#pragma once
#include "object/pack/pack.h"
#include "script/generation/script.h"
#include "script/view/view.h"
#include "script/vm/state.h"
#include "script/vm/turns.h"

struct fixture {
    char folder[64]; /* of the script's file; modules are put beside it */
    char path[96];
    struct script_host host;
    struct turns turns;
    struct pool *pool;
    struct packer *packer;
    struct script *script;
    struct buf result;
};

/* An empty script. */
void fixture_init(struct fixture *f);
void fixture_clear(struct fixture *f);
/* For cmocka: the same, of a fixture that becomes the state. */
int fixture_setup(void **state);
int fixture_teardown(void **state);
/* Every object that the script held was released; called by fixture_clear too. */
void fixture_check_pool(struct fixture *f);

/* A reference for the caller. */
struct root *fixture_pack(struct fixture *f, const char *json);
/* Makes a view of the object a global of the script. */
void fixture_global(struct fixture *f, const char *name, const char *json);

/* Runs the text as a chunk named snippet.lua: gives tostring of what it returned ("nil" for nothing), or
 * "raised: " and the error's text. */
const char *fixture_run(struct fixture *f, const char *lua);
#define assert_lua(f, lua, expected) assert_string_equal(fixture_run(f, lua), expected)
/* The error's text must contain `part`. */
void fixture_assert_raises(struct fixture *f, const char *lua, const char *part, const char *file, int line);
#define assert_raises(f, lua, part) fixture_assert_raises(f, lua, part, __FILE__, __LINE__)

/* Writes a file into the script's folder. */
void fixture_write(struct fixture *f, const char *name, const char *text);
