/* Reading jansson values by dotted paths, and building them without a word of ceremony.
 * Owner: what sim_at gives is borrowed from the tree; the others say.
 * May be called anywhere. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "base/buf.h"

/* The value at a path of map keys ("spec.nodeName"; keys with a dot in them cannot be named), NULL when a
 * step is missing. A null at the end is given as it is. */
json_t *sim_at(const json_t *object, const char *path);
/* The text there, "" when there is none or it is something else. */
const char *sim_text_at(const json_t *object, const char *path);
/* The integer there, `otherwise` when there is none. */
int64_t sim_int_at(const json_t *object, const char *path, int64_t otherwise);
bool sim_true_at(const json_t *object, const char *path);
/* The first element of a list whose text at `path` is `text`; borrowed, NULL when there is none. */
json_t *sim_find(const json_t *list, const char *path, const char *text);
/* Is the text an element of the list? */
bool sim_has_text(const json_t *list, const char *text);
/* The map under `key`, made when it is missing or no map; borrowed. */
json_t *sim_submap(json_t *object, const char *key);
/* Sets `key` only where it is missing or null; takes `value`. */
void sim_default(json_t *object, const char *key, json_t *value);
/* A string of printf's making; bytes that are no UTF-8 become '?'. New reference. */
json_t *sim_textf(const char *format, ...) __attribute__((format(printf, 1, 2)));
json_t *sim_vtextf(const char *format, va_list args) __attribute__((format(printf, 1, 0)));
/* A string from text that may be no UTF-8; NULL is "". New reference. */
json_t *sim_string(const char *text);
/* Appends the value as compact JSON. */
void sim_put_json(struct buf *out, const json_t *value);
/* A new string with small letters of ASCII. */
char *sim_lower(const char *text);
