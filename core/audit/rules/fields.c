/* Names of fields that rules read; see fields.h. */
#include "audit/rules/fields.h"

#include <stdlib.h>

#include "base/mem.h"
#include "object/value/name_set.h"
#include "script/inventory/script_texts.h"
#include "script/rules/rule.h"

/* One that was handed out; somebody may still pack by it. */
struct made {
    struct projection *projection;
    struct made *next;
};

struct fields {
    struct name_set *names;
    size_t missed, missed_max;
    bool all;
    struct made *made; /* the newest first */
    bool is_current;   /* the newest has all the names */
};

struct fields *fields_new(size_t missed_max)
{
    struct fields *fields = NEW(struct fields);
    fields->names = name_set_new();
    fields->missed_max = missed_max;
    return fields;
}

void fields_free(struct fields *fields)
{
    if (!fields) return;
    for (struct made *made = fields->made, *next; made; made = next) {
        next = made->next;
        projection_unref(made->projection);
        free(made);
    }
    name_set_free(fields->names);
    free(fields);
}

static void add_text(void *ctx, struct str text)
{
    name_set_add(ctx, text, false);
}

void fields_add_script(struct fields *fields, struct script *script)
{
    if (script_is_trusted(script)) fields->all = true; /* no call of it can be ended where it asks for more */
    script_each_text(script, add_text, fields->names);
    fields->is_current = false;
}

void fields_expect(struct fields *fields, struct str name, bool whole)
{
    name_set_add(fields->names, name, whole);
    fields->is_current = false;
}

void fields_expect_beginning(struct fields *fields, struct str beginning)
{
    name_set_add_beginning(fields->names, beginning);
    fields->is_current = false;
}

bool fields_have(const struct fields *fields, struct str name)
{
    return fields->all || name_set_find(fields->names, name) != NAME_DROPPED;
}

void fields_add(struct fields *fields, struct str name, bool whole)
{
    enum name_kept kept = name_set_find(fields->names, name);
    if (kept == NAME_KEPT_WHOLE || (kept == NAME_KEPT && !whole)) return; /* it lies at several places */
    if (name.n == 0 || ++fields->missed > fields->missed_max) fields->all = true;
    if (name.n) name_set_add(fields->names, name, whole);
    fields->is_current = false;
}

const struct projection *fields_projection(struct fields *fields)
{
    if (fields->all) return NULL;
    if (!fields->is_current) {
        struct made *made = NEW(struct made);
        *made = (struct made){projection_of_names(name_set_copy(fields->names)), fields->made};
        fields->made = made;
        fields->is_current = true;
    }
    return fields->made->projection;
}
