/* Targets of sinks; see sink_target.h. */
#include "script/server/sink_target.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "script/server/sink.h"

enum { TARGET_MAX = 2048, TOPIC_MAX = 249 };

static const char *const names[] = {
    [SINK_FILE] = "file",    [SINK_HTTP] = "http",   [SINK_HTTPS] = "https",         [SINK_NATS] = "nats",
    [SINK_NATS_TLS] = "tls", [SINK_KAFKA] = "kafka", [SINK_KAFKA_TLS] = "kafka+ssl",
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
    const char *what = sink_scheme_is_nats(target->scheme) ? "subject" : "topic";
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

/* --- texts beside the target */

/* Targets that have a use for a text. */
enum { OF_NATS = 1, OF_KAFKA = 2, OF_HTTP = 4, OF_TLS = 8 };

static const struct {
    const char *name;
    int of;
    enum sink_text needs; /* itself: none */
} texts_of[SINK_TEXTS] = {
    [SINK_USER] = {"user", OF_NATS | OF_KAFKA | OF_HTTP, SINK_PASSWORD},
    [SINK_PASSWORD] = {"password", OF_NATS | OF_KAFKA | OF_HTTP, SINK_USER},
    [SINK_TOKEN] = {"token", OF_NATS | OF_HTTP, SINK_TOKEN},
    [SINK_CREDENTIALS] = {"credentials", OF_NATS, SINK_CREDENTIALS},
    [SINK_MECHANISM] = {"mechanism", OF_KAFKA, SINK_USER},
    [SINK_CA] = {"ca", OF_TLS, SINK_CA},
    [SINK_CERT] = {"cert", OF_TLS, SINK_CERT_KEY},
    [SINK_CERT_KEY] = {"cert_key", OF_TLS, SINK_CERT},
};

const char *sink_text_name(enum sink_text text)
{
    return texts_of[text].name;
}

static bool has_use(enum sink_scheme scheme, int of)
{
    if (scheme == SINK_FILE) return false;
    if (of == OF_TLS) return sink_scheme_is_tls(scheme) || scheme == SINK_HTTPS;
    if (sink_scheme_is_http(scheme)) return of & OF_HTTP;
    return of & (sink_scheme_is_nats(scheme) ? OF_NATS : OF_KAFKA);
}

static bool refuse_text(const char *name, int of, struct err *err)
{
    const char *where = of == OF_NATS               ? "nats:// and tls://"
                        : of == OF_KAFKA            ? "kafka:// and kafka+ssl://"
                        : of == OF_TLS              ? "https://, tls:// and kafka+ssl://"
                        : of == (OF_NATS | OF_HTTP) ? "http://, https://, nats:// and tls://"
                                                    : "http://, https://, nats:// and kafka://";
    return err_set(err, ERR_INVALID, "%s is for %s only", name, where);
}

/* In a header of a request. */
static bool check_login(const char *const texts[SINK_TEXTS], struct err *err)
{
    for (int i = SINK_USER; i <= SINK_TOKEN; i++)
        for (const char *p = texts[i]; p && *p; p++)
            if ((unsigned char)*p < ' ' || *p == 0x7f)
                return err_set(err, ERR_INVALID, "%s contains a control character", texts_of[i].name);
    return !texts[SINK_USER] || !strchr(texts[SINK_USER], ':') ||
           err_set(err, ERR_INVALID, "user must not contain a colon");
}

static bool check_mechanism(const char *mechanism, struct err *err)
{
    static const char *const known[] = {"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"};
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strcmp(mechanism, known[i]) == 0) return true;
    return err_set(err, ERR_INVALID,
                   "mechanism cannot be \"%.20s\", but PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512", mechanism);
}

bool sink_texts_check(const struct sink_target *target, const char *const texts[SINK_TEXTS], struct err *err)
{
    int logins = 0;
    for (int i = 0; i < SINK_TEXTS; i++) {
        enum sink_text needs = texts_of[i].needs;
        if (!texts[i]) continue;
        if (!has_use(target->scheme, texts_of[i].of))
            return refuse_text(texts_of[i].name, texts_of[i].of, err);
        if (!texts[needs])
            return err_set(err, ERR_INVALID, "%s needs %s", texts_of[i].name, texts_of[needs].name);
        logins += i == SINK_USER || i == SINK_TOKEN || i == SINK_CREDENTIALS;
    }
    if (logins > 1) return err_set(err, ERR_INVALID, "user, token and credentials are mutually exclusive");
    if (sink_scheme_is_http(target->scheme) && !check_login(texts, err)) return false;
    return !texts[SINK_MECHANISM] || check_mechanism(texts[SINK_MECHANISM], err);
}

bool sink_spool_may_be(double bytes, struct err *err)
{
    return (bytes >= SINK_SPOOL_MIN && bytes <= (double)SINK_SPOOL_MAX) ||
           err_set(err, ERR_INVALID, "spool must be between 8Mi and 64Gi");
}

bool sink_batch_may_be(double count, struct err *err)
{
    return (count >= 1 && count <= SINK_BATCH_MAX && count == (double)(int)count) ||
           err_set(err, ERR_INVALID, "batch must be an integer from 1 to %d", SINK_BATCH_MAX);
}

/* --- all of it */

bool sink_target_read(const char *to, struct sink_target *target, struct err *err)
{
    struct str rest;
    *target = (struct sink_target){0};
    if (!is_printable(to)) return err_set(err, ERR_INVALID, "contains a blank or a control character");
    if (strlen(to) > TARGET_MAX)
        return err_set(err, ERR_INVALID, "must have at most %d characters", TARGET_MAX);
    if (!read_scheme(to, target, &rest))
        return err_set(
            err, ERR_INVALID,
            "must begin with file://, http://, https://, nats://, tls://, kafka:// or kafka+ssl://");
    const char *slash = memchr(rest.p, '/', rest.n);
    target->servers = (struct str){rest.p, slash ? (size_t)(slash - rest.p) : rest.n};
    if (target->scheme == SINK_FILE) {
        target->path = slash ? str_of(slash) : (struct str){0};
        return check_file(target, err);
    }
    target->path = slash ? str_of(slash + 1) : (struct str){"", 0};
    return check_servers(target, err);
}
