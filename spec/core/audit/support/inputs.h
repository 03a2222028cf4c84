/* What the specs of reading the objects of an audit share: a folder of files, and what came out of one as
 * text. Owner: the test. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "audit/input/input.h"
#include "base/buf.h"

struct inputs {
    struct pool *pool;
    char folder[64];
    struct buf said; /* a line for each object: its line, apiVersion, kind and key; "! " and the error */
    struct audit_input_options options;
    struct audit_input_sink sink;
    struct audit_input_counts counts;
    size_t stop_after;  /* objects; 0: never */
    bool shows_objects; /* the whole of each, as JSON */
};

int inputs_setup(void **state);
int inputs_teardown(void **state);
/* Writes a file of the folder; gives its path, until the next call. */
const char *inputs_write(struct inputs *in, const char *name, struct str content);
/* What is said of a path; the folder is left out of it. Fails the test when it cannot be read at all. */
const char *inputs_read(struct inputs *in, const char *path);
/* Of a text in a file `x`. */
const char *inputs_say(struct inputs *in, struct str content);
