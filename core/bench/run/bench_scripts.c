/* Scripts as files; see bench_scripts.h. */
#include "bench/run/bench_scripts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

static bool write_one(const char *folder, const struct embedded_module *script, struct err *err)
{
    char *path = xasprintf("%s/%s.lua", folder, script->name);
    FILE *file = fopen(path, "we");
    bool ok = file && fwrite(script->source, 1, script->len, file) == script->len;
    if (file && fclose(file) != 0) ok = false;
    if (!ok) err_set(err, ERR_IO, "cannot write %s: %s", path, strerror(errno));
    free(path);
    return ok;
}

char *bench_scripts_write(struct err *err)
{
    const char *parent = getenv("TMPDIR");
    char *folder = xasprintf("%s/kubelua-bench-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(folder)) {
        err_set(err, ERR_IO, "cannot make a folder like %s: %s", folder, strerror(errno));
        free(folder);
        return NULL;
    }
    for (const struct embedded_module *script = bench_scripts; script->name; script++) {
        if (write_one(folder, script, err)) continue;
        bench_scripts_remove(folder);
        return NULL;
    }
    return folder;
}

void bench_scripts_remove(char *folder)
{
    if (!folder) return;
    for (const struct embedded_module *script = bench_scripts; script->name; script++) {
        char *path = xasprintf("%s/%s.lua", folder, script->name);
        unlink(path);
        free(path);
    }
    rmdir(folder);
    free(folder);
}
