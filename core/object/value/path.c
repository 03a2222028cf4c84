/* Compiled paths; see path.h. */
#include "object/value/path.h"

#include <stdlib.h>

#include "base/mem.h"
#include "object/value/key_ref.h"

struct path_segment {
    enum path_step_kind kind;
    struct key_ref key;  /* of PATH_FIELD and PATH_MATCH */
    struct str expected; /* of PATH_MATCH */
    uint32_t index;
};

struct path {
    struct str text;
    size_t count;
    bool multi;
    char *bytes; /* the path, then the keys without their escapes */
    struct path_segment step[];
};

struct compiler {
    struct str text;
    size_t at;
    char *bytes; /* position of the next key */
    struct path *path;
    struct err *err;
};

static bool wrong(struct compiler *c, const char *what)
{
    return err_set(c->err, ERR_INVALID, "path \"%.*s\": %s at %zu", STR_ARG(c->text), what, c->at + 1);
}

static bool at_end(const struct compiler *c)
{
    return c->at == c->text.n;
}

static bool accept(struct compiler *c, const char *token)
{
    struct str rest = {c->text.p + c->at, c->text.n - c->at}, wanted = str_of(token);
    if (!str_starts(rest, wanted)) return false;
    c->at += wanted.n;
    return true;
}

static bool expect_token(struct compiler *c, const char *token, const char *otherwise)
{
    return accept(c, token) || wrong(c, otherwise);
}

static bool is_plain(char c)
{
    return (unsigned char)c > ' ' && c != 0x7f && !strchr(".[]'\"*?=\\", c);
}

bool path_name_is_plain(struct str name)
{
    for (size_t i = 0; i < name.n; i++) {
        if (!is_plain(name.p[i])) return false;
    }
    return name.n > 0;
}

static bool read_name(struct compiler *c, struct str *name)
{
    size_t start = c->at;
    while (!at_end(c) && is_plain(c->text.p[c->at])) c->at++;
    *name = (struct str){c->text.p + start, c->at - start};
    if (name->n > 0) return true;
    return wrong(c, at_end(c) || strchr(".[", c->text.p[c->at]) ? "empty name" : "unexpected character");
}

/* Behind the opening quote. */
static bool read_quoted(struct compiler *c, struct str *text)
{
    char *out = c->bytes;
    for (;; c->at++) {
        if (at_end(c)) return wrong(c, "missing '");
        char byte = c->text.p[c->at];
        if (byte == '\'') break;
        if (byte == '\\') {
            if (++c->at == c->text.n || !strchr("'\\", c->text.p[c->at]))
                return wrong(c, "\\ before neither ' nor \\");
            byte = c->text.p[c->at];
        }
        *out++ = byte;
    }
    c->at++;
    *text = (struct str){c->bytes, (size_t)(out - c->bytes)};
    c->bytes = out;
    return true;
}

static bool read_index(struct compiler *c, uint32_t *index)
{
    size_t start = c->at;
    while (!at_end(c) && c->text.p[c->at] >= '0' && c->text.p[c->at] <= '9') c->at++;
    uint64_t n;
    if (c->at == start) return wrong(c, "expected a number, '*', a quoted key or '?'");
    if (!str_to_u64((struct str){c->text.p + start, c->at - start}, &n) || n >= UINT32_MAX) {
        c->at = start;
        return wrong(c, "index too large");
    }
    *index = (uint32_t)n;
    return true;
}

/* Reads [?name=='text'], after the question mark. */
static bool read_match(struct compiler *c, struct path_segment *step)
{
    struct str name;
    step->kind = PATH_MATCH;
    if (!read_name(c, &name) || !expect_token(c, "=='", "expected =='text'")) return false;
    key_ref_init(&step->key, name);
    return read_quoted(c, &step->expected);
}

static bool read_bracket(struct compiler *c, struct path_segment *step)
{
    struct str name;
    if (accept(c, "'")) {
        if (!read_quoted(c, &name)) return false;
        step->kind = PATH_FIELD;
        key_ref_init(&step->key, name);
    } else if (accept(c, "*")) {
        step->kind = PATH_ALL;
    } else if (accept(c, "?")) {
        if (!read_match(c, step)) return false;
    } else {
        step->kind = PATH_INDEX;
        if (!read_index(c, &step->index)) return false;
    }
    return expect_token(c, "]", "missing ]");
}

static bool read_step(struct compiler *c)
{
    struct path_segment *step = &c->path->step[c->path->count];
    if (c->path->count == PATH_STEPS_MAX) {
        return err_set(c->err, ERR_LIMIT, "path \"%.*s\": more than %d steps", STR_ARG(c->text),
                       PATH_STEPS_MAX);
    }
    if (accept(c, "[")) {
        if (!read_bracket(c, step)) return false;
    } else {
        struct str name;
        if (c->path->count > 0 && !expect_token(c, ".", "expected . or [")) return false;
        if (!read_name(c, &name)) return false;
        step->kind = PATH_FIELD;
        key_ref_init(&step->key, name);
    }
    c->path->multi |= step->kind == PATH_ALL || step->kind == PATH_MATCH;
    c->path->count++;
    return true;
}

struct path *path_compile(struct str text, struct err *err)
{
    if (text.n == 0) {
        err_set(err, ERR_INVALID, "path \"\": empty");
        return NULL;
    }
    if (text.n > PATH_LENGTH_MAX) {
        err_set(err, ERR_LIMIT, "path of %zu bytes exceeds the maximum of %d", text.n, PATH_LENGTH_MAX);
        return NULL;
    }
    struct path *path = xcalloc(1, sizeof *path + PATH_STEPS_MAX * sizeof path->step[0]);
    path->bytes = xmalloc(2 * text.n);
    memcpy(path->bytes, text.p, text.n);
    path->text = (struct str){path->bytes, text.n};
    struct compiler c = {.text = path->text, .bytes = path->bytes + text.n, .path = path, .err = err};
    while (!at_end(&c)) {
        if (!read_step(&c)) {
            path_free(path);
            return NULL;
        }
    }
    return path;
}

void path_free(struct path *path)
{
    if (!path) return;
    free(path->bytes);
    free(path);
}

struct str path_text(const struct path *path)
{
    return path->text;
}

bool path_is_multi(const struct path *path)
{
    return path->multi;
}

size_t path_step_count(const struct path *path)
{
    return path->count;
}

struct path_step path_step_at(const struct path *path, size_t i)
{
    const struct path_segment *step = &path->step[i];
    return (struct path_step){step->kind, step->key.text, step->expected, step->index};
}

struct path_visit {
    const struct path *path;
    bool (*fn)(void *ctx, struct value v);
    void *ctx;
    size_t calls;
};

static bool visit_from(struct path_visit *visit, size_t step, struct value v);

/* Elements of an array or values of a map, as in kubectl's jsonpath. */
static struct value child(struct value v, size_t i)
{
    struct str key;
    struct text text;
    return value_type(v) == VALUE_MAP ? value_entry(v, i, &key, &text) : value_item(v, i);
}

static bool visit_children(struct path_visit *visit, size_t at, struct value v)
{
    struct path_segment *step = (struct path_segment *)&visit->path->step[at];
    for (size_t i = 0; i < value_count(v); i++) {
        struct value item = child(v, i);
        if (step->kind == PATH_MATCH && !value_str_is(key_ref_field(&step->key, item), step->expected))
            continue;
        if (!visit_from(visit, at + 1, item)) return false;
    }
    return true;
}

/* Returns the value behind a field or an index. Only the atomic cache of the key is written. */
static inline struct value behind(const struct path_segment *step, struct value v)
{
    if (step->kind == PATH_FIELD) return key_ref_field(&((struct path_segment *)step)->key, v);
    return value_item(v, step->index);
}

static bool visit_from(struct path_visit *visit, size_t at, struct value v)
{
    for (; at < visit->path->count; at++) {
        const struct path_segment *step = &visit->path->step[at];
        if (step->kind == PATH_ALL || step->kind == PATH_MATCH) return visit_children(visit, at, v);
        v = behind(step, v);
        if (value_type(v) == VALUE_ABSENT) return true;
    }
    if (value_type(v) == VALUE_ABSENT) return true;
    visit->calls++;
    return visit->fn(visit->ctx, v);
}

void path_prefetch(const struct path *path, size_t at, struct value from)
{
    for (size_t i = 0; i <= at && i < path->count; i++) {
        struct path_segment *step = (struct path_segment *)&path->step[i]; /* as visit_from */
        if (step->kind != PATH_FIELD) return;
        if (i == at)
            key_ref_prefetch(&step->key, from);
        else
            from = key_ref_field(&step->key, from);
    }
}

size_t path_each(const struct path *path, struct value from, bool (*fn)(void *ctx, struct value v), void *ctx)
{
    struct path_visit visit = {.path = path, .fn = fn, .ctx = ctx};
    visit_from(&visit, 0, from);
    return visit.calls;
}

static bool take_first(void *ctx, struct value v)
{
    *(struct value *)ctx = v;
    return false;
}

struct value path_get(const struct path *path, struct value from)
{
    struct value found = value_absent;
    if (path->multi) {
        path_each(path, from, take_first, &found);
        return found;
    }
    /* Most paths are of fields alone, and are read of each object of a query. */
    for (size_t i = 0; i < path->count; i++) from = behind(&path->step[i], from);
    return from;
}
