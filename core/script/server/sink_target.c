/* Targets of sinks; see sink_target.h. */
#include "script/server/sink_target.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"

enum { TARGET_MAX = 2048, TOPIC_MAX = 249 };

static const char *const names[] = {
    [SINK_FILE] = "file", [SINK_HTTP] = "http",   [SINK_HTTPS] = "https",
    [SINK_NATS] = "nats", [SINK_KAFKA] = "kafka",
};

const char *sink_scheme_name(enum sink_scheme scheme)
{
    return names[scheme];
}

static bool is_printable(const char *to)
{
    for (; *to; to++)
        if ((unsigned char)*to <= ' ' || *to == 0x7f) return false;
    return true;
}

static bool read_scheme(const char *to, struct sink_target *target, struct str *rest)
{
    for (int i = 0; i < SINK_SCHEMES; i++) {
        size_t n = strlen(names[i]);
        if (strncmp(to, names[i], n) != 0 || strncmp(to + n, "://", 3) != 0) continue;
        target->scheme = (enum sink_scheme)i;
        *rest = str_of(to + n + 3);
        return true;
    }
    return false;
}

static bool check_file(const struct sink_target *target, struct err *err)
{
    struct str path = target->path;
    if (target->servers.n > 0 || path.n < 2 || path.p[path.n - 1] == '/')
        return err_set(err, ERR_INVALID, "a file must be file:///path/of/the/file");
    for (size_t i = 0; i + 2 < path.n; i++)
        if (path.p[i] == '/' && path.p[i + 1] == '.' && (path.p[i + 2] == '.' || path.p[i + 2] == '/'))
            return err_set(err, ERR_INVALID, "the path of a file must not have \".\" or \"..\"");
    return true;
}

/* Subjects of NATS have dots and no wildcards; topics of Kafka are likewise. */
static bool check_stream(const struct sink_target *target, struct err *err)
{
    struct str path = target->path;
    const char *what = target->scheme == SINK_NATS ? "subject" : "topic";
    if (path.n == 0)
        return err_set(err, ERR_INVALID, "the %s is missing: %s://%.*s/%s", what,
                       sink_scheme_name(target->scheme), STR_ARG(target->servers), what);
    bool good = path.n <= TOPIC_MAX && path.p[0] != '.' && path.p[path.n - 1] != '.';
    for (size_t i = 0; good && i < path.n; i++)
        good = isalnum((unsigned char)path.p[i]) || strchr("._-", path.p[i]);
    return good || err_set(err, ERR_INVALID, "the %s must have at most %d letters, digits and any of . _ -",
                           what, TOPIC_MAX);
}

static bool check_servers(const struct sink_target *target, struct err *err)
{
    struct str rest = target->servers, one;
    /* Nor is a part of it shown, which may be a password. */
    if (memchr(rest.p, '@', rest.n))
        return err_set(err, ERR_INVALID,
                       "credentials do not belong into the URL; use user and password, token or headers");
    if (rest.n == 0) return err_set(err, ERR_INVALID, "the server is missing");
    while (str_cut(&rest, ',', &one))
        if (one.n == 0) return err_set(err, ERR_INVALID, "the name of a server is empty");
    if (!sink_scheme_is_http(target->scheme)) return check_stream(target, err);
    return !memchr(target->servers.p, ',', target->servers.n) ||
           err_set(err, ERR_INVALID, "a URL has one server");
}

bool sink_target_read(const char *to, struct sink_target *target, struct err *err)
{
    struct str rest;
    *target = (struct sink_target){0};
    if (!is_printable(to)) return err_set(err, ERR_INVALID, "contains a blank or a control character");
    if (strlen(to) > TARGET_MAX)
        return err_set(err, ERR_INVALID, "must have at most %d characters", TARGET_MAX);
    if (!read_scheme(to, target, &rest))
        return err_set(err, ERR_INVALID, "must begin with file://, http://, https://, nats:// or kafka://");
    const char *slash = memchr(rest.p, '/', rest.n);
    target->servers = (struct str){rest.p, slash ? (size_t)(slash - rest.p) : rest.n};
    if (target->scheme == SINK_FILE) {
        target->path = slash ? str_of(slash) : (struct str){0};
        return check_file(target, err);
    }
    target->path = slash ? str_of(slash + 1) : (struct str){"", 0};
    return check_servers(target, err);
}
