/* Audit jobs as bytes; see audit_job.h. */
#include "app/audit/audit_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text/wire.h"
#include "engine/engine_settings.h"
#include "script/generation/script.h"
#include "script/params/params.h"
#include "script/vm/bundle.h"

enum { LIST_MAX = 10000, NICE_END = 20 };

/* --- the form */

/* Writes to `out`, or reads: a job has one description for both. */
struct job_form {
    struct buf *out; /* NULL: it reads */
    struct wire_reader in;
};

static void text(struct job_form *f, char **value)
{
    if (f->out) {
        wire_put_text(f->out, *value ? str_of(*value) : STR(""));
        return;
    }
    struct str read = wire_text(&f->in);
    if (str_has_nul(read)) f->in.bad = true;
    *value = xstrndup(read.p, read.n);
}

/* Returns the value, or what was read. */
static uint64_t number(struct job_form *f, uint64_t value)
{
    if (!f->out) return wire_number(&f->in);
    wire_put_number(f->out, value);
    return value;
}

static uint32_t number_below(struct job_form *f, size_t value, uint32_t limit)
{
    if (!f->out) return wire_number_below(&f->in, limit);
    wire_put_number(f->out, value);
    return (uint32_t)value;
}

static void list(struct job_form *f, char ***items, size_t *count)
{
    *count = number_below(f, *count, LIST_MAX);
    if (!f->out) *items = xcalloc(*count + 1, sizeof **items);
    for (size_t i = 0; i < *count && !f->in.bad; i++) text(f, &(*items)[i]);
}

static void param(struct job_form *f, struct params *params, size_t i)
{
    struct param_given given = f->out ? params_at(params, i) : (struct param_given){0};
    char *script = (char *)given.script, *rule = (char *)given.rule, *name = (char *)given.name,
         *value = (char *)given.value, *source = (char *)given.source;
    text(f, &script);
    text(f, &rule);
    text(f, &name);
    text(f, &value);
    given.is_json = number_below(f, given.is_json, 2);
    given.is_loose = number_below(f, given.is_loose, 2);
    given.order = (int)number_below(f, (size_t)given.order, PARAM_FROM_FLAGS + 1);
    text(f, &source);
    if (f->out) return;
    given.script = *script ? script : NULL;
    given.rule = *rule ? rule : NULL;
    given.name = name;
    given.value = value;
    given.source = source;
    if (!f->in.bad) params_put(params, &given);
    free(script);
    free(rule);
    free(name);
    free(value);
    free(source);
}

static void params(struct job_form *f, struct params **all)
{
    uint32_t count = number_below(f, params_count(*all), LIST_MAX);
    if (!f->out && count) *all = params_new();
    for (uint32_t i = 0; i < count && !f->in.bad; i++) param(f, *all, i);
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
        wire_put_text(&files, str_of(bundle_path(bundle, i)));
        wire_put_text(&files, text);
        found++;
    }
    wire_put_number(out, found);
    buf_str(out, buf_slice(&files));
    buf_clear(&files);
}

static struct bundle *take_files(struct job_form *f)
{
    struct bundle *bundle = bundle_new();
    uint32_t count = wire_number_below(&f->in, LIST_MAX);
    for (uint32_t i = 0; i < count && !f->in.bad; i++) {
        char *path = NULL;
        text(f, &path);
        struct str source = wire_text(&f->in);
        if (!f->in.bad) bundle_set_text(bundle, path, source);
        free(path);
    }
    return bundle;
}

static void scripts(struct job_form *f, struct audit_job *r)
{
    r->script_count = number_below(f, r->script_count, LIST_MAX);
    if (!f->out) r->scripts = xcalloc(r->script_count + 1, sizeof *r->scripts);
    for (size_t i = 0; i < r->script_count && !f->in.bad; i++) {
        struct audit_job_script *script = &r->scripts[i];
        text(f, &script->name);
        text(f, &script->path);
        if (f->out)
            put_files(f->out, script->bundle);
        else
            script->bundle = take_files(f);
    }
}

static void suppression(struct job_form *f, struct suppression_limits *limits)
{
    limits->forbidden = number_below(f, limits->forbidden, 2);
    limits->has_max_severity = number_below(f, limits->has_max_severity, 2);
    limits->max_severity = (enum severity)number_below(f, limits->max_severity, SEVERITIES);
    limits->max_days = (int)number_below(f, (size_t)limits->max_days, INT32_MAX);
}

static void job(struct job_form *f, struct audit_job *r)
{
    text(f, &r->namespace_);
    text(f, &r->selector);
    r->now_s = (int64_t)number(f, (uint64_t)r->now_s);
    r->timeout_s = (int64_t)number(f, (uint64_t)r->timeout_s);
    r->memory_bytes = (int64_t)number(f, (uint64_t)r->memory_bytes);
    r->nice = (int)number_below(f, (size_t)r->nice, NICE_END);
    r->passes = number_below(f, r->passes, 2);
    r->is_own = number_below(f, r->is_own, 2);
    suppression(f, &r->suppression);
    for (size_t i = 0; i < LIMIT_COUNT; i++)
        r->limits.values[i] = (int64_t)number(f, (uint64_t)r->limits.values[i]);
    params(f, &r->params);
    list(f, &r->trusted, &r->trusted_count);
    list(f, &r->lua_path, &r->lua_path_count);
    scripts(f, r);
}

int audit_job_write(const struct audit_job *order, struct err *err)
{
    struct buf bytes = {0};
    struct audit_job same = *order;
    wire_put_text(&bytes, STR(KUBELUA_VERSION));
    job(&(struct job_form){.out = &bytes}, &same);
    bool ok = bytes.len <= AUDIT_JOB_MAX || err_set(err, ERR_LIMIT, "the rules exceed 64 MiB of text");
    int fd = ok ? memfd_create("kubelua-audit", MFD_CLOEXEC) : -1;
    if (ok && fd < 0) ok = err_set(err, ERR_IO, "cannot create a memory file: %s", strerror(errno));
    if (ok && !file_write(fd, buf_slice(&bytes)))
        ok = err_set(err, ERR_IO, "cannot write to a memory file: %s", strerror(errno));
    buf_clear(&bytes);
    if (!ok && fd >= 0) close(fd);
    return ok ? fd : -1;
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

static bool take(struct str bytes, struct audit_job *r)
{
    struct job_form f = {.in.rest = bytes};
    if (!str_is(wire_text(&f.in), KUBELUA_VERSION)) return false;
    job(&f, r);
    return wire_at_end(&f.in);
}

bool audit_job_read(int fd, struct audit_job *order, struct err *err)
{
    struct buf bytes = {0};
    *order = (struct audit_job){0};
    bool ok = read_all(fd, &bytes, err);
    if (ok && !take(buf_slice(&bytes), order))
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
    params_free(r->params);
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
