/* Rights that are needed, and which of them are missing; see check_rights.h. */
#include "app/check/check_rights.h"

#include <stdlib.h>
#include <string.h>

#include "app/check/script_rights.h"
#include "base/array.h"
#include "base/mem.h"

struct needed_right {
    size_t script;
    char *file;
    int line;
    char *ns, *group, *resource, *name;
    char *why; /* "k8s.event", where the resource is not what the script named; NULL */
    unsigned verbs;
    bool namespaced;
};

/* --- what is needed */

struct scan {
    struct needed_rights *needed;
    size_t number;
    const char *file;
};

static void add_right(void *ctx, const struct script_right *right)
{
    const struct scan *scan = ctx;
    struct needed_rights *needed = scan->needed;
    bool is_implied = strncmp(right->what, "k8s.", 4) == 0;
    bool is_declared = strchr(right->what, ':') != NULL;
    char *text = is_implied ? xstrdup(right->what + 3) : xasprintf("\"%s\"", right->what);
    struct place at = find_place(right->place, scan->file, is_implied || is_declared ? text : NULL);
    *array_add(needed->items, needed->count) = (struct needed_right){
        .script = scan->number,
        .file = xstrdup(at.file),
        .line = at.line,
        .ns = xstrdup(right->ns),
        .group = xstrdup(right->group),
        .resource = xstrdup(right->resource),
        .name = xstrdup(right->name),
        .why = is_implied ? xstrdup(right->what) : NULL,
        .verbs = right->verbs,
        .namespaced = right->namespaced,
    };
    free(text);
}

void needed_rights_add(struct needed_rights *needed, size_t number, const struct script *script,
                       const char *file, const struct catalogue *catalogue)
{
    struct scan scan = {needed, number, file};
    script_each_right(script, catalogue, &(struct script_rights_visitor){.right = add_right, .ctx = &scan});
}

void needed_rights_clear(struct needed_rights *needed)
{
    for (size_t i = 0; i < needed->count; i++) {
        free(needed->items[i].file);
        free(needed->items[i].ns);
        free(needed->items[i].group);
        free(needed->items[i].resource);
        free(needed->items[i].name);
        free(needed->items[i].why);
    }
    free(needed->items);
    *needed = (struct needed_rights){0};
}

/* --- asking */

struct questions {
    struct access_check *items;
    size_t count;
};

/* Returns the name to check, "" for create: the server may make the name. */
static const char *name_for(const struct needed_right *right, const char *verb)
{
    return strcmp(verb, "create") == 0 ? "" : right->name;
}

static struct access_check *find(const struct questions *questions, const struct needed_right *right,
                                 const char *verb)
{
    for (size_t i = 0; i < questions->count; i++) {
        struct access_check *q = &questions->items[i];
        if (strcmp(q->verb, verb) == 0 && strcmp(q->resource, right->resource) == 0 &&
            strcmp(q->ns, right->ns) == 0 && strcmp(q->group, right->group) == 0 &&
            strcmp(q->name, name_for(right, verb)) == 0)
            return q;
    }
    return NULL;
}

/* Each once, however many scripts have it. */
static void gather(const struct needed_rights *needed, struct questions *questions)
{
    questions->items = xcalloc(needed->count * RBAC_VERBS + 1, sizeof *questions->items);
    for (size_t i = 0; i < needed->count; i++) {
        const struct needed_right *right = &needed->items[i];
        for (unsigned v = 0; v < RBAC_VERBS; v++) {
            if (!(right->verbs & 1u << v) || find(questions, right, rbac_verb_names[v])) continue;
            questions->items[questions->count++] =
                (struct access_check){.ns = right->ns,
                                      .group = right->group,
                                      .resource = right->resource,
                                      .name = name_for(right, rbac_verb_names[v]),
                                      .verb = rbac_verb_names[v]};
        }
    }
}

/* "pods/status", "deployments.apps", "every kind". */
static void put_resource(const struct needed_right *right, struct buf *out)
{
    struct str subresource = str_of(right->resource), resource;
    str_cut(&subresource, '/', &resource);
    if (str_is(resource, "*"))
        buf_puts(out, "every kind");
    else
        buf_printf(out, "%.*s%s%s", STR_ARG(resource), *right->group ? "." : "", right->group);
    if (subresource.n) buf_printf(out, "/%.*s", STR_ARG(subresource));
}

static void print_missing(const struct needed_right *right, unsigned missing, struct findings *findings)
{
    struct buf text = {0};
    unsigned left = missing;
    for (unsigned v = 0; v < RBAC_VERBS; v++) {
        if (!(missing & 1u << v)) continue;
        left &= ~(1u << v);
        buf_printf(&text, "%s%s", text.len == 0 ? "" : left ? ", " : " and ", rbac_verb_names[v]);
    }
    buf_putc(&text, ' ');
    put_resource(right, &text);
    if (right->namespaced && *right->ns)
        buf_printf(&text, " in namespace %s", right->ns);
    else if (right->namespaced)
        buf_puts(&text, " in all namespaces");
    if (right->why) buf_printf(&text, ", for %s", right->why);
    findings->script = right->script;
    diagnostics_add(findings, right->file, right->line, false, "missing permission: %s", buf_text(&text));
    buf_clear(&text);
}

bool needed_rights_check(const struct needed_rights *needed, access_check_fn *ask, void *ctx,
                         struct findings *findings, struct err *err)
{
    struct questions questions = {0};
    gather(needed, &questions);
    bool ok = !questions.count || ask(ctx, questions.items, questions.count, err);
    for (size_t i = 0; ok && i < needed->count; i++) {
        const struct needed_right *right = &needed->items[i];
        unsigned missing = 0;
        for (unsigned v = 0; v < RBAC_VERBS; v++)
            if ((right->verbs & 1u << v) && !find(&questions, right, rbac_verb_names[v])->allowed)
                missing |= 1u << v;
        if (missing) print_missing(right, missing, findings);
    }
    free(questions.items);
    return ok;
}
