/* Helpers of the specs of the simulator's rules: JSON with single quotes, kinds by name, and comparing
 * values. Owner: the caller, unless it says otherwise. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "sim/object/kind.h"

/* A value from text in which quotes are single ones; a new reference. Fails the test on bad JSON. */
json_t *js(const char *text);
/* Takes `actual`; it must be equal to the value of `expected`, which is written as for js(). */
void assert_json(json_t *actual, const char *expected);
/* Likewise, and its names must have the same order. */
void assert_json_text(json_t *actual, const char *expected);
/* The same as assert_json without taking it. */
void assert_json_at(const json_t *actual, const char *path, const char *expected);
void assert_text_at(const json_t *actual, const char *path, const char *expected);
/* A built-in kind by its plural name. */
const struct sim_kind *kind_named(const char *plural);
