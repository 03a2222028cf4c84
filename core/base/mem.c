/* Allocation that aborts instead of failing; see mem.h. */
#include "base/mem.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"

static void *checked(void *ptr, size_t size)
{
    if (!ptr && size > 0) {
        fprintf(stderr, "kubelua: out of memory (%zu bytes)\n", size);
        abort();
    }
    return ptr;
}

void *xmalloc(size_t size)
{
    if (size == 0) size = 1;
    return checked(malloc(size), size);
}

void *xcalloc(size_t count, size_t size)
{
    if (count == 0 || size == 0) count = size = 1;
    return checked(calloc(count, size), count * size);
}

void *xrealloc(void *ptr, size_t size)
{
    if (size == 0) size = 1;
    return checked(realloc(ptr, size), size);
}

void *xreallocarray(void *ptr, size_t count, size_t size)
{
    size_t bytes;
    must(!__builtin_mul_overflow(count, size, &bytes));
    return xrealloc(ptr, bytes);
}

char *xstrdup(const char *text)
{
    return text ? xstrndup(text, strlen(text)) : NULL;
}

char *xstrndup(const char *text, size_t len)
{
    char *copy = xmalloc(len + 1);
    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

char *xvasprintf(const char *format, va_list args)
{
    char *text = NULL;
    must(vasprintf(&text, format, args) >= 0);
    return text;
}

char *xasprintf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = xvasprintf(format, args);
    va_end(args);
    return text;
}

void wipe(char *secret)
{
    if (secret) explicit_bzero(secret, strlen(secret));
    free(secret);
}

void mem_avoid_stalls(void)
{
    mallopt(M_MXFAST, 0);
}

static _Atomic size_t freed; /* since memory was last returned to the system */

void mem_note_freed(size_t bytes)
{
    atomic_fetch_add(&freed, bytes);
}

bool mem_give_back(void)
{
    enum { MUCH = 4 << 20 };
    static size_t seen;
    size_t now = atomic_load(&freed);
    bool rests = now == seen;
    seen = now;
    if (now < MUCH || !rests) return false;
    atomic_fetch_sub(&freed, now);
    seen = 0;
    malloc_trim(0);
    return true;
}
