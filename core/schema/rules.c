/* Rules out of their text; see rules.h. The form of the text is in docs/dev/schema.md. */
#include "schema/rules.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "schema/block.h"

static struct {
    struct schema_rule_set *sets;
    size_t count;
} table;

static const struct {
    const char *name;
    bool has_words;
} checks[] = {
    [SCHEMA_CHECK_REQUIRED] = {"required", false},
    [SCHEMA_CHECK_NEEDS] = {"needs", false},
    [SCHEMA_CHECK_FORBIDDEN] = {"forbidden", false},
    [SCHEMA_CHECK_INVALID] = {"invalid", false},
    [SCHEMA_CHECK_BLANK] = {"blank", false},
    [SCHEMA_CHECK_UNSUPPORTED] = {"unsupported", true},
    [SCHEMA_CHECK_ENUM] = {"enum", true},
    [SCHEMA_CHECK_VALID] = {"valid", true},
    [SCHEMA_CHECK_AMONG] = {"among", true},
    [SCHEMA_CHECK_RANGE] = {"range", true},
    [SCHEMA_CHECK_MATCH] = {"match", true},
    [SCHEMA_CHECK_FORM] = {"form", true},
    [SCHEMA_CHECK_KEYS] = {"keys", true},
    [SCHEMA_CHECK_APART] = {"apart", true},
    [SCHEMA_CHECK_LABELS] = {"labels", false},
    [SCHEMA_CHECK_SELECTS] = {"selects", false},
    [SCHEMA_CHECK_AMOUNT] = {"amount", true},
    [SCHEMA_CHECK_UNIQUE] = {"unique", true},
    [SCHEMA_CHECK_FIRST] = {"first", true},
    [SCHEMA_CHECK_ABOVE] = {"above", true},
    [SCHEMA_CHECK_BELOW] = {"below", true},
    [SCHEMA_CHECK_RISES] = {"rises", false},
    [SCHEMA_CHECK_WRONG] = {"wrong", false},
    [SCHEMA_CHECK_EQUAL] = {"equal", true},
    [SCHEMA_CHECK_LUA] = {"lua", true},
    [SCHEMA_CHECK_WARNS] = {"warns", false},
    [SCHEMA_CHECK_ENTER] = {"enter", false},
    [SCHEMA_CHECK_EACH] = {"each", false},
    [SCHEMA_CHECK_ALL] = {"all", false},
    [SCHEMA_CHECK_NAMED] = {"named", false},
    [SCHEMA_CHECK_VALUES] = {"values", false},
    [SCHEMA_CHECK_REVALIDATED] = {"revalidated", false},
    [SCHEMA_CHECK_CHANGED] = {"changed", false},
    [SCHEMA_CHECK_UNCHECKED] = {"unchecked", false},
    [SCHEMA_CHECK_FREE] = {"free", false},
    [SCHEMA_CHECK_PLAIN] = {"plain", false},
    [SCHEMA_CHECK_SAME] = {"same", false},
    [SCHEMA_CHECK_KEPT] = {"kept", false},
    [SCHEMA_CHECK_ONLY] = {"only", true},
    [SCHEMA_CHECK_GROWS] = {"grows", true},
    [SCHEMA_CHECK_BUT] = {"but", true},
};

static enum schema_check read_check(const char *word)
{
    size_t i = 0;
    while (i < ARRAY_LEN(checks) && strcmp(checks[i].name, word) != 0) i++;
    must(i < ARRAY_LEN(checks));
    return (enum schema_check)i;
}

/* "type", "!type", "type=A,B", "type!=A", "old.immutable=true", "given.type" */
static void read_condition(struct schema_condition *condition, char *text)
{
    char *equals = strchr(text, '=');
    *condition = (struct schema_condition){.values = schema_no_words};
    condition->negated = *text == '!' || (equals && equals > text && equals[-1] == '!');
    if (equals) {
        equals[equals > text && equals[-1] == '!' ? -1 : 0] = '\0';
        condition->values = schema_words(equals + 1);
    }
    text += *text == '!';
    condition->old = strncmp(text, "old.", strlen("old.")) == 0;
    condition->given = strncmp(text, "given.", strlen("given.")) == 0;
    condition->path = condition->old     ? text + strlen("old.")
                      : condition->given ? text + strlen("given.")
                                         : text;
}

static bool enters(enum schema_check check)
{
    return check >= SCHEMA_CHECK_ENTER && check <= SCHEMA_CHECK_VALUES;
}

/* "PATH CHECK WORDS ARGUMENT CONDITION ..."; the path may be "PATH>SHOWN=VALUE". */
static void read_rule(struct schema_rule *rule, char *line)
{
    char *path = schema_word(&line), *shown = strchr(path, '>'), *value = strchr(path, '='), *word;
    *rule = (struct schema_rule){.path = path, .shown = shown ? shown + 1 : path, .words = schema_no_words};
    if (shown) *shown = '\0';
    if (value) *value++ = '\0';
    rule->value = value;
    rule->check = read_check(schema_word(&line));
    if (checks[rule->check].has_words && (word = schema_word(&line))) rule->words = schema_words(word);
    word = schema_word(&line);
    rule->argument = word ? word : "";
    struct schema_condition *conditions = NULL;
    while ((word = schema_word(&line))) read_condition(array_add(conditions, rule->condition_count), word);
    rule->conditions = conditions;
}

static void read_all(void)
{
    char *rest = schema_unpack("rules"), *line;
    must(rest);
    while ((line = schema_line(&rest))) {
        struct schema_rule_set *set = table.count ? &table.sets[table.count - 1] : NULL;
        struct schema_rule *rules = set ? (struct schema_rule *)set->rules : NULL;
        if (*line == '=') {
            *array_add(table.sets, table.count) = (struct schema_rule_set){.name = line + 1};
        } else if (*line && *line != '#') {
            must(set);
            read_rule(array_add(rules, set->count), line);
            set->rules = rules;
            enum schema_check check = rules[set->count - 1].check;
            set->free = set->free || check == SCHEMA_CHECK_FREE;
            set->any_finalizers = set->any_finalizers || set->free || check == SCHEMA_CHECK_PLAIN;
            set->places_metadata =
                set->places_metadata || (check >= SCHEMA_CHECK_REVALIDATED && check <= SCHEMA_CHECK_FREE);
        }
    }
}

static const struct schema_rule_set *find(const char *name)
{
    for (size_t i = 0; i < table.count; i++)
        if (strcmp(table.sets[i].name, name) == 0) return &table.sets[i];
    return NULL;
}

/* The sets stand still now. */
static void resolve(void)
{
    read_all();
    for (size_t i = 0; i < table.count; i++)
        for (size_t r = 0; r < table.sets[i].count; r++) {
            struct schema_rule *rule = (struct schema_rule *)&table.sets[i].rules[r];
            if (enters(rule->check)) must((rule->set = find(rule->argument)));
        }
}

const struct schema_rule_set *schema_rule_set(const char *name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, resolve);
    return find(name);
}
