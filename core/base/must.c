/* Assertions that stay in release builds; see must.h. */
#include "base/must.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

void must_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "kubelua: %s:%d: broken invariant: %s\n", file, line, condition);
    abort();
}

/* --- Last deeds of a process */

static struct {
    pthread_mutex_t lock;
    void (*deeds[4])(void);
    size_t count;
} ending = {.lock = PTHREAD_MUTEX_INITIALIZER};

void ending_add(void (*fn)(void))
{
    pthread_mutex_lock(&ending.lock);
    must(ending.count < ARRAY_LEN(ending.deeds));
    ending.deeds[ending.count++] = fn;
    pthread_mutex_unlock(&ending.lock);
}

/* Calls the functions. The lock is kept, so that another failing thread waits for the end of the process. */
void ending_run(void)
{
    pthread_mutex_lock(&ending.lock);
    for (size_t i = 0; i < ending.count; i++) ending.deeds[i]();
}
