/* Rules and how to ask them, as bytes; see audit_job.h. */
#include "app/audit/audit_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text/wire.h"
#include "engine/engine_settings.h"
#include "script/generation/script.h"
#include "script/rules/rule_params.h"
#include "script/vm/bundle.h"

enum { LIST_MAX = 10000 };

/* --- writing */

static void put_text(struct buf *out, const char *text)
{
    wire_put_text(out, str_of(text ? text : ""));
}

static void put_list(struct buf *out, char *const *items, size_t count)
{
    wire_put_number(out, count);
    for (size_t i = 0; i < count; i++) put_text(out, items[i]);
}

/* Omits files that were searched for and not found: the reader searches for them too. */
static void put_files(struct buf *out, struct bundle *bundle)
{
    size_t found = 0;
    struct buf files = {0};
    for (size_t i = 0; i < bundle_count(bundle); i++) {
        struct str text;
        struct err err;
        if (!bundle_text(bundle, bundle_path(bundle, i), &text, &err)) continue;
        put_text(&files, bundle_path(bundle, i));
        wire_put_text(&files, text);
        found++;
    }
    wire_put_number(out, found);
    buf_str(out, buf_slice(&files));
    buf_clear(&files);
}

static void put_params(struct buf *out, const struct rule_params *params)
{
    wire_put_number(out, rule_params_count(params));
    for (size_t i = 0; i < rule_params_count(params); i++) {
        struct rule_param_given given = rule_params_at(params, i);
        put_text(out, given.rule);
        put_text(out, given.name);
        put_text(out, given.value);
        wire_put_number(out, given.is_json);
        put_text(out, given.source);
    }
}

static void put(const struct audit_job *r, struct buf *out)
{
    put_text(out, KUBELUA_VERSION);
    put_text(out, r->namespace_);
    put_text(out, r->selector);
    wire_put_number(out, (uint64_t)r->now_s);
    wire_put_number(out, (uint64_t)r->timeout_s);
    wire_put_number(out, (uint64_t)r->memory_bytes);
    wire_put_number(out, (uint64_t)r->nice);
    wire_put_number(out, r->passes);
    wire_put_number(out, r->is_own);
    for (size_t i = 0; i < LIMIT_COUNT; i++) wire_put_number(out, (uint64_t)r->limits.values[i]);
    put_params(out, r->params);
    put_list(out, r->trusted, r->trusted_count);
    put_list(out, r->lua_path, r->lua_path_count);
    wire_put_number(out, r->script_count);
    for (size_t i = 0; i < r->script_count; i++) {
        put_text(out, r->scripts[i].name);
        put_text(out, r->scripts[i].path);
        put_files(out, r->scripts[i].bundle);
    }
}

static bool write_all(int fd, struct str bytes, struct err *err)
{
    while (bytes.n > 0) {
        ssize_t n = write(fd, bytes.p, bytes.n);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return err_set(err, ERR_IO, "cannot write to a memory file: %s", strerror(errno));
        bytes = (struct str){bytes.p + n, bytes.n - (size_t)n};
    }
    return true;
}

int audit_job_write(const struct audit_job *order, struct err *err)
{
    struct buf bytes = {0};
    put(order, &bytes);
    bool ok = bytes.len <= AUDIT_JOB_MAX || err_set(err, ERR_LIMIT, "the rules exceed 64 MiB of text");
    int fd = ok ? memfd_create("kubelua-audit", MFD_CLOEXEC) : -1;
    if (ok && fd < 0) ok = err_set(err, ERR_IO, "cannot create a memory file: %s", strerror(errno));
    ok = ok && write_all(fd, buf_slice(&bytes), err);
    buf_clear(&bytes);
    if (!ok && fd >= 0) close(fd);
    return ok ? fd : -1;
}

/* --- reading */

static char *take_text(struct wire_reader *reader)
{
    struct str text = wire_text(reader);
    if (str_has_nul(text)) reader->bad = true;
    return xstrndup(text.p, text.n);
}

static void take_list(struct wire_reader *reader, char ***items, size_t *count)
{
    uint32_t all = wire_number_below(reader, LIST_MAX);
    *items = xcalloc(all + 1, sizeof **items);
    for (*count = 0; *count < all && !reader->bad; ++*count) (*items)[*count] = take_text(reader);
}

static void take_param(struct wire_reader *reader, struct rule_params *params)
{
    char *rule = take_text(reader);
    char *name = take_text(reader);
    char *value = take_text(reader);
    bool is_json = wire_number_below(reader, 2);
    char *source = take_text(reader);
    const struct rule_param_given given = {*rule ? rule : NULL, name, value, is_json, source};
    if (!reader->bad) rule_params_put(params, &given);
    free(rule);
    free(name);
    free(value);
    free(source);
}

static struct rule_params *take_params(struct wire_reader *reader)
{
    uint32_t count = wire_number_below(reader, LIST_MAX);
    struct rule_params *params = count ? rule_params_new() : NULL;
    for (uint32_t i = 0; i < count && !reader->bad; i++) take_param(reader, params);
    return params;
}

static struct bundle *take_files(struct wire_reader *reader)
{
    struct bundle *bundle = bundle_new();
    uint32_t count = wire_number_below(reader, LIST_MAX);
    for (uint32_t i = 0; i < count && !reader->bad; i++) {
        char *path = take_text(reader);
        struct str text = wire_text(reader);
        if (!reader->bad) bundle_set_text(bundle, path, text);
        free(path);
    }
    return bundle;
}

static void take_scripts(struct wire_reader *reader, struct audit_job *r)
{
    uint32_t count = wire_number_below(reader, LIST_MAX);
    r->scripts = xcalloc(count + 1, sizeof *r->scripts);
    for (uint32_t i = 0; i < count && !reader->bad; i++) {
        struct audit_job_script *script = &r->scripts[r->script_count++];
        script->name = take_text(reader);
        script->path = take_text(reader);
        script->bundle = take_files(reader);
    }
}

static bool take(struct wire_reader *reader, struct audit_job *r)
{
    if (!str_is(wire_text(reader), KUBELUA_VERSION)) return false;
    r->namespace_ = take_text(reader);
    r->selector = take_text(reader);
    r->now_s = (int64_t)wire_number(reader);
    r->timeout_s = (int64_t)wire_number(reader);
    r->memory_bytes = (int64_t)wire_number(reader);
    r->nice = (int)wire_number_below(reader, 20);
    r->passes = wire_number_below(reader, 2);
    r->is_own = wire_number_below(reader, 2);
    for (size_t i = 0; i < LIMIT_COUNT; i++) r->limits.values[i] = (int64_t)wire_number(reader);
    r->params = take_params(reader);
    take_list(reader, &r->trusted, &r->trusted_count);
    take_list(reader, &r->lua_path, &r->lua_path_count);
    take_scripts(reader, r);
    return wire_at_end(reader);
}

static bool read_all(int fd, struct buf *out, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > AUDIT_JOB_MAX)
        return err_set(err, ERR_IO, "not a regular file of at most 64 MiB");
    size_t size = (size_t)st.st_size;
    ssize_t n = 1;
    buf_reserve(out, size);
    while (out->len < size && n > 0) {
        n = pread(fd, out->data + out->len, size - out->len, (off_t)out->len);
        if (n > 0) out->len += (size_t)n;
    }
    return n > 0 || err_set(err, ERR_IO, "cannot read it: %s", strerror(errno));
}

bool audit_job_read(int fd, struct audit_job *order, struct err *err)
{
    struct buf bytes = {0};
    *order = (struct audit_job){0};
    bool ok = read_all(fd, &bytes, err);
    struct wire_reader reader = {.rest = buf_slice(&bytes)};
    if (ok && !take(&reader, order))
        ok = err_set(err, ERR_PARSE, "kubelua audit and the engine (%s) have different versions",
                     KUBELUA_VERSION);
    buf_clear(&bytes);
    return ok;
}

/* --- what it points at */

static void free_list(char **items, size_t count)
{
    for (size_t i = 0; i < count; i++) free(items[i]);
    free(items);
}

void audit_job_clear(struct audit_job *r)
{
    free(r->namespace_);
    free(r->selector);
    free_list(r->trusted, r->trusted_count);
    free_list(r->lua_path, r->lua_path_count);
    for (size_t i = 0; i < r->script_count; i++) {
        free(r->scripts[i].name);
        free(r->scripts[i].path);
        bundle_unref(r->scripts[i].bundle);
    }
    free(r->scripts);
    rule_params_free(r->params);
    *r = (struct audit_job){0};
}

void audit_job_give(const struct audit_job *r, struct engine_settings *settings)
{
    settings->limits = &r->limits;
    if (r->params) settings->params = r->params;
    settings->trusted = (const char *const *)r->trusted;
    settings->trusted_count = r->trusted_count;
    settings->lua_path = (const char *const *)r->lua_path;
    settings->lua_path_count = r->lua_path_count;
}
