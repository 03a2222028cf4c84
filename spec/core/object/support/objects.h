/* What the specs of core/object share: a pool with its packer, packing from C strings, JSON back as text, and
 * random documents together with what they must become. Owner: the test. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "object/pack/pack.h"
#include "object/pack/pool.h"
#include "object/value/json.h"
#include "object/value/value.h"

struct fixture {
    struct pool *pool;
    struct packer *packer;
};

void fixture_open(struct fixture *f);
/* Fails when something in the pool is still alive. */
void fixture_close(struct fixture *f);
int fixture_setup(void **state);
int fixture_teardown(void **state);

/* What objects are that do not say it: v1 and Thing. */
extern const struct pack_type thing_type;

/* A copy with TAPE_PADDING bytes behind it; to free. */
char *padded(struct str text);
/* By pack_tokens, and remembered; NULL where that leaves the text to the tape. A new reference. */
struct root *straight(struct packer *packer, struct str text);
/* By pack_tape; NULL where the text is no object. A new reference. */
struct root *by_tape(struct packer *packer, struct str text);

/* A new reference; fails the test when it cannot be packed. */
struct root *pack_ok(struct packer *packer, const char *json);
/* {"metadata":{"name":"x"},"it":<json>}, and the value of `it`. */
struct root *pack_it(struct packer *packer, const char *json, struct value *it);
/* Fails the test when it can be packed. */
struct err pack_fails(struct packer *packer, const char *json);
/* The text of a value; valid until the third next call. */
const char *json_of(struct value v);
struct value at_path(struct value v, const char *path);

struct random {
    uint64_t state;
};

/* From env SEED or the clock; printed. */
struct random random_start(const char *name);
uint64_t random_next(struct random *r);
/* 0 <= n < bound. */
uint32_t random_below(struct random *r, uint32_t bound);

/* One JSON value: as a server might write it, and as json_write has to. */
void random_value(struct random *r, int depth, struct buf *text, struct buf *expected);
