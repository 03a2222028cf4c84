/* Opens libraries at first use; see late.h. */
#include "net/late/late.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

enum { EXIT_OF_LOADER = 127 };

void *late_find(const char *library, const char *name)
{
    /* RTLD_LAZY binds its functions as the loader would have. It is opened once, whoever comes first. */
    void *opened = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    void *function = opened ? dlsym(opened, name) : NULL;
    if (function) return function;
    fprintf(stderr, "kubelua: error while loading shared libraries: %s\n", dlerror());
    _exit(EXIT_OF_LOADER);
}
