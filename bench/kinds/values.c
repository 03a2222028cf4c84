/* Kinds that users fill: ConfigMaps, Secrets, custom resources; and what all kinds share; see writers.h. */
#include "writers.h"

#include <string.h>

enum {
    LARGE_BYTES = 860000,
    KEYS = 10000,
    RANDOM_KEYS = 40,
    NUMBERS = 200,
    LEVELS = 40,
    SECRET_BYTES = 100000,
    ESCAPED_LINES = 60,
};

uint64_t kind_random(uint64_t seed, uint64_t number)
{
    uint64_t x = seed * 0x9e3779b97f4a7c15u + number * 0xbf58476d1ce4e5b9u + 1;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

uint64_t kind_version(size_t i, size_t state)
{
    return KIND_VERSION + state * 100000 + i;
}

void write_metadata(struct buf *out, const char *name, size_t i, size_t state)
{
    buf_printf(out,
               "\"metadata\":{\"name\":\"%s-%04zu\",\"namespace\":\"team-%03zu\","
               "\"uid\":\"d888b835-1d93-43dc-984d-%012zu\",\"resourceVersion\":\"%llu\","
               "\"creationTimestamp\":\"2026-01-02T03:04:05Z\"}",
               name, i, i % 7, i, (unsigned long long)kind_version(i, state));
}

void write_manager(struct buf *out, bool first, const char *manager, const char *subresource, size_t state,
                   const char *fields)
{
    buf_printf(out,
               "%s{\"manager\":\"%s\",\"operation\":\"Update\",\"apiVersion\":\"v1\","
               "\"time\":\"2026-01-03T04:%02zu:07Z\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{%s}",
               first ? "" : ",", manager, state * 7 % 60, fields);
    if (subresource) buf_printf(out, ",\"subresource\":\"%s\"", subresource);
    buf_putc(out, '}');
}

/* One text, a dashboard for instance, beside a short one that changes. */
void write_large(struct buf *out, size_t i, size_t state)
{
    write_metadata(out, "dashboard", i, state);
    buf_puts(out, ",\"data\":{\"dashboard.json\":\"");
    size_t end = out->len + LARGE_BYTES;
    for (size_t k = 0; out->len < end; k++)
        buf_printf(out,
                   "    panel %zu of %zu: rate of requests by instance and code, refreshed every 30 s\\n"
                   "      expr = sum by (instance, code) (rate(requests_total_%016llx[5m]))\\n",
                   k, i, (unsigned long long)kind_random(i, k));
    buf_printf(out, "\",\"revision\":\"revision %zu\"}}", state);
}

/* One of its values is another in each state. */
void write_keys(struct buf *out, size_t i, size_t state)
{
    write_metadata(out, "settings", i, state);
    buf_puts(out, ",\"data\":{");
    for (size_t k = 0; k < KEYS; k++)
        buf_printf(out, "%s\"setting-%zu-%05zu\":\"value %zu of %05zu\"", k ? "," : "", i, k,
                   k == KEYS / 2 ? state : 0, k * 7919 % 100003);
    buf_puts(out, "}}");
}

/* As many labels as annotations; one of the annotations changes. */
void write_labels(struct buf *out, size_t i, size_t state)
{
    buf_printf(out,
               "\"metadata\":{\"name\":\"labelled-%04zu\",\"namespace\":\"team-%03zu\","
               "\"uid\":\"d888b835-1d93-43dc-984d-%012zu\",\"resourceVersion\":\"%llu\","
               "\"creationTimestamp\":\"2026-01-02T03:04:05Z\",\"labels\":{",
               i, i % 7, i, (unsigned long long)kind_version(i, state));
    for (size_t k = 0; k < KEYS; k++)
        buf_printf(out, "%s\"example.com/label-%05zu\":\"of-%zu-%05zu\"", k ? "," : "", k, i,
                   k * 7919 % 100003);
    buf_puts(out, "},\"annotations\":{");
    for (size_t k = 0; k < KEYS; k++)
        buf_printf(out, "%s\"a.io/%zu-%05zu\":\"%zu %05zu\"", k ? "," : "", i, k, k == KEYS / 2 ? state : 0,
                   k * 104729 % 100003);
    buf_puts(out, "}}}");
}

/* metadata of a custom resource, whose fields are in alphabetical order. */
static void custom_metadata(struct buf *out, const char *name, size_t i, size_t state)
{
    buf_printf(
        out,
        "\"metadata\":{\"creationTimestamp\":\"2026-01-02T03:04:05Z\",\"generation\":%zu,"
        "\"labels\":{\"app\":\"%s\"},\"managedFields\":[{\"apiVersion\":\"example.com/v1\",\"fieldsType\":"
        "\"FieldsV1\",\"fieldsV1\":{\"f:spec\":{},\"f:status\":{\"f:phase\":{},\"f:observed\":{}}},"
        "\"manager\":\"operator\",\"operation\":\"Update\",\"time\":\"2026-01-03T04:%02zu:07Z\"}],"
        "\"name\":\"%s-%05zu\",\"namespace\":\"team-%03zu\",\"resourceVersion\":\"%llu\","
        "\"uid\":\"d888b835-1d93-43dc-984d-%012zu\"}",
        state + 1, name, state * 7 % 60, name, i, i % 97, (unsigned long long)kind_version(i, state), i);
}

/* Keys that no other object has, in alphabetical order; one value changes. */
void write_random_keys(struct buf *out, size_t i, size_t state)
{
    custom_metadata(out, "random", i, state);
    buf_puts(out, ",\"spec\":{\"members\":{");
    for (size_t k = 0; k < RANDOM_KEYS; k++)
        buf_printf(out, "%s\"%02zx%010llx\":{\"address\":\"10.%zu.%zu.%zu:7000\",\"weight\":%zu}",
                   k ? "," : "", k * 6, (unsigned long long)kind_random(i, k) >> 24, i % 200, k,
                   i / 200 % 250, k == RANDOM_KEYS / 2 ? state : k);
    buf_printf(out, "}},\"status\":{\"observed\":%zu,\"phase\":\"Ready\"}}", state + 1);
}

/* Numbers of all sizes; the last ones change. */
void write_numbers(struct buf *out, size_t i, size_t state)
{
    custom_metadata(out, "numbers", i, state);
    buf_puts(out, ",\"spec\":{\"samples\":[");
    for (size_t k = 0; k < NUMBERS; k++) {
        uint64_t random = kind_random(i, k + (k >= NUMBERS - 4 ? state * NUMBERS : 0));
        if (k % 3 == 0)
            buf_printf(out, "%s%llu.%06llu", k ? "," : "", (unsigned long long)random % 1000,
                       (unsigned long long)(random >> 20) % 900000 + 100000);
        else
            buf_printf(out, "%s%llu", k ? "," : "",
                       (unsigned long long)random % (k % 3 == 1 ? 1000 : 100000000000));
    }
    buf_printf(out, "]},\"status\":{\"observed\":%zu,\"phase\":\"Ready\"}}", state + 1);
}

/* Maps and lists in one another; the innermost value changes. */
void write_deep(struct buf *out, size_t i, size_t state)
{
    custom_metadata(out, "deep", i, state);
    buf_puts(out, ",\"spec\":{\"tree\":");
    for (size_t k = 0; k < LEVELS; k++)
        buf_printf(out, "{\"kind\":\"Branch\",\"name\":\"level-%zu-of-%zu\",\"nested\":[", k, i % 1000);
    buf_printf(out, "{\"leaf\":%zu}", state);
    for (size_t k = 0; k < LEVELS; k++) buf_puts(out, "]}");
    buf_printf(out, "},\"status\":{\"observed\":%zu,\"phase\":\"Ready\"}}", state + 1);
}

/* HTML as Go writes it. */
void write_escapes(struct buf *out, size_t i, size_t state)
{
    write_metadata(out, "page", i, state);
    buf_puts(out, ",\"data\":{\"index.html\":\"");
    for (size_t k = 0; k < ESCAPED_LINES; k++)
        buf_printf(out,
                   "\\u003ca href=\\\"/%zu/%zu?a=1\\u0026b=%08llx\\\"\\u003eCaf\\u00e9 \\u2013 number "
                   "%zu\\u003c/a\\u003e\\n",
                   i, k, (unsigned long long)kind_random(i, k) >> 32, k);
    buf_printf(out, "\",\"revision\":\"%zu \\u0026 more\"}}", state);
}

/* A release of helm for instance; a label changes. */
void write_secret(struct buf *out, size_t i, size_t state)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    buf_printf(out,
               "\"metadata\":{\"name\":\"sh.helm.release.v1.web-%04zu.v1\",\"namespace\":\"team-%03zu\","
               "\"uid\":\"d888b835-1d93-43dc-984d-%012zu\",\"resourceVersion\":\"%llu\","
               "\"creationTimestamp\":\"2026-01-02T03:04:05Z\",\"labels\":{\"modifiedAt\":\"17000000%02zu\","
               "\"name\":\"web-%04zu\",\"owner\":\"helm\",\"status\":\"deployed\",\"version\":\"1\"}},"
               "\"data\":{\"release\":\"",
               i, i % 97, i, (unsigned long long)kind_version(i, state), state, i);
    char *to = buf_reserve(out, SECRET_BYTES);
    for (size_t k = 0; k < SECRET_BYTES; k += 10) {
        uint64_t random = kind_random(i, k);
        for (size_t d = 0; d < 10; d++, random >>= 6) to[k + d] = digits[random & 63];
    }
    out->len += SECRET_BYTES;
    buf_puts(out, "\"},\"type\":\"helm.sh/release.v1\"}");
}
