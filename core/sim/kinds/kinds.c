/* Built-in kinds, which are those of core/schema/, and their columns, which kinds.json has; see kinds.h. */
#include "sim/kinds/kinds.h"

#include <pthread.h>
#include <string.h>

#include "base/embedded_file.h"
#include "base/mem.h"
#include "base/must.h"
#include "sim/text/tree.h"

extern const struct embedded_file sim_kinds_data[];

static struct {
    json_t *shared;
    struct sim_kind_list builtin;
} known;

/* "@name" stands for a value that several kinds share; NULL for another value. */
static json_t *shared(const json_t *value)
{
    const char *text = sim_text_at(value, "");
    return *text == '@' ? json_object_get(known.shared, text + 1) : NULL;
}

static void resolve(json_t *value)
{
    const char *key;
    json_t *inner;
    size_t i;
    json_object_foreach (value, key, inner) {
        if (shared(inner))
            json_object_set(value, key, shared(inner));
        else
            resolve(inner);
    }
    json_array_foreach (value, i, inner) {
        if (shared(inner))
            json_array_set(value, i, shared(inner));
        else
            resolve(inner);
    }
}

/* Borrowed; NULL: no row is about the kind. */
static json_t *row_of(const json_t *rows, const struct sim_kind *kind)
{
    json_t *row;
    size_t i;
    json_array_foreach (rows, i, row)
        if (strcmp(sim_text_at(row, "kind"), kind->kind) == 0 &&
            strcmp(sim_text_at(row, "group"), kind->group) == 0)
            return row;
    return NULL;
}

/* A kind that is another version of one before it is stored as that one. */
static void set_stored(const json_t *rows, struct sim_kind *kind)
{
    const struct sim_kind_list *before = &known.builtin;
    const json_t *row;
    size_t i;
    json_array_foreach (rows, i, row) {
        if (strcmp(sim_text_at(row, "group"), kind->group) != 0 ||
            strcmp(sim_text_at(row, "version"), kind->version) != 0)
            continue;
        for (size_t n = 0; n < before->count; n++)
            if (strcmp(before->kinds[n]->kind, kind->kind) == 0) kind->stored = before->kinds[n];
        kind->conversion = json_incref((json_t *)row);
        kind->not_storage = true;
        kind->printer_columns = json_incref((json_t *)kind->stored->printer_columns);
    }
}

static void read_all(void)
{
    json_t *data = json_loadb(sim_kinds_data->text, sim_kinds_data->len, 0, NULL);
    size_t count;
    const struct schema_kind *schemas = schema_kinds(&count);
    must(data);
    known.shared = json_incref(json_object_get(data, "shared"));
    resolve(data);
    known.builtin.kinds = xcalloc(count, sizeof *known.builtin.kinds);
    for (size_t i = 0; i < count; i++) {
        bool is_object = strcmp(schemas[i].kind, "ComponentStatus") != 0;
        if (!schemas[i].on || !is_object) continue;
        struct sim_kind *kind = sim_kind_of_schema(&schemas[i]);
        const json_t *row = row_of(json_object_get(data, "kinds"), kind); /* without: name and age */
        kind->printer_columns = json_incref(json_object_get(row, "columns"));
        if (*sim_text_at(row, "deprecated")) kind->deprecation = xstrdup(sim_text_at(row, "deprecated"));
        set_stored(json_object_get(data, "versions"), kind);
        known.builtin.kinds[known.builtin.count++] = kind;
    }
    json_decref(data);
}

static void read_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_all);
}

const struct sim_kind_list *sim_builtin_kinds(void)
{
    read_once();
    return &known.builtin;
}

const struct sim_kind *sim_builtin_kind(const char *plural)
{
    const struct sim_kind_list *list = sim_builtin_kinds();
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->kinds[i]->plural, plural) == 0) return list->kinds[i];
    return NULL;
}

json_t *sim_shared_column(const char *name)
{
    read_once();
    return json_object_get(known.shared, name);
}
