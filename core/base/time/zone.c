/* Time zones by name; see zone.h. */
#include "base/time/zone.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/time/tzif.h"

enum { NAME_MAX_LEN = 64 };

struct zone {
    unsigned refs;
    char *name;
    struct tzif tzif;
};

static struct zone *zone_new(struct str name)
{
    struct zone *zone = NEW(struct zone);
    zone->refs = 1;
    zone->name = xstrndup(name.n ? name.p : "", name.n);
    return zone;
}

struct zone *zone_ref(struct zone *zone)
{
    must(zone->refs > 0);
    zone->refs++;
    return zone;
}

void zone_unref(struct zone *zone)
{
    if (!zone) return;
    must(zone->refs > 0);
    if (--zone->refs > 0) return;
    tzif_clear(&zone->tzif);
    free(zone->name);
    free(zone);
}

const char *zone_name(const struct zone *zone)
{
    return zone->name;
}

struct zone_span zone_span(const struct zone *zone, int64_t at)
{
    return tzif_span(&zone->tzif, at);
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '+' || c == '-';
}

/* Letters and the like between single slashes: neither "../x" nor "/x" nor "a//b" is one. */
static bool is_name(struct str name)
{
    struct str part;
    if (name.n > NAME_MAX_LEN) return false;
    do {
        if (!str_cut(&name, '/', &part) || part.n == 0) return false;
        for (size_t i = 0; i < part.n; i++)
            if (!is_name_char(part.p[i])) return false;
    } while (name.p);
    return true;
}

static bool read_path(struct zone *zone, const char *path, struct err *err)
{
    struct buf bytes = {0};
    bool ok = file_read(path, TZIF_SIZE_MAX, &bytes, err);
    if (ok && !tzif_parse(buf_slice(&bytes), &zone->tzif, err)) ok = err_wrap(err, "%s", path);
    buf_clear(&bytes);
    return ok;
}

static const char *database(void)
{
    const char *dir = nonempty(getenv("TZDIR"));
    return dir ? dir : "/usr/share/zoneinfo";
}

static bool read_name(struct zone *zone, struct str name, struct err *err)
{
    if (str_is(name, "UTC")) return true; /* also where there is no database */
    char *path = xasprintf("%s/%.*s", database(), STR_ARG(name));
    bool ok = read_path(zone, path, err);
    if (!ok && err->code == ERR_NOT_FOUND)
        err_set(err, ERR_NOT_FOUND, "time zone \"%.*s\" not found in %s (install tzdata)", STR_ARG(name),
                database());
    free(path);
    return ok;
}

static struct zone *given_or_freed(struct zone *zone, bool ok)
{
    if (ok) return zone;
    zone_unref(zone);
    return NULL;
}

struct zone *zone_named(struct str name, struct err *err)
{
    if (!is_name(name)) {
        err_set(err, ERR_INVALID, "\"%.*s\" is not a time zone name such as \"Europe/Berlin\"",
                STR_ARG(name));
        return NULL;
    }
    struct zone *zone = zone_new(name);
    return given_or_freed(zone, read_name(zone, name, err));
}

/* ":Europe/Berlin", "/etc/zones/mine" or "CET-1CEST,M3.5.0,M10.5.0/3". */
static bool read_variable(struct zone *zone, struct str text, struct err *err)
{
    if (text.n && *text.p == ':') text = (struct str){text.p + 1, text.n - 1};
    if (text.n == 0) return true;
    if (*text.p == '/') {
        char *path = xstrndup(text.p, text.n);
        bool ok = read_path(zone, path, err);
        free(path);
        return ok;
    }
    if (is_name(text)) {
        if (read_name(zone, text, err)) return true;
        if (err->code != ERR_NOT_FOUND) return false;
    }
    zone->tzif.has_rule = tz_rule_parse(text, &zone->tzif.rule, err);
    return zone->tzif.has_rule || err_set(err, ERR_INVALID, "\"%.*s\" is not a time zone", STR_ARG(text));
}

struct zone *zone_local(struct err *err)
{
    struct zone *zone = zone_new((struct str){0});
    const char *variable = getenv("TZ");
    if (variable)
        return given_or_freed(zone, read_variable(zone, str_of(variable), err) || err_wrap(err, "TZ"));
    bool ok = read_path(zone, "/etc/localtime", err) || err->code == ERR_NOT_FOUND;
    return given_or_freed(zone, ok);
}
