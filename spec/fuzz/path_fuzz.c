/* Any path: refused with an error, or compiled; then it may be asked of any value. */
#include <stdint.h>
#include <string.h>

#include "base/must.h"
#include "object/pack/pack.h"
#include "object/value/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct root *some_object(void)
{
    static char text[512 + TAPE_PADDING] = "{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":"
                                           "\"x\",\"labels\":{\"a.b/c\":\"d\",\"it's\":\"e\"}},"
                                           "\"a\":[{\"b\":\"c\",\"d\":[1,2,{\"e\":null}]},{\"b\":\"f\"},[],[["
                                           "\"g\"]]],\"k:{h}\":{\"b\":1.5},\"b\":\"2026-11-01T10:00:00Z\"}";
    static struct packer *packer; /* lives as long as the process */
    struct root *root;
    struct err err;
    packer = packer_new(pool_new(NULL));
    must(pack_text(packer, text, strlen(text), NULL, &root, &err));
    return root;
}

struct visit {
    struct value first;
    size_t calls;
};

static bool on_match(void *ctx, struct value v)
{
    struct visit *visit = ctx;
    must(value_type(v) != VALUE_ABSENT);
    if (visit->calls++ == 0) visit->first = v;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct root *root;
    if (!root) root = some_object();
    struct err err = {0};
    struct str text = {(const char *)data, size};
    struct path *path = path_compile(text, &err);
    if (!path) {
        must(err.code != ERR_NONE && err.text[0]);
        return 0;
    }
    struct visit visit = {.first = value_absent};
    size_t calls = path_each(path, root_value(root), on_match, &visit);
    must(calls == visit.calls && (calls <= 1 || path_is_multi(path)));
    must(value_equal(path_get(path, root_value(root)), visit.first));
    must(str_eq(path_text(path), text));
    path_free(path);
    return 0;
}
