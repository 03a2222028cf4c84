/* Plans: entries by class and key; see plan.h. */
#include "script/inventory/plan.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/mem.h"

/* Where an entry is. */
struct plan_name {
    UT_hash_handle hh;
    size_t at;
    size_t len;
    char text[]; /* the class as a byte, then the key */
};

/* Where a function is. */
struct plan_function {
    UT_hash_handle hh;
    char *file;
    int line;
    char hash[];
};

static const char *const names[PLAN_CLASSES] = {
    [PLAN_INFORMER] = "informer", [PLAN_INDEX] = "index",         [PLAN_HANDLER] = "handler",
    [PLAN_QUEUE] = "queue",       [PLAN_TIMER] = "timer",         [PLAN_CRON] = "cron",
    [PLAN_COMMAND] = "command",   [PLAN_RULE] = "rule",           [PLAN_STATE] = "state",
    [PLAN_METRIC] = "metric",     [PLAN_READ] = "read",           [PLAN_WRITE] = "write",
    [PLAN_LIMIT] = "limit",       [PLAN_LEADER] = "leader",       [PLAN_MAIN] = "main",
    [PLAN_RELOAD] = "reload",     [PLAN_TRANSFORM] = "transform",
};

const char *plan_class_name(enum plan_class class)
{
    return names[class];
}

enum plan_class plan_class_of(struct str name)
{
    int i = 0;
    while (i < PLAN_CLASSES && !str_is(name, names[i])) i++;
    return (enum plan_class)i;
}

static struct plan_name *find_name(const struct plan *plan, enum plan_class class, struct str key)
{
    struct buf text = {0};
    struct plan_name *found;
    buf_putc(&text, (char)class);
    buf_str(&text, key);
    HASH_FIND(hh, plan->names, text.data, text.len, found);
    buf_clear(&text);
    return found;
}

const struct plan_entry *plan_find(const struct plan *plan, enum plan_class class, struct str key)
{
    const struct plan_name *name = find_name(plan, class, key);
    return name ? &plan->items[name->at] : NULL;
}

static void append(struct plan *plan, enum plan_class class, struct str key, struct str detail)
{
    struct plan_name *name = xcalloc(1, sizeof *name + key.n + 1);
    if (plan->count == plan->cap) {
        plan->cap = plan->cap ? 2 * plan->cap : 8;
        plan->items = xrealloc(plan->items, plan->cap * sizeof *plan->items);
    }
    name->at = plan->count;
    name->len = key.n + 1;
    name->text[0] = (char)class;
    if (key.n) memcpy(name->text + 1, key.p, key.n);
    HASH_ADD_KEYPTR(hh, plan->names, name->text, name->len, name);
    plan->items[plan->count++] = (struct plan_entry){.class = class,
                                                     .key = xstrndup(key.p, key.n),
                                                     .detail = xstrndup(detail.n ? detail.p : "", detail.n)};
}

/* With numbers from 2 on until the key is free, or has that detail. */
void plan_add(struct plan *plan, enum plan_class class, struct str key, struct str detail)
{
    struct buf numbered = {0};
    struct str name = key;
    const struct plan_entry *same;
    for (unsigned number = 2; (same = plan_find(plan, class, name)); number++) {
        if (str_is(detail, same->detail)) break;
        numbered.len = 0;
        buf_printf(&numbered, "%.*s#%u", STR_ARG(key), number);
        name = buf_slice(&numbered);
    }
    if (!same) append(plan, class, name, detail);
    buf_clear(&numbered);
}

void plan_set_place(struct plan *plan, enum plan_class class, struct str key, const char *file, int line)
{
    const struct plan_name *name = find_name(plan, class, key);
    struct plan_entry *entry = name ? &plan->items[name->at] : NULL;
    if (!entry || entry->file) return;
    entry->file = xstrdup(file);
    entry->line = line;
}

bool plan_wrap_place(const struct plan_entry *entry, struct err *err)
{
    return entry && entry->file ? err_wrap(err, "%s:%d", entry->file, entry->line) : false;
}

void plan_note_function(struct plan *plan, const char *hash, const char *file, int line)
{
    struct plan_function *function;
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

const char *plan_function_place(const struct plan *plan, struct str hash, int *line)
{
    struct plan_function *function;
    HASH_FIND(hh, plan->functions, hash.p, hash.n, function);
    if (!function) return NULL;
    *line = function->line;
    return function->file;
}

static void clear_functions(struct plan *plan)
{
    struct plan_function *function, *next;
    HASH_ITER (hh, plan->functions, function, next) {
        HASH_DELETE(hh, plan->functions, function);
        free(function->file);
        free(function);
    }
}

void plan_clear(struct plan *plan)
{
    struct plan_name *name, *next;
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
    *plan = (struct plan){0};
}

/* --- as text and as JSON */

static void put_entry(const struct plan_entry *entry, struct buf *out)
{
    buf_printf(out, "%s %s", names[entry->class], entry->key);
    if (*entry->detail) buf_printf(out, " %s", entry->detail);
    buf_putc(out, '\n');
}

void plan_print(const struct plan *plan, struct buf *out)
{
    for (size_t i = 0; i < plan->count; i++) put_entry(&plan->items[i], out);
}

void plan_write_json(const struct plan *plan, struct buf *out)
{
    buf_putc(out, '[');
    for (size_t i = 0; i < plan->count; i++) {
        const struct plan_entry *entry = &plan->items[i];
        buf_printf(out, "%s{\"class\":\"%s\",\"key\":", i ? "," : "", names[entry->class]);
        buf_json_string(out, str_of(entry->key));
        buf_puts(out, ",\"detail\":");
        buf_json_string(out, str_of(entry->detail));
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

bool plan_read_json(const struct tape *tape, size_t at, struct plan *out, struct err *err)
{
    if (!at || tape_type(tape, at) != '[') return err_set(err, ERR_PARSE, "a plan must be an array");
    for (size_t v = tape_first(tape, at, NULL); v; v = tape_next(tape, at, v, NULL)) {
        enum plan_class class = plan_class_of(tape_str(tape, tape_field(tape, v, STR("class"))));
        if (class == PLAN_CLASSES) continue;
        plan_add(out, class, tape_str(tape, tape_field(tape, v, STR("key"))),
                 tape_str(tape, tape_field(tape, v, STR("detail"))));
    }
    return true;
}

/* --- compared */

static int by_name(const void *a, const void *b)
{
    const struct plan_entry *const *x = a, *const *y = b;
    if ((*x)->class != (*y)->class) return (*x)->class < (*y)->class ? -1 : 1;
    return strcmp((*x)->key, (*y)->key);
}

static const struct plan_entry **sorted(const struct plan *plan)
{
    const struct plan_entry **items = xcalloc(plan->count + 1, sizeof *items);
    for (size_t i = 0; i < plan->count; i++) items[i] = &plan->items[i];
    qsort(items, plan->count, sizeof *items, by_name);
    return items;
}

size_t plan_compare(const struct plan *before, const struct plan *after,
                    void (*fn)(void *ctx, enum plan_change change, const struct plan_entry *before,
                               const struct plan_entry *after),
                    void *ctx)
{
    const struct plan_entry **a = sorted(before), **b = sorted(after);
    size_t i = 0, j = 0, differences = 0;
    while (i < before->count || j < after->count) {
        int order = i == before->count ? 1 : j == after->count ? -1 : by_name(&a[i], &b[j]);
        const struct plan_entry *old = order <= 0 ? a[i++] : NULL, *new = order >= 0 ? b[j++] : NULL;
        if (old && new &&strcmp(old->detail, new->detail) == 0 && *new->detail != '?') continue;
        differences++;
        if (fn) fn(ctx, !old ? PLAN_ADDED : !new ? PLAN_REMOVED : PLAN_CHANGED, old, new);
    }
    free(a);
    free(b);
    return differences;
}

static void put_change(void *ctx, enum plan_change change, const struct plan_entry *before,
                       const struct plan_entry *after)
{
    struct buf *out = ctx;
    buf_puts(out, change == PLAN_ADDED ? "+ " : change == PLAN_REMOVED ? "- " : "~ ");
    if (change != PLAN_CHANGED)
        put_entry(before ? before : after, out);
    else
        buf_printf(out, "%s %s %s -> %s\n", names[before->class], before->key,
                   *before->detail ? before->detail : "{}", *after->detail ? after->detail : "{}");
}

size_t plan_print_changes(const struct plan *before, const struct plan *after, struct buf *out)
{
    return plan_compare(before, after, put_change, out);
}

const char *plan_change_note(const struct plan_entry *before, const struct plan_entry *after)
{
    const struct plan_entry *entry = after ? after : before;
    if (entry->class == PLAN_TRANSFORM && before && after && *after->detail == '?')
        return "its informer is listed anew, as nobody can tell that it is the same";
    if (entry->class == PLAN_TRANSFORM) return "its informer is listed anew";
    if (entry->class == PLAN_HANDLER && before && after)
        return "sees the cache again, unless k8s.on_reload says \"none\"";
    if (entry->class == PLAN_QUEUE && before && after && str_ends(str_of(entry->key), STR(": run")))
        return "works on the keys that wait; others come again when a handler adds them";
    if (entry->class == PLAN_INFORMER && !before)
        return "is listed and watched, unless another script has the same informer";
    return NULL;
}
