/* Reads files one after another, up to the first error; see manifest_objects.h. */
#include "audit/input/manifest_objects.h"

struct manifest_reading {
    const struct manifest_sink *sink;
    struct err err; /* first error */
};

static void on_refused(void *ctx, const struct err *err)
{
    struct manifest_reading *r = ctx;
    if (r->err.code == ERR_NONE) r->err = *err;
}

static bool on_parsed(void *ctx, const struct audit_input_parsed *object)
{
    struct manifest_reading *r = ctx;
    struct err err;
    if (r->err.code != ERR_NONE) return false;
    if (r->sink->object(r->sink->ctx, object, &err)) return true;
    err_wrap(&err, "%.*s:%zu", STR_ARG(object->file), object->line);
    on_refused(r, &err);
    return false;
}

bool manifest_objects(const char *const *paths, size_t count, const struct manifest_sink *sink,
                      const char *none_is_wrong, struct err *err)
{
    struct manifest_reading r = {.sink = sink};
    const struct audit_input_sink input_sink = {.parsed = on_parsed, .refused = on_refused, .ctx = &r};
    const struct audit_input_options options = {.sink = &input_sink, .max_name = "the most for one object"};
    for (size_t i = 0; i < count; i++) {
        struct audit_input_counts counts = {0};
        if (!audit_input_read(&options, paths[i], &counts, err)) return false;
        if (r.err.code != ERR_NONE) {
            *err = r.err;
            return false;
        }
        if (none_is_wrong && !counts.documents)
            return err_set(err, ERR_INVALID, "%s: %s", paths[i], none_is_wrong);
    }
    return true;
}
