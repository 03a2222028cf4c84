/* Bodies of any kind, of Kubernetes or of CustomResourceDefinitions with any schemas: refused with an error
 * that names the field, or stored; an object of a definition does not change when it is written again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/support/bodies.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_again(const char *path, const struct fuzz_reply *created)
{
    struct fuzz_reply stored = fuzz_send("GET", path, "", NULL), again = {0};
    if (stored.code == 200) {
        again = fuzz_send("PUT", path, "fieldValidation=Strict", created->body);
        if (fuzz_is_custom(created->body)) fuzz_check(json_equal(created->body, again.body), &again);
    }
    fuzz_reply_clear(&stored);
    fuzz_reply_clear(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *list = fuzz_begin(data, size), *body;
    size_t i;
    json_array_foreach (list, i, body) {
        char *collection = fuzz_path(list, body, true);
        if (!collection) continue;
        struct fuzz_reply strict = fuzz_send("POST", collection, "dryRun=All&fieldValidation=Strict", body),
                          created = fuzz_send("POST", collection, "fieldValidation=Ignore", body);
        /* A dry run does not refuse a version, which is a failure in the store. */
        fuzz_check(strict.code >= 400 || created.code == strict.code || created.code == 500, &created);
        char *path = created.code == 201 ? fuzz_path(list, created.body, false) : NULL;
        if (path) write_again(path, &created);
        fuzz_reply_clear(&strict);
        fuzz_reply_clear(&created);
        free(collection);
        free(path);
    }
    fuzz_end(list);
    return 0;
}
