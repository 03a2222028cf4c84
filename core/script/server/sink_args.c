/* Arguments of k8s.sink; see sink_args.h. */
#include "script/server/sink_args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"

enum { HEADERS_MAX = 32, HEAD_BYTES = 8 << 10, TEXT_MAX = 256 << 10 };
enum { NAME = 1, TO, SPOOL, BATCH, TIMEOUT, TEXTS, HEADERS = TEXTS + SINK_TEXTS };

static size_t size_arg(lua_State *L)
{
    if (lua_isnoneornil(L, SPOOL)) return SINK_SPOOL;
    struct err err;
    lua_Number bytes = luaL_checknumber(L, SPOOL);
    if (!sink_spool_may_be(bytes, &err)) script_raise(L, "k8s.sink: %s", err.text);
    return (size_t)bytes;
}

static size_t batch_arg(lua_State *L)
{
    if (lua_isnoneornil(L, BATCH)) return SINK_BATCH;
    struct err err;
    lua_Number count = luaL_checknumber(L, BATCH);
    if (!sink_batch_may_be(count, &err)) script_raise(L, "k8s.sink: %s", err.text);
    return (size_t)count;
}

static int64_t timeout_arg(lua_State *L)
{
    int64_t ms =
        lua_isnoneornil(L, TIMEOUT) ? SINK_TIMEOUT_MS : arg_duration_ms(L, TIMEOUT, "k8s.sink: timeout");
    if (ms < 1) script_raise(L, "k8s.sink: timeout must be greater than 0");
    return ms;
}

/* NULL: none; an empty one is none, as settings have it by default. */
static const char *text_arg(lua_State *L, int first, enum sink_text text)
{
    char what[40];
    snprintf(what, sizeof what, "k8s.sink: %s", sink_text_name(text));
    struct str given = arg_str_opt(L, first + (int)text, what);
    if (given.n > TEXT_MAX) script_raise(L, "%s must have at most %d KiB", what, TEXT_MAX >> 10);
    return given.n > 0 ? given.p : NULL;
}

static bool is_given_later(lua_State *L, enum sink_text text)
{
    return lua_isboolean(L, TEXTS + (int)text);
}

static bool has_text(lua_State *L, enum sink_text text)
{
    return is_given_later(L, text) || text_arg(L, TEXTS, text);
}

/* Made by lua/k8s. */
static void check_headers(lua_State *L)
{
    size_t bytes = 0;
    for (int i = HEADERS; i < lua_gettop(L); i += 2) {
        struct str name = arg_str(L, i, "k8s.sink: the name of a header");
        struct str value = arg_str(L, i + 1, "k8s.sink: the value of a header");
        bool good = name.n > 0 && strspn(name.p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                 "0123456789-_") == name.n;
        if (!good || strcasecmp(name.p, "content-type") == 0 || strcasecmp(name.p, "content-length") == 0 ||
            strcasecmp(name.p, "host") == 0)
            script_raise(L, "k8s.sink: the header \"%.40s\" cannot be set", name.p);
        if (strcasecmp(name.p, "authorization") == 0 && (has_text(L, SINK_TOKEN) || has_text(L, SINK_USER)))
            script_raise(L, "k8s.sink: the header Authorization and a login are mutually exclusive");
        if (strpbrk(value.p, "\r\n"))
            script_raise(L, "k8s.sink: the value of header %s contains a line break", name.p);
        bytes += name.n + value.n;
        if ((i - HEADERS) / 2 == HEADERS_MAX || bytes > HEAD_BYTES)
            script_raise(L, "k8s.sink: more than %d headers or %d KiB of headers", HEADERS_MAX,
                         HEAD_BYTES >> 10);
    }
}

void sink_args_texts(lua_State *L, int first, const char *name, const char *to, const char *texts[SINK_TEXTS])
{
    struct sink_target target;
    struct err err;
    for (int i = 0; i < SINK_TEXTS; i++) texts[i] = text_arg(L, first, (enum sink_text)i);
    if (!sink_target_read(to, &target, &err) || !sink_texts_check(&target, texts, &err))
        script_raise(L, "k8s.sink: %s: %s", name, err.text);
}

static void check_target(lua_State *L, const char *name)
{
    struct sink_target target;
    struct err err;
    const char *texts[SINK_TEXTS];
    if (!sink_target_read(arg_str(L, TO, "k8s.sink: to").p, &target, &err))
        script_raise(L, "k8s.sink: %s: to: %s", name, err.text);
    if (!sink_scheme_is_http(target.scheme) && lua_gettop(L) >= HEADERS)
        script_raise(L, "k8s.sink: %s: headers are for http:// and https:// only", name);
    for (int i = 0; i < SINK_TEXTS; i++)
        texts[i] = is_given_later(L, (enum sink_text)i) ? "later" : text_arg(L, TEXTS, (enum sink_text)i);
    if (!sink_texts_check(&target, texts, &err)) script_raise(L, "k8s.sink: %s: %s", name, err.text);
}

const char *sink_args_check(lua_State *L)
{
    const char *name = check_id(L, arg_str(L, NAME, "k8s.sink: name"), "k8s.sink", "name", SINK_NAME_MAX);
    size_arg(L);
    batch_arg(L);
    timeout_arg(L);
    check_headers(L);
    check_target(L, name);
    return name;
}

static char *copy(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

struct sink_config sink_args_read(lua_State *L)
{
    size_t count = lua_gettop(L) >= HEADERS ? (size_t)(lua_gettop(L) - HEADERS + 1) : 0;
    const char **headers = xcalloc(count + 1, sizeof *headers);
    for (size_t i = 0; i < count; i++) headers[i] = copy(arg_str(L, HEADERS + (int)i, "k8s.sink: headers").p);
    struct sink_config config = {.script = script_of(L)->id.name,
                                 .name = copy(arg_str(L, NAME, "k8s.sink: name").p),
                                 .to = copy(arg_str(L, TO, "k8s.sink: to").p),
                                 .headers = headers,
                                 .header_count = count / 2,
                                 .spool_bytes = size_arg(L),
                                 .batch = batch_arg(L),
                                 .timeout_ms = timeout_arg(L)};
    for (int i = 0; i < SINK_TEXTS; i++)
        if (!is_given_later(L, (enum sink_text)i))
            config.access[i] = copy(text_arg(L, TEXTS, (enum sink_text)i));
    return config;
}

void sink_config_clear(struct sink_config *config)
{
    for (size_t i = 0; i < 2 * config->header_count; i++) wipe((char *)config->headers[i]);
    for (int i = 0; i < SINK_TEXTS; i++) wipe((char *)config->access[i]);
    free((void *)config->headers);
    free((char *)config->name);
    free((char *)config->to);
}
