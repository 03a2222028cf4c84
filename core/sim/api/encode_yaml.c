/* Replies in YAML, as Go's encoder writes it: keys in order, strings quoted where they would be read as
 * something else, lines of 80 columns; see encode.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "base/mem.h"
#include "base/must.h"
#include "sim/api/encode.h"
#include "sim/text/tree.h"

static int append(void *ctx, unsigned char *bytes, size_t n)
{
    buf_append(ctx, bytes, n);
    return 1;
}

static bool is_word(const char *text)
{
    static const char *const words[] = {"~",  "null", "true", "false", "y",    "n",
                                        "on", "off",  "yes",  "no",    ".nan", "<<"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcasecmp(text, words[i]) == 0) return true;
    return !*text;
}

/* Skips `least` to `most` digits; NULL if there are others. */
static const char *skip_digits(const char *text, size_t least, size_t most)
{
    size_t n = text ? strspn(text, "0123456789") : 0;
    return n >= least && n <= most ? text + n : NULL;
}

static const char *skip(const char *text, char c)
{
    return text && *text == c ? text + 1 : NULL;
}

/* "2026-1-31", alone or before a time. */
static bool is_date(const char *text)
{
    const char *month = skip(skip_digits(text, 4, 4), '-');
    const char *end = skip_digits(skip(skip_digits(month, 1, 2), '-'), 1, 2);
    return end && (!*end || (strchr("Tt ", *end) && isdigit((unsigned char)end[1])));
}

/* Also one to the base of 60, as "1:30". */
static bool is_number(const char *text)
{
    const char *digits = text + strspn(text, "+-");
    char *end;
    if (!isdigit((unsigned char)*digits) && (*digits != '.' || !digits[1])) return false;
    strtod(text, &end);
    return !*end || strspn(digits, "0123456789:_") == strlen(digits) || is_date(text);
}

static void emit_scalar(yaml_emitter_t *emitter, const char *text, yaml_scalar_style_t style)
{
    yaml_event_t event;
    size_t n = strlen(text);
    must(n < INT32_MAX);
    yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text, (int)n, 1, 1, style);
    yaml_emitter_emit(emitter, &event);
}

static void emit_string(yaml_emitter_t *emitter, const char *text)
{
    bool lines = strchr(text, '\n') != NULL, other = is_word(text) || is_number(text);
    emit_scalar(emitter, text,
                lines   ? YAML_LITERAL_SCALAR_STYLE
                : other ? YAML_DOUBLE_QUOTED_SCALAR_STYLE
                        : YAML_PLAIN_SCALAR_STYLE);
}

static void emit(yaml_emitter_t *emitter, const json_t *value);

/* Emits the members whose names are behind `above`, up to that named `below`, if there is one. */
static void emit_members(yaml_emitter_t *emitter, const json_t *value, const char *above, const char *below)
{
    const char **names = xcalloc(json_object_size(value) + 1, sizeof *names), *key;
    size_t n = 0;
    json_t *member;
    json_object_foreach ((json_t *)value, key, member) {
        if ((!above || strcmp(key, above) > 0) && (!below || strcmp(key, below) < 0)) names[n++] = key;
    }
    qsort(names, n, sizeof *names, sim_compare_texts);
    for (size_t i = 0; i < n; i++) {
        emit_string(emitter, names[i]);
        emit(emitter, json_object_get(value, names[i]));
    }
    free(names);
}

static void start(yaml_emitter_t *emitter, bool map)
{
    yaml_event_t event;
    if (map)
        yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE);
    else
        yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE);
    yaml_emitter_emit(emitter, &event);
}

static void end(yaml_emitter_t *emitter, bool map)
{
    yaml_event_t event;
    if (map)
        yaml_mapping_end_event_initialize(&event);
    else
        yaml_sequence_end_event_initialize(&event);
    yaml_emitter_emit(emitter, &event);
}

static void emit(yaml_emitter_t *emitter, const json_t *value)
{
    size_t i;
    json_t *item;
    if (json_is_object(value)) {
        start(emitter, true);
        emit_members(emitter, value, NULL, NULL);
        end(emitter, true);
    } else if (json_is_array(value)) {
        start(emitter, false);
        json_array_foreach (value, i, item) emit(emitter, item);
        end(emitter, false);
    } else if (json_is_string(value)) {
        emit_string(emitter, json_string_value(value));
    } else {
        struct buf text = {0};
        sim_put_json(&text, value);
        emit_scalar(emitter, buf_text(&text), YAML_PLAIN_SCALAR_STYLE);
        buf_clear(&text);
    }
}

static void start_document(yaml_emitter_t *emitter, struct buf *out)
{
    yaml_event_t event;
    yaml_emitter_initialize(emitter);
    yaml_emitter_set_output(emitter, append, out);
    yaml_emitter_set_unicode(emitter, 1);
    yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
    yaml_emitter_emit(emitter, &event);
    yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1);
    yaml_emitter_emit(emitter, &event);
}

static void end_document(yaml_emitter_t *emitter)
{
    yaml_event_t event;
    yaml_document_end_event_initialize(&event, 1);
    yaml_emitter_emit(emitter, &event);
    yaml_stream_end_event_initialize(&event);
    yaml_emitter_emit(emitter, &event);
    yaml_emitter_delete(emitter);
}

void sim_put_yaml(struct buf *out, const json_t *value)
{
    yaml_emitter_t emitter;
    start_document(&emitter, out);
    emit(&emitter, value);
    end_document(&emitter);
}

/* --- item by item */

struct sim_yaml_list {
    yaml_emitter_t emitter;
    json_t *around;
    const char *items; /* name of the list in it */
};

struct sim_yaml_list *sim_yaml_list_begin(struct buf *out, json_t *around)
{
    struct sim_yaml_list *list = NEW(struct sim_yaml_list);
    list->around = around;
    list->items = json_object_get(around, "rows") ? "rows" : "items";
    start_document(&list->emitter, out);
    start(&list->emitter, true);
    emit_members(&list->emitter, around, NULL, list->items);
    emit_string(&list->emitter, list->items);
    start(&list->emitter, false);
    return list;
}

void sim_yaml_list_add(struct sim_yaml_list *list, const json_t *item)
{
    emit(&list->emitter, item);
}

void sim_yaml_list_end(struct sim_yaml_list *list)
{
    end(&list->emitter, false);
    emit_members(&list->emitter, list->around, list->items, NULL);
    end(&list->emitter, true);
    end_document(&list->emitter);
}

void sim_yaml_list_free(struct sim_yaml_list *list)
{
    if (!list) return;
    yaml_emitter_delete(&list->emitter);
    json_decref(list->around);
    free(list);
}
