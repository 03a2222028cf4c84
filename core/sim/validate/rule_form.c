/* Forms of texts; see rule_form.h. */
#include "sim/validate/rule_form.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "base/str.h"
#include "sim/lua/lua.h"
#include "sim/text/names.h"
#include "sim/text/tree.h"
#include "sim/validate/cause.h"

static bool add(struct buf *problems, const char *text)
{
    buf_printf(problems, "%s%s", problems->len ? "; " : "", text);
    return false;
}

/* Returns whether the text is one of the words between blanks. */
static bool is_word(const char *words, const char *text)
{
    struct str rest = str_of(words), word;
    while (str_cut(&rest, ' ', &word))
        if (str_is(word, text)) return true;
    return false;
}

static bool check_resource(struct str name, struct buf *problems)
{
    bool known =
        is_word("cpu memory ephemeral-storage storage", name.p) || str_starts(name, STR("hugepages-"));
    if (!sim_check_key(name, problems)) return false;
    return known || strchr(name.p, '/') ||
           add(problems, "must be a standard resource type or fully qualified");
}

/* Capitals are valid in the prefix, too. */
static bool check_annotation(struct str key, struct buf *problems)
{
    char *lower = sim_lower(key.p);
    bool good = sim_check_key(str_of(lower), problems);
    free(lower);
    return good;
}

static bool check_known_finalizer(struct str name, struct buf *problems)
{
    return strchr(name.p, '/') || is_word("kubernetes orphan foregroundDeletion", name.p) ||
           add(problems, "name is neither a standard finalizer name nor is it fully qualified");
}

/* Forms that are rare are in Lua. */
static void add_lua(const char *form, const char *text, struct buf *problems)
{
    lua_State *L = sim_lua_take("sim.checks.forms", form);
    lua_pushstring(L, text);
    json_t *found = sim_lua_call(L);
    buf_puts(problems, sim_text_at(found, ""));
    json_decref(found);
}

void sim_rule_form(const struct rule_check *check, const char *form, const char *below, const char *text)
{
    static const struct {
        const char *name;
        bool (*check)(struct str text, struct buf *problems);
    } forms[] = {
        {"label", sim_check_label},
        {"subdomain", sim_check_subdomain},
        {"key", sim_check_key},
        {"value", sim_check_label_value},
        {"segment", sim_check_segment},
        {"resource", check_resource},
        {"annotation key", check_annotation},
        {"known finalizer", check_known_finalizer},
    };
    struct buf problems = {0};
    size_t i = 0;
    while (i < ARRAY_LEN(forms) && strcmp(forms[i].name, form) != 0) i++;
    if (i < ARRAY_LEN(forms)) forms[i].check(str_of(text), &problems);
    if (i == ARRAY_LEN(forms)) add_lua(form, text, &problems);
    if (problems.len == 0) return;
    char *path = sim_rule_path(check, below);
    sim_add_problems(check->causes, path, text, &problems);
    free(path);
}

void sim_rule_forms(const struct rule_check *check, const json_t *value)
{
    const char *text = sim_text_at(value, ""), *empty = check->rule->argument;
    json_t *item;
    size_t i;
    json_array_foreach ((json_t *)value, i, item)
        sim_rule_form(check, *check->rule->words, "", sim_text_at(item, ""));
    bool wanted = *text || (*empty == 'p' && json_is_string(value)) || *empty == 'a';
    if (wanted && !json_is_array(value)) sim_rule_form(check, *check->rule->words, "", text);
}
