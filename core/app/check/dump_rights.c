/* RBAC over a dump; see dump_rights.h. The roles and bindings are kept as they are, and walked for each
 * question. */
#include "app/check/dump_rights.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/parse/document.h"

struct document {
    char *kind;
    struct buf text;
    struct tape_parser *parser;
    struct tape tape;
};

struct dump_rights {
    struct document *items;
    size_t count;
    bool has_binding;
};

static struct str text_at(const struct tape *tape, size_t at, const char *key)
{
    return tape_str(tape, at ? tape_field(tape, at, str_of(key)) : 0);
}

static struct str metadata(const struct document *document, const char *key)
{
    return text_at(&document->tape, tape_field(&document->tape, tape_root(&document->tape), STR("metadata")),
                   key);
}

/* --- gathered */

struct dump_rights *dump_rights_new(void)
{
    return NEW(struct dump_rights);
}

void dump_rights_free(struct dump_rights *rights)
{
    if (!rights) return;
    for (size_t i = 0; i < rights->count; i++) {
        free(rights->items[i].kind);
        buf_clear(&rights->items[i].text);
        tape_parser_free(rights->items[i].parser);
    }
    free(rights->items);
    free(rights);
}

void dump_rights_add(struct dump_rights *rights, const struct tape *tape, size_t at, struct str kind)
{
    struct err err;
    bool is_binding = str_is(kind, "RoleBinding") || str_is(kind, "ClusterRoleBinding");
    if (!is_binding && !str_is(kind, "Role") && !str_is(kind, "ClusterRole")) return;
    rights->items = xrealloc(rights->items, (rights->count + 1) * sizeof *rights->items);
    struct document *document = &rights->items[rights->count];
    *document = (struct document){.kind = xstrndup(kind.p, kind.n), .parser = tape_parser_new()};
    document_compact(tape, at, &document->text);
    memset(buf_reserve(&document->text, TAPE_PADDING), 0, TAPE_PADDING);
    tape_parse(document->parser, document->text.data, document->text.len, &document->tape, &err);
    rights->has_binding |= is_binding;
    rights->count++;
}

bool dump_rights_empty(const struct dump_rights *rights)
{
    return !rights->has_binding;
}

/* --- who */

static bool in_group(const struct dump_user *user, struct str group)
{
    static const char accounts[] = "system:serviceaccount:";
    struct str name = str_of(user->name);
    for (size_t i = 0; i < user->group_count; i++)
        if (str_is(group, user->groups[i])) return true;
    if (str_is(group, "system:authenticated")) return true;
    if (!str_starts(name, STR("system:serviceaccount:"))) return false;
    if (str_is(group, "system:serviceaccounts")) return true;
    struct str rest = {name.p + sizeof accounts - 1, name.n - (sizeof accounts - 1)}, ns;
    str_cut(&rest, ':', &ns);
    return str_starts(group, STR("system:serviceaccounts:")) && str_ends(group, ns) &&
           group.n == strlen("system:serviceaccounts:") + ns.n;
}

/* `own` is the namespace of the binding, which subjects may leave out. */
static bool is_subject(const struct tape *tape, size_t at, struct str own, const struct dump_user *user)
{
    struct str kind = text_at(tape, at, "kind"), name = text_at(tape, at, "name"),
               ns = text_at(tape, at, "namespace");
    if (str_is(kind, "User")) return str_is(name, user->name);
    if (str_is(kind, "Group")) return in_group(user, name);
    if (!str_is(kind, "ServiceAccount")) return false;
    if (!ns.n) ns = own;
    char *full = xasprintf("system:serviceaccount:%.*s:%.*s", STR_ARG(ns), STR_ARG(name));
    bool same = strcmp(full, user->name) == 0;
    free(full);
    return same;
}

static bool binds(const struct document *binding, const struct dump_user *user)
{
    const struct tape *tape = &binding->tape;
    size_t subjects = tape_field(tape, tape_root(tape), STR("subjects"));
    for (size_t v = subjects ? tape_first(tape, subjects, NULL) : 0; v;
         v = tape_next(tape, subjects, v, NULL))
        if (is_subject(tape, v, metadata(binding, "namespace"), user)) return true;
    return false;
}

/* --- what */

static bool lists(const struct tape *tape, size_t rule, const char *key, const char *wanted)
{
    size_t list = tape_field(tape, rule, str_of(key));
    for (size_t v = list ? tape_first(tape, list, NULL) : 0; v; v = tape_next(tape, list, v, NULL))
        if (str_is(tape_str(tape, v), "*") || str_is(tape_str(tape, v), wanted)) return true;
    return false;
}

/* "pods/status" is met by that and by a rule for "x/status" where x is "*", too. */
static bool lists_resource(const struct tape *tape, size_t rule, const char *resource)
{
    const char *slash = strchr(resource, '/');
    if (lists(tape, rule, "resources", resource)) return true;
    if (!slash) return false;
    char *any = xasprintf("*%s", slash);
    bool found = lists(tape, rule, "resources", any);
    free(any);
    return found;
}

/* A rule for names alone gives no right to all. */
static bool lists_name(const struct tape *tape, size_t rule, const char *name)
{
    size_t names = tape_field(tape, rule, STR("resourceNames"));
    if (!names || !tape_first(tape, names, NULL)) return true;
    for (size_t v = tape_first(tape, names, NULL); v && *name; v = tape_next(tape, names, v, NULL))
        if (str_is(tape_str(tape, v), name)) return true;
    return false;
}

static bool allows(const struct document *role, const struct access_check *question)
{
    const struct tape *tape = &role->tape;
    size_t rules = tape_field(tape, tape_root(tape), STR("rules"));
    for (size_t v = rules ? tape_first(tape, rules, NULL) : 0; v; v = tape_next(tape, rules, v, NULL))
        if (lists(tape, v, "verbs", question->verb) && lists(tape, v, "apiGroups", question->group) &&
            lists_resource(tape, v, question->resource) && lists_name(tape, v, question->name))
            return true;
    return false;
}

static const struct document *role_of(const struct dump_rights *rights, const struct document *binding)
{
    const struct tape *tape = &binding->tape;
    size_t ref = tape_field(tape, tape_root(tape), STR("roleRef"));
    struct str kind = text_at(tape, ref, "kind"), name = text_at(tape, ref, "name");
    for (size_t i = 0; i < rights->count; i++) {
        const struct document *role = &rights->items[i];
        if (!str_is(kind, role->kind) || !str_eq(name, metadata(role, "name"))) continue;
        if (str_is(kind, "ClusterRole") ||
            str_eq(metadata(role, "namespace"), metadata(binding, "namespace")))
            return role;
    }
    return NULL;
}

static bool is_allowed(const struct dump_rights *rights, const struct dump_user *user,
                       const struct access_check *question)
{
    if (in_group(user, STR("system:masters"))) return true;
    for (size_t i = 0; i < rights->count; i++) {
        const struct document *binding = &rights->items[i];
        bool everywhere = strcmp(binding->kind, "ClusterRoleBinding") == 0;
        bool here = strcmp(binding->kind, "RoleBinding") == 0 && *question->ns &&
                    str_is(metadata(binding, "namespace"), question->ns);
        if ((!everywhere && !here) || !binds(binding, user)) continue;
        const struct document *role = role_of(rights, binding);
        if (role && allows(role, question)) return true;
    }
    return false;
}

void dump_rights_check(const struct dump_rights *rights, const struct dump_user *user,
                       struct access_check *questions, size_t count)
{
    for (size_t i = 0; i < count; i++) questions[i].allowed = is_allowed(rights, user, &questions[i]);
}
