/* Built-in kinds, as a v1.36 server describes them; see kinds.h. */
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
    struct sim_kind_list builtin, of_tests;
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

static struct sim_kind_list read_rows(const json_t *rows)
{
    struct sim_kind_list list = {xcalloc(json_array_size(rows), sizeof *list.kinds), 0};
    json_t *row;
    size_t i;
    json_array_foreach (rows, i, row) {
        const char *version = sim_text_at(row, "version");
        struct sim_kind *kind = sim_kind_new(sim_text_at(row, "group"), *version ? version : "v1", row, row);
        kind->printer_columns = json_incref(json_object_get(row, "columns"));
        kind->defaults = json_incref(json_object_get(row, "defaults"));
        kind->first_status = json_incref(json_object_get(row, "firstStatus"));
        list.kinds[list.count++] = kind;
    }
    return list;
}

static void read_all(void)
{
    json_t *data = json_loadb(sim_kinds_data->text, sim_kinds_data->len, 0, NULL);
    must(data);
    known.shared = json_incref(json_object_get(data, "shared"));
    resolve(data);
    known.builtin = read_rows(json_object_get(data, "kinds"));
    known.of_tests = read_rows(json_object_get(data, "kinds of tests"));
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

const struct sim_kind_list *sim_kinds_of_tests(void)
{
    read_once();
    return &known.of_tests;
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
