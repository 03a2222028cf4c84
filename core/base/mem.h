/* Allocation that never fails: out of memory ends the process. Limits keep small what scripts, servers and
 * files make, so that it does not come to that. Owner: the caller frees with free(). May be called anywhere.
 */
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#define NEW(type)                       ((type *)xcalloc(1, sizeof(type)))
#define ARRAY_LEN(a)                    (sizeof(a) / sizeof((a)[0]))
/* Returns the struct that contains `member`, from a pointer to that member. */
#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *ptr, size_t size) __attribute__((returns_nonnull));
void *xreallocarray(void *ptr, size_t count, size_t size) __attribute__((returns_nonnull));
/* NULL gives NULL. */
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t len) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *format, ...) __attribute__((malloc, returns_nonnull, format(printf, 1, 2)));
char *xvasprintf(const char *format, va_list args)
    __attribute__((malloc, returns_nonnull, format(printf, 1, 0)));
/* Wipes and frees a secret string. NULL is allowed. */
void wipe(char *secret);
/* Has libc join small blocks when they are freed. It would put that off until the next large allocation,
 * which then takes 10 ms of the engine thread where a hundred thousand events were pending. Once, at the
 * start. */
void mem_avoid_stalls(void);
/* Notes that much memory was freed at once. The system does not get it by that: libc keeps it for later. */
void mem_note_freed(size_t bytes);
/* Returns memory to the system if much was freed, and nothing since the last call, so that memory about to be
 * used again stays. For one thread, about once a second: takes a millisecond for each 10 MiB or so. Returns
 * true if it did. */
bool mem_give_back(void);
