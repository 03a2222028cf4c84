/* Paths of k8s.raw by their segments; see read_path.h. */
#include "script/server/read_path.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"

enum { PATH_BYTES_MAX = 1024, SEGMENTS_MAX = 32 };

struct segments {
    struct str items[SEGMENTS_MAX];
    size_t count;
};

static bool is_any(struct str segment)
{
    return str_is(segment, "*");
}

static bool is_refused(struct str segment)
{
    static const char *const names[] = {"proxy", "exec", "attach", "portforward"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(segment, names[i])) return true;
    return false;
}

/* Escapes could hide a slash or one of the names above, so there are none. */
static bool has_plain_characters(struct str segment)
{
    for (size_t i = 0; i < segment.n; i++)
        if (!isalnum((unsigned char)segment.p[i]) && !strchr("-._~:@!$&'()+,;=", segment.p[i])) return false;
    return segment.n > 0;
}

static bool split(struct str path, bool is_pattern, struct segments *out, struct err *err)
{
    struct str rest = path, segment;
    out->count = 0;
    if (path.n > PATH_BYTES_MAX) return err_set(err, ERR_INVALID, "a path exceeds %d bytes", PATH_BYTES_MAX);
    if (!path.n || path.p[0] != '/')
        return err_set(err, ERR_INVALID, "\"%.*s\": a path begins with /", STR_ARG(path));
    rest.p++;
    rest.n--;
    while (str_cut(&rest, '/', &segment)) {
        if (out->count == SEGMENTS_MAX)
            return err_set(err, ERR_INVALID, "\"%.*s\" has more than %d segments", STR_ARG(path),
                           SEGMENTS_MAX);
        if (str_is(segment, ".") || str_is(segment, ".."))
            return err_set(err, ERR_INVALID, "\"%.*s\": a segment must not be %.*s", STR_ARG(path),
                           STR_ARG(segment));
        if (!has_plain_characters(segment) && !(is_pattern && is_any(segment)))
            return err_set(err, ERR_INVALID, "\"%.*s\": \"%.*s\" cannot be a segment of a path%s",
                           STR_ARG(path), STR_ARG(segment),
                           memchr(path.p, '?', path.n) ? "; use the option query" : "");
        out->items[out->count++] = segment;
    }
    return out->count > 0 || err_set(err, ERR_INVALID, "\"%.*s\" has no segments", STR_ARG(path));
}

/* Returns where the resource stands, as the API server reads a path: behind /api/VERSION or
 * /apis/GROUP/VERSION, and behind a namespace. The number of segments: of no resource. */
static size_t resource_at(const struct segments *path)
{
    size_t at = str_is(path->items[0], "api") ? 2 : str_is(path->items[0], "apis") ? 3 : path->count;
    if (at >= path->count) return path->count;
    bool is_within = str_is(path->items[at], "namespaces") && at + 2 < path->count &&
                     !str_is(path->items[at + 2], "status") && !str_is(path->items[at + 2], "finalize");
    return is_within ? at + 2 : at;
}

static bool check_segments(const struct segments *path, struct str text, struct err *err)
{
    size_t at = resource_at(path), version_end = str_is(path->items[0], "api") ? 2 : 3;
    bool is_resource = at < path->count;
    if (is_resource && str_is(path->items[version_end], "watch"))
        return err_set(err, ERR_INVALID, "\"%.*s\" is a watch; use k8s.watch", STR_ARG(text));
    if (is_resource && is_refused(path->items[version_end])) at = version_end;
    for (size_t i = is_resource ? at : 0; i < path->count; i++) {
        bool is_name = is_resource && i == at + 1;
        if (is_refused(path->items[i]) && !is_name)
            return err_set(err, ERR_INVALID, "\"%.*s\": %.*s is refused", STR_ARG(text),
                           STR_ARG(path->items[i]));
        if (is_resource && i > at + 1 && is_any(path->items[i]))
            return err_set(err, ERR_INVALID, "\"%.*s\": a subresource must be named", STR_ARG(text));
    }
    return true;
}

bool read_path_check(struct str path, struct err *err)
{
    struct segments segments;
    return split(path, false, &segments, err) && check_segments(&segments, path, err);
}

bool read_paths_add(struct read_paths *paths, struct str pattern, struct err *err)
{
    struct segments segments;
    if (!split(pattern, true, &segments, err) || !check_segments(&segments, pattern, err)) return false;
    for (size_t i = 0; i < paths->count; i++)
        if (str_is(pattern, paths->items[i])) return true;
    *array_add(paths->items, paths->count) = xstrndup(pattern.p, pattern.n);
    return true;
}

static bool matches(struct str pattern, struct str path)
{
    struct str wanted, segment;
    for (;;) {
        bool more = str_cut(&pattern, '/', &wanted);
        if (more != str_cut(&path, '/', &segment)) return false;
        if (!more) return true;
        if (!is_any(wanted) && !str_eq(wanted, segment)) return false;
    }
}

bool read_paths_allow(const struct read_paths *paths, struct str path)
{
    for (size_t i = 0; i < paths->count; i++)
        if (matches(str_of(paths->items[i]), path)) return true;
    return false;
}

void read_paths_clear(struct read_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++) free(paths->items[i]);
    free(paths->items);
    *paths = (struct read_paths){0};
}
