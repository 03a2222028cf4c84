/* Server-side apply of any bodies, by two managers in turn: refused with an error that names the field, or
 * done, with owners that can be read; and the same once more changes nothing. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/support/bodies.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_owners(const struct fuzz_reply *reply)
{
    json_t *entries = sim_at(reply->body, "metadata.managedFields"), *entry;
    size_t i;
    json_array_foreach (entries, i, entry) {
        const char *operation = sim_text_at(entry, "operation");
        bool known = strcmp(operation, "Apply") == 0 || strcmp(operation, "Update") == 0;
        fuzz_check(known && *sim_text_at(entry, "manager") &&
                       json_is_object(json_object_get(entry, "fieldsV1")),
                   reply);
    }
}

static bool has_null(const json_t *body)
{
    char *text = json_dumps(body, JSON_COMPACT);
    bool found = text && strstr(text, ":null");
    free(text);
    return found;
}

static void apply(const char *path, const json_t *body, size_t turn)
{
    const char *query = turn % 4 == 0   ? "fieldManager=a"
                        : turn % 4 == 1 ? "fieldManager=b"
                        : turn % 4 == 2 ? "fieldManager=a&force=true"
                                        : "fieldManager=b&force=true";
    struct fuzz_reply first = fuzz_send("PATCH", path, query, body);
    if (first.code < 300) {
        /* The first one after one that owns nothing names the owner of before. */
        struct fuzz_reply second = fuzz_send("PATCH", path, query, body),
                          third = fuzz_send("PATCH", path, query, body);
        check_owners(&second);
        /* An element whose key is null, or has no value, has another key once it is stored; of Kubernetes'
         * own kinds the rules refuse that, where there are rules. */
        bool steady = json_equal(second.body, third.body) || has_null(body) || !fuzz_is_custom(body);
        fuzz_check(steady, &third);
        fuzz_reply_clear(&second);
        fuzz_reply_clear(&third);
    }
    fuzz_reply_clear(&first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *list = fuzz_begin(data, size), *body;
    size_t i;
    json_array_foreach (list, i, body) {
        char *path = fuzz_path(list, body, false), *collection = fuzz_path(list, body, true);
        struct fuzz_reply created = {0};
        if (path && i == 0) created = fuzz_send("POST", collection, "fieldManager=c", body);
        if (path) apply(path, body, i);
        fuzz_reply_clear(&created);
        free(collection);
        free(path);
    }
    fuzz_end(list);
    return 0;
}
