/* Inventories: entries by class and key; see inventory.h. */
#include "script/inventory/inventory.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/text/json_out.h"

/* Place of an entry. */
struct inventory_key {
    UT_hash_handle hh;
    size_t at;
    size_t len;
    char text[]; /* the class as a byte, then the key */
};

/* Place of a function. */
struct inventory_function {
    UT_hash_handle hh;
    char *file;
    int line;
    char hash[];
};

#define NAME(name, text) [INVENTORY_##name] = (text),
static const char *const names[] = {INVENTORY_EACH(NAME)};

const char *inventory_class_name(enum inventory_class class)
{
    return names[class];
}

enum inventory_class inventory_class_of(struct str name)
{
    int i = 0;
    while (i < INVENTORY_CLASSES && !str_is(name, names[i])) i++;
    return (enum inventory_class)i;
}

static struct inventory_key *find_name(const struct inventory *plan, enum inventory_class class,
                                       struct str key)
{
    struct buf text = {0};
    struct inventory_key *found;
    buf_putc(&text, (char)class);
    buf_str(&text, key);
    HASH_FIND(hh, plan->names, text.data, text.len, found);
    buf_clear(&text);
    return found;
}

const struct inventory_entry *inventory_find(const struct inventory *plan, enum inventory_class class,
                                             struct str key)
{
    const struct inventory_key *name = find_name(plan, class, key);
    return name ? &plan->items[name->at] : NULL;
}

static void append(struct inventory *plan, enum inventory_class class, struct str key, struct str detail)
{
    struct inventory_key *name = xcalloc(1, sizeof *name + key.n + 1);
    name->at = plan->count;
    name->len = key.n + 1;
    name->text[0] = (char)class;
    if (key.n) memcpy(name->text + 1, key.p, key.n);
    HASH_ADD_KEYPTR(hh, plan->names, name->text, name->len, name);
    *array_add(plan->items, plan->count) =
        (struct inventory_entry){.class = class,
                                 .key = xstrndup(key.p, key.n),
                                 .detail = xstrndup(detail.n ? detail.p : "", detail.n)};
}

/* Appends numbers from 2 on until the key is free, or has that detail. */
void inventory_add(struct inventory *plan, enum inventory_class class, struct str key, struct str detail)
{
    struct buf numbered = {0};
    struct str name = key;
    const struct inventory_entry *same;
    for (unsigned number = 2; (same = inventory_find(plan, class, name)); number++) {
        if (str_is(detail, same->detail)) break;
        numbered.len = 0;
        buf_printf(&numbered, "%.*s#%u", STR_ARG(key), number);
        name = buf_slice(&numbered);
    }
    if (!same) append(plan, class, name, detail);
    buf_clear(&numbered);
}

void inventory_set_place(struct inventory *plan, enum inventory_class class, struct str key, const char *file,
                         int line)
{
    const struct inventory_key *name = find_name(plan, class, key);
    struct inventory_entry *entry = name ? &plan->items[name->at] : NULL;
    if (!entry || entry->file) return;
    entry->file = xstrdup(file);
    entry->line = line;
}

bool inventory_wrap_place(const struct inventory_entry *entry, struct err *err)
{
    return entry && entry->file ? err_wrap(err, "%s:%d", entry->file, entry->line) : false;
}

void inventory_note_function(struct inventory *plan, const char *hash, const char *file, int line)
{
    struct inventory_function *function;
    size_t len = strlen(hash);
    if (!plan->notes_functions) return;
    HASH_FIND(hh, plan->functions, hash, len, function);
    if (function) return;
    function = xcalloc(1, sizeof *function + len + 1);
    memcpy(function->hash, hash, len);
    function->file = xstrdup(file);
    function->line = line;
    HASH_ADD_KEYPTR(hh, plan->functions, function->hash, len, function);
}

const char *inventory_function_place(const struct inventory *plan, struct str hash, int *line)
{
    struct inventory_function *function;
    HASH_FIND(hh, plan->functions, hash.p, hash.n, function);
    if (!function) return NULL;
    *line = function->line;
    return function->file;
}

static void clear_functions(struct inventory *plan)
{
    struct inventory_function *function, *next;
    HASH_ITER (hh, plan->functions, function, next) {
        HASH_DELETE(hh, plan->functions, function);
        free(function->file);
        free(function);
    }
}

void inventory_clear(struct inventory *plan)
{
    struct inventory_key *name, *next;
    clear_functions(plan);
    HASH_ITER (hh, plan->names, name, next) {
        HASH_DELETE(hh, plan->names, name);
        free(name);
    }
    for (size_t i = 0; i < plan->count; i++) {
        free(plan->items[i].key);
        free(plan->items[i].detail);
        free(plan->items[i].file);
    }
    free(plan->items);
    *plan = (struct inventory){0};
}

/* --- as JSON */

void inventory_write_json(const struct inventory *plan, const char *key, struct buf *out)
{
    json_open(out, key, '[');
    for (size_t i = 0; i < plan->count; i++) {
        const struct inventory_entry *entry = &plan->items[i];
        json_open(out, NULL, '{');
        json_text(out, "class", names[entry->class]);
        json_text(out, "key", entry->key);
        json_text(out, "detail", entry->detail);
        json_close(out, '}');
    }
    json_close(out, ']');
}
