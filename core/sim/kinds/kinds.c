/* The built-in kinds, as a v1.36 server describes them; see kinds.h. */
#include "sim/kinds/kinds.h"

#include <pthread.h>
#include <string.h>

#include "base/embedded_file.h"
#include "base/mem.h"
#include "base/must.h"
#include "sim/text/tree.h"

extern const struct embedded_file sim_kinds_data[];

static struct {
    json_t *columns;
    struct sim_kind_list builtin, of_tests;
} known;

/* The columns of a kind, with those that others have too in the place of their names. A new array. */
static json_t *columns_of(const json_t *row)
{
    json_t *columns = json_array(), *column;
    size_t i;
    json_array_foreach (json_object_get(row, "columns"), i, column)
        json_array_append(columns, json_is_string(column)
                                       ? json_object_get(known.columns, json_string_value(column))
                                       : column);
    return columns;
}

static struct sim_kind_list read_rows(const json_t *rows)
{
    struct sim_kind_list list = {xcalloc(json_array_size(rows), sizeof *list.kinds), 0};
    json_t *row;
    size_t i;
    json_array_foreach (rows, i, row) {
        const char *version = sim_text_at(row, "version");
        struct sim_kind *kind = sim_kind_new(sim_text_at(row, "group"), *version ? version : "v1", row, row);
        kind->printer_columns = columns_of(row);
        list.kinds[list.count++] = kind;
    }
    return list;
}

static void read_all(void)
{
    json_t *data = json_loadb(sim_kinds_data->text, sim_kinds_data->len, 0, NULL);
    must(data);
    known.columns = json_incref(json_object_get(data, "columns"));
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
    return json_object_get(known.columns, name);
}
