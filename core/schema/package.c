/* Types of a Go package out of its text; see block.h. The form of the text is in docs/dev/schema.md. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "schema/block.h"

static const struct {
    const char *word;
    enum schema_form form;
} forms[] = {
    {"string", SCHEMA_STRING},
    {"bool", SCHEMA_BOOL},
    {"int32", SCHEMA_INT32},
    {"int64", SCHEMA_INT64},
    {"double", SCHEMA_DOUBLE},
    {"bytes", SCHEMA_BYTES},
    {"quantity", SCHEMA_QUANTITY},
    {"intstr", SCHEMA_INT_OR_STRING},
    {"time", SCHEMA_TIME},
    {"microtime", SCHEMA_MICRO_TIME},
    {"duration", SCHEMA_DURATION},
    {"raw", SCHEMA_RAW},
    {"json", SCHEMA_JSON},
    {"schemaorbool", SCHEMA_SCHEMA_OR_BOOL},
    {"schemaorarray", SCHEMA_SCHEMA_OR_ARRAY},
    {"schemaorstrings", SCHEMA_SCHEMA_OR_STRINGS},
};

static const struct {
    const char *prefix;
    enum schema_holder holder;
} holders[] = {{"{}[=]", SCHEMA_MAP_OF_NAMED_LISTS},
               {"{}", SCHEMA_MAP},
               {"[=]", SCHEMA_NAMED_LIST},
               {"[]", SCHEMA_LIST}};

/* "*int32", "[]Container!", "{}meta/v1.Time": how often, what, and whether JSON always has it. */
static void read_form(struct schema_field *field, char *text, const char *package)
{
    size_t n = strlen(text);
    if (n && text[n - 1] == '!') {
        field->always = true;
        text[n - 1] = '\0';
    }
    if (*text == '*') {
        field->optional = true;
        text++;
    }
    for (size_t i = 0; i < ARRAY_LEN(holders); i++) {
        if (strncmp(text, holders[i].prefix, strlen(holders[i].prefix)) != 0) continue;
        field->holder = holders[i].holder;
        text += strlen(holders[i].prefix);
        break;
    }
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (strcmp(text, forms[i].word) != 0) continue;
        field->form = forms[i].form;
        return;
    }
    field->form = SCHEMA_OBJECT;
    field->object = strchr(text, '.') ? text : xasprintf("%s.%s", package, text);
}

/* "map:name,protocol", "set", "atomic" */
static void read_list(struct schema_field *field, char *text)
{
    if (strncmp(text, "map:", strlen("map:")) == 0) {
        field->merge = SCHEMA_LIST_MAP;
        field->list_keys = schema_words(text + strlen("map:"));
    } else
        field->merge = *text == 's' ? SCHEMA_SET : SCHEMA_ATOMIC;
}

static void read_attribute(struct schema_field *field, char *word)
{
    char *value;
    if (strcmp(word, "required") == 0) field->required = true;
    if ((value = schema_value(word, "list"))) read_list(field, value);
    if ((value = schema_value(word, "map"))) field->merge = *value == 'a' ? SCHEMA_ATOMIC : SCHEMA_GRANULAR;
    if ((value = schema_value(word, "patch"))) {
        field->patch_merges = strstr(value, "merge") != NULL;
        field->patch_retains_keys = strstr(value, "retainKeys") != NULL;
        field->patch_replaces = strcmp(value, "replace") == 0;
    }
    if ((value = schema_value(word, "key"))) field->merge_key = value;
    if ((value = schema_value(word, "enum"))) field->enums = schema_words(value);
    if ((value = schema_value(word, "default"))) field->value = value;
    if ((value = schema_value(word, "go"))) field->go = value;
    if ((value = schema_value(word, "unless"))) field->unless = schema_words(value);
}

/* "replicas 1 *int32 ATTRIBUTE ..." */
static void read_field(struct schema_field *field, char *line, const char *package)
{
    *field = (struct schema_field){.list_keys = schema_no_words,
                                   .enums = schema_no_words,
                                   .unless = schema_no_words,
                                   .name = schema_word(&line)};
    field->number = (uint32_t)strtoul(schema_word(&line), NULL, 10);
    read_form(field, schema_word(&line), package);
    for (char *word; (word = schema_word(&line));) read_attribute(field, word);
}

static void read_type(struct schema_type *type, char *line, const char *package)
{
    *type = (struct schema_type){.name = xasprintf("%s.%s", package, schema_word(&line))};
    type->atomic = strcmp(line, "atomic") == 0;
}

static void describe(struct schema_type *type, const char *text)
{
    if (type->field_count)
        ((struct schema_field *)type->fields)[type->field_count - 1].description = text;
    else
        type->description = text;
}

static void add_field(struct schema_type *type, char *line, const char *package)
{
    struct schema_field *fields = (struct schema_field *)type->fields;
    read_field(array_add(fields, type->field_count), line, package);
    type->fields = fields;
}

/* The file of "core/v1" is core_v1; NULL: there is none. */
static char *unpack(const char *name)
{
    char *file = xstrdup(name), *slash = strchr(file, '/');
    if (slash) *slash = '_';
    char *text = slash ? schema_unpack(file) : NULL;
    free(file);
    return text;
}

struct schema_package *schema_read_package(const char *name)
{
    char *rest = unpack(name), *line;
    if (!rest) return NULL;
    struct schema_package *package = NEW(struct schema_package);
    package->name = xstrdup(name);
    while ((line = schema_line(&rest))) {
        if (*line == ':')
            read_type(array_add(package->types, package->count), line + 1, name);
        else if (*line == '"')
            describe(&package->types[package->count - 1], line + 1);
        else
            add_field(&package->types[package->count - 1], line, name);
    }
    return package;
}
