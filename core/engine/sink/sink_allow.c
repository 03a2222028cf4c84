/* Targets that the operator allows; see sink_allow.h. */
#include "engine/sink/sink_allow.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

/* Targets that an item allows: the scheme, and a path or a server. */
static bool read_item(const char *item, enum sink_scheme *scheme, struct str *rest)
{
    static const enum sink_scheme schemes[] = {SINK_FILE, SINK_NATS, SINK_NATS_TLS, SINK_KAFKA,
                                               SINK_KAFKA_TLS};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        const char *name = sink_scheme_name(schemes[i]);
        size_t n = strlen(name);
        if (strncmp(item, name, n) != 0 || strncmp(item + n, "://", 3) != 0) continue;
        *scheme = schemes[i];
        *rest = str_of(item + n + 3);
        return true;
    }
    return false;
}

bool sink_allow_check(const char *item, struct err *err)
{
    enum sink_scheme scheme;
    struct str rest;
    if (!read_item(item, &scheme, &rest))
        return err_set(err, ERR_INVALID,
                       "\"%s\" must begin with file://, nats://, tls://, kafka:// or kafka+ssl://", item);
    if (scheme == SINK_FILE ? rest.n > 1 && *rest.p == '/' && !strstr(rest.p, "/..")
                            : rest.n > 0 && !strpbrk(rest.p, "/@,"))
        return true;
    return scheme == SINK_FILE
               ? err_set(err, ERR_INVALID, "\"%s\" must be file:///dir/ or file:///dir/file", item)
               : err_set(err, ERR_INVALID, "\"%s\" must be %s://host:port", item, sink_scheme_name(scheme));
}

static bool allows_server(struct str rest, struct str server)
{
    if (str_is(rest, "*") || str_eq(rest, server)) return true;
    /* Without a port any is. */
    const char *colon = memchr(server.p, ':', server.n);
    return colon && !memchr(rest.p, ':', rest.n) &&
           str_eq(rest, (struct str){server.p, (size_t)(colon - server.p)});
}

/* Who may read what is sent may not read what is encrypted. */
static bool covers(enum sink_scheme of, enum sink_scheme scheme)
{
    return of == scheme || (of == SINK_NATS && scheme == SINK_NATS_TLS) ||
           (of == SINK_KAFKA && scheme == SINK_KAFKA_TLS);
}

static bool is_allowed(const char *const *items, size_t count, enum sink_scheme scheme, struct str what)
{
    for (size_t i = 0; i < count; i++) {
        enum sink_scheme of;
        struct str rest;
        if (!read_item(items[i], &of, &rest) || !covers(of, scheme)) continue;
        bool is_dir = scheme == SINK_FILE && rest.p[rest.n - 1] == '/';
        if (is_dir                ? str_starts(what, rest)
            : scheme == SINK_FILE ? str_eq(rest, what)
                                  : allows_server(rest, what))
            return true;
    }
    return false;
}

static bool refuse(const char *scheme, struct str what, const char *name, struct err *err)
{
    const char *more = strcmp(scheme, "file") == 0 ? ", and all of a folder that ends in a slash" : "";
    err_set(err, ERR_INVALID, "%s://%.*s is not allowed; %s allows targets%s", scheme, STR_ARG(what), name,
            more);
    snprintf(err->reason, sizeof err->reason, "Forbidden");
    return false;
}

bool sink_allows(const char *const *items, size_t count, const struct sink_target *target, const char *name,
                 struct err *err)
{
    const char *scheme = sink_scheme_name(target->scheme);
    struct str rest = target->servers, one;
    if (target->scheme == SINK_FILE)
        return is_allowed(items, count, SINK_FILE, target->path) || refuse(scheme, target->path, name, err);
    while (str_cut(&rest, ',', &one))
        if (!is_allowed(items, count, target->scheme, one)) return refuse(scheme, one, name, err);
    return true;
}
