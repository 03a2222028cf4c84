/* Kinds and resources; see schema.h. The form of the text is in docs/dev/schema.md. */
#include <pthread.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "schema/block.h"

static struct {
    struct schema_kind *kinds;
    size_t count;
} table;

static const struct {
    const char *word;
    size_t at;
} flags[] = {
    {"namespaced", offsetof(struct schema_kind, namespaced)},
    {"on", offsetof(struct schema_kind, on)},
    {"generation", offsetof(struct schema_kind, generation)},
    {"graceful", offsetof(struct schema_kind, graceful)},
    {"returns-deleted", offsetof(struct schema_kind, returns_deleted)},
    {"created-by-update", offsetof(struct schema_kind, created_by_update)},
    {"needs-version", offsetof(struct schema_kind, needs_version)},
    {"first-status", offsetof(struct schema_kind, takes_status)},
};

static const struct {
    const char *word;
    size_t at;
} lists[] = {
    {"verbs", offsetof(struct schema_kind, verbs)},
    {"short", offsetof(struct schema_kind, short_names)},
    {"categories", offsetof(struct schema_kind, categories)},
    {"fields", offsetof(struct schema_kind, field_labels)},
};

static void read_attribute(struct schema_kind *kind, char *word)
{
    char *value;
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (strcmp(word, flags[i].word) == 0) *(bool *)((char *)kind + flags[i].at) = true;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        if ((value = schema_value(word, lists[i].word)))
            *(const char *const **)((char *)kind + lists[i].at) = schema_words(value);
    if ((value = schema_value(word, "singular"))) kind->singular = value;
    if ((value = schema_value(word, "first"))) kind->first_status = value;
    if ((value = schema_value(word, "name")))
        kind->names = *value == 'p' ? SCHEMA_PATH : *value == 'a' ? SCHEMA_ANY : SCHEMA_LABEL;
}

static const char *lower(const char *text)
{
    char *copy = xstrdup(text);
    for (char *p = copy; *p; p++)
        if (*p >= 'A' && *p <= 'Z') *p += 'a' - 'A';
    return copy;
}

/* "apps/v1 Deployment deployments apps/v1.Deployment ATTRIBUTE ..." */
static void read_kind(struct schema_kind *kind, char *line)
{
    char *version = schema_word(&line), *slash = strchr(version, '/');
    *kind = (struct schema_kind){.group = "",
                                 .version = version,
                                 .verbs = schema_no_words,
                                 .short_names = schema_no_words,
                                 .categories = schema_no_words,
                                 .field_labels = schema_no_words};
    if (slash) {
        *slash = '\0';
        kind->group = version;
        kind->version = slash + 1;
    }
    kind->kind = schema_word(&line);
    kind->plural = schema_word(&line);
    kind->type = schema_word(&line);
    for (char *word; (word = schema_word(&line));) read_attribute(kind, word);
    if (!kind->singular) kind->singular = lower(kind->kind);
}

static void read_subresource(struct schema_kind *kind, char *line)
{
    struct schema_subresource *list = (struct schema_subresource *)kind->subresources;
    struct schema_subresource *sub = array_add(list, kind->subresource_count);
    kind->subresources = list;
    *sub = (struct schema_subresource){schema_word(&line), schema_word(&line), schema_word(&line), NULL};
    sub->verbs = schema_words(schema_value(line, "verbs"));
}

static void read_default(struct schema_kind *kind, char *line)
{
    struct schema_kind_default *list = (struct schema_kind_default *)kind->defaults;
    struct schema_kind_default *one = array_add(list, kind->default_count);
    kind->defaults = list;
    one->path = schema_word(&line);
    one->value = schema_word(&line);
    one->unless = *line ? schema_words(line) : schema_no_words;
}

static void read_all(void)
{
    char *rest = schema_unpack("kinds"), *line;
    must(rest);
    while ((line = schema_line(&rest))) {
        if (*line == '=')
            read_kind(array_add(table.kinds, table.count), line + 1);
        else if (*line == '/')
            read_subresource(&table.kinds[table.count - 1], line + 1);
        else
            read_default(&table.kinds[table.count - 1], line + 1);
    }
}

const struct schema_kind *schema_kinds(size_t *count)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_all);
    *count = table.count;
    return table.kinds;
}

static const struct schema_kind *find(const char *group, const char *version, const char *name, size_t member)
{
    size_t count;
    const struct schema_kind *kinds = schema_kinds(&count);
    for (size_t i = 0; group && name && i < count; i++) {
        const char *own = *(const char *const *)((const char *)&kinds[i] + member);
        if (strcmp(own, name) != 0 || strcmp(kinds[i].group, group) != 0) continue;
        if (version ? strcmp(kinds[i].version, version) == 0 : kinds[i].on) return &kinds[i];
    }
    return NULL;
}

const struct schema_kind *schema_kind(const char *group, const char *version, const char *kind)
{
    return find(group, version, kind, offsetof(struct schema_kind, kind));
}

const struct schema_kind *schema_resource(const char *group, const char *version, const char *plural)
{
    return find(group, version, plural, offsetof(struct schema_kind, plural));
}

const struct schema_subresource *schema_subresource(const struct schema_kind *kind, const char *name)
{
    for (size_t i = 0; kind && name && i < kind->subresource_count; i++)
        if (strcmp(kind->subresources[i].name, name) == 0) return &kind->subresources[i];
    return NULL;
}
