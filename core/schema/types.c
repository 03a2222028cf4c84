/* Types and fields, and the packages that were read; see schema.h. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "schema/block.h"

/* More than there are packages: a package that is not there takes no place. */
enum { PACKAGES_MAX = 64 };

static struct {
    pthread_mutex_t lock;
    const struct schema_package *packages[PACKAGES_MAX]; /* in the order of their use */
    size_t count;                                        /* is raised after the place is filled */
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const struct schema_package *find_seen(struct str name)
{
    size_t count = __atomic_load_n(&seen.count, __ATOMIC_ACQUIRE);
    for (size_t i = 0; i < count; i++)
        if (str_is(name, seen.packages[i]->name)) return seen.packages[i];
    return NULL;
}

static const struct schema_package *read_package(struct str name)
{
    pthread_mutex_lock(&seen.lock);
    const struct schema_package *package = find_seen(name);
    if (!package && seen.count < PACKAGES_MAX) {
        char *text = xstrndup(name.p, name.n);
        package = schema_read_package(text);
        free(text);
        if (package) {
            seen.packages[seen.count] = package;
            __atomic_store_n(&seen.count, seen.count + 1, __ATOMIC_RELEASE);
        }
    }
    pthread_mutex_unlock(&seen.lock);
    return package;
}

static int compare(const void *name, const void *type)
{
    return strcmp(name, ((const struct schema_type *)type)->name);
}

const struct schema_type *schema_type(const char *name)
{
    const char *dot = name ? strrchr(name, '.') : NULL;
    if (!dot) return NULL;
    struct str package_name = {name, (size_t)(dot - name)};
    const struct schema_package *package = find_seen(package_name);
    if (!package) package = read_package(package_name);
    return package ? bsearch(name, package->types, package->count, sizeof *package->types, compare) : NULL;
}

const struct schema_type *schema_type_of_kind(const struct schema_kind *kind)
{
    return kind ? schema_type(kind->type) : NULL;
}

const struct schema_type *schema_type_of_field(const struct schema_field *field)
{
    if (!field) return NULL;
    const struct schema_type *type = __atomic_load_n(&field->type, __ATOMIC_ACQUIRE);
    if (type) return type;
    bool holds_schema = field->form >= SCHEMA_SCHEMA_OR_BOOL && field->form <= SCHEMA_SCHEMA_OR_STRINGS;
    type = schema_type(holds_schema ? "apiextensions/v1.JSONSchemaProps" : field->object);
    __atomic_store_n(&((struct schema_field *)field)->type, type, __ATOMIC_RELEASE);
    return type;
}

const struct schema_field *schema_field_named(const struct schema_type *type, struct str name)
{
    for (size_t i = 0; type && name.n && i < type->field_count; i++) {
        const struct schema_field *field = &type->fields[i];
        if (str_is(name, field->name)) return field;
        const struct schema_field *inner =
            *field->name ? NULL : schema_field_named(schema_type_of_field(field), name);
        if (inner) return inner;
    }
    return NULL;
}

const struct schema_field *schema_field_numbered(const struct schema_type *type, uint32_t number)
{
    for (size_t i = 0; type && number && i < type->field_count; i++)
        if (type->fields[i].number == number) return &type->fields[i];
    return NULL;
}
