/* Reads and writes that a script makes and does not declare; see check.h. Which calls are made is known when
 * they are made, so the text is searched for the functions' names. */
#include <ctype.h>
#include <string.h>

#include "app/check/check.h"
#include "base/mem.h"
#include "script/server/declared.h"
#include "script/vm/bundle.h"

struct function {
    const char *name; /* k8s.NAME */
    unsigned verb;    /* that it needs */
    const char *verb_name, *declared_by;
};

static const struct function reading[] = {
    {"get", READ_GET, "get", "k8s.reads"},
    {"list", READ_LIST, "list", "k8s.reads"},
    {"pages", READ_LIST, "list", "k8s.reads"},
    {"watch", READ_WATCH, "watch", "k8s.reads"},
};

static const struct function writing[] = {
    {"create", WRITE_CREATE, "create", "k8s.writes"}, {"update", WRITE_UPDATE, "update", "k8s.writes"},
    {"patch", WRITE_PATCH, "patch", "k8s.writes"},    {"apply", WRITE_APPLY, "apply", "k8s.writes"},
    {"delete", WRITE_DELETE, "delete", "k8s.writes"},
};

static unsigned verbs_of(const struct declarations *declared)
{
    unsigned verbs = 0;
    for (size_t i = 0; i < declared->count; i++) verbs |= declared->items[i].verbs;
    return verbs;
}

/* In the script's own file a call is there to be reached. What a module has may be for other scripts, and
 * what is only named may be called in a way that minds an error. */
static void check_function(const struct script *script, const struct function *function, unsigned declared,
                           struct findings *findings)
{
    struct bundle *bundle = script_bundle(script);
    if (declared & function->verb) return;
    for (size_t i = 0; i < bundle_count(bundle); i++) {
        struct str text;
        struct err err;
        if (!bundle_text(bundle, bundle_path(bundle, i), &text, &err)) continue;
        struct call_found found = find_call(text, function->name);
        if (!found.line) continue;
        bool is_sure = i == 0 && found.is_call;
        diagnostics_add(findings, bundle_path(bundle, i), found.line, !is_sure,
                        "k8s.%s will fail: it is not declared for any kind; add %s { \"KIND:%s\" }",
                        function->name, function->declared_by, function->verb_name);
        return;
    }
}

void check_declared(const struct script *script, struct findings *findings)
{
    unsigned reads = verbs_of(script_declared_reads(script)),
             writes = verbs_of(script_declared_writes(script));
    for (size_t i = 0; i < ARRAY_LEN(reading); i++) check_function(script, &reading[i], reads, findings);
    for (size_t i = 0; i < ARRAY_LEN(writing); i++) check_function(script, &writing[i], writes, findings);
}

/* --- Lua's tokens, as far as calls need them */

struct tokens {
    const char *p, *end;
    int line;
};

/* First character of a token; some stand for all tokens of their sort. */
enum { NONE = 0, NAME = 'n', TEXT = '"', DOTS = 'd' };

static char at(const struct tokens *t, int offset)
{
    return t->end - t->p > offset ? t->p[offset] : '\0';
}

static void step(struct tokens *t)
{
    if (*t->p++ == '\n') t->line++;
}

/* The number of `=` of "[==["; -1 when none begins here. */
static int long_level(const struct tokens *t)
{
    int level = 0;
    if (at(t, 0) != '[') return -1;
    while (at(t, 1 + level) == '=') level++;
    return at(t, 1 + level) == '[' ? level : -1;
}

static bool ends_long(const struct tokens *t, int level)
{
    for (int i = 1; i <= level; i++)
        if (at(t, i) != '=') return false;
    return at(t, 0) == ']' && at(t, 1 + level) == ']';
}

static void skip_long(struct tokens *t, int level)
{
    t->p += level + 2;
    while (t->p < t->end && !ends_long(t, level)) step(t);
    for (int i = 0; i < level + 2 && t->p < t->end; i++) t->p++;
}

static void skip_text(struct tokens *t)
{
    char quote = *t->p++;
    while (t->p < t->end && *t->p != quote) {
        if (*t->p == '\\' && t->p + 1 < t->end) step(t);
        step(t);
    }
    if (t->p < t->end) t->p++;
}

static void skip_comment(struct tokens *t)
{
    t->p += 2;
    int level = long_level(t);
    if (level >= 0) {
        skip_long(t, level);
        return;
    }
    while (t->p < t->end && *t->p != '\n') t->p++;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static void skip_blanks(struct tokens *t)
{
    while (t->p < t->end) {
        if (at(t, 0) == '-' && at(t, 1) == '-')
            skip_comment(t);
        else if (isspace((unsigned char)*t->p))
            step(t);
        else
            return;
    }
}

/* The sort of the next token; a NAME's text is `*text`. NONE at the end. */
static int next(struct tokens *t, struct str *text)
{
    skip_blanks(t);
    if (t->p == t->end) return NONE;
    const char *start = t->p;
    int level = long_level(t);
    *text = (struct str){0};
    if (level >= 0) {
        skip_long(t, level);
        return TEXT;
    }
    if (*start == '"' || *start == '\'') {
        skip_text(t);
        return TEXT;
    }
    if (!is_word(*start)) {
        while (*start == '.' && at(t, 1) == '.') t->p++;
        t->p++;
        return t->p - start > 1 ? DOTS : (unsigned char)*start;
    }
    while (t->p < t->end && is_word(*t->p)) t->p++;
    *text = (struct str){start, (size_t)(t->p - start)};
    return NAME;
}

struct call_found find_call(struct str source, const char *name)
{
    struct tokens t = {source.p, source.p + source.n, 1};
    struct call_found found = {0};
    struct str text;
    int before = '\0', line = 0;
    bool defines = false; /* "function k8s.get()" */
    enum { BEGIN, MODULE, DOT, FUNCTION } state = BEGIN;
    if (at(&t, 0) == '#') /* #!/usr/bin/env kubelua */
        while (t.p < t.end && *t.p != '\n') t.p++;
    for (int sort = next(&t, &text); sort != NONE; before = sort, sort = next(&t, &text)) {
        if (state == FUNCTION && !defines && (sort == '(' || sort == '{' || sort == TEXT))
            return (struct call_found){line, true};
        if (sort == NAME && before != '.' && before != ':' && str_is(text, "k8s")) {
            state = MODULE;
        } else if (state == MODULE && sort == '.') {
            state = DOT;
        } else if (state == DOT && sort == NAME && str_is(text, name)) {
            state = FUNCTION;
            line = t.line;
            if (!found.line && !defines) found.line = line;
        } else {
            state = BEGIN;
            defines = sort == NAME && str_is(text, "function");
        }
    }
    return found;
}
