/* Strings that are stored once each: equal ones share their bytes. Owner: the caller, zero-initialised;
 * strings live until texts_clear. On one thread. */
#pragma once
#include <stddef.h>

#include "base/str.h"

struct text_chunk;

struct texts {
    struct text_chunk *chunks; /* the newest first */
    struct str *slots;         /* open addressing; `p` NULL: empty */
    size_t count, cap;
};

/* Returns the stored string, terminated by a NUL. */
struct str texts_keep(struct texts *texts, struct str text);
void texts_clear(struct texts *texts);
