/* Reading of jansson values by dotted paths, and short functions to build them. Owner: results of sim_at are
 * borrowed from the tree; see the others. May be called anywhere. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "base/buf.h"

/* Returns the value at a path of map keys ("spec.nodeName"; keys with a dot in them cannot be named), NULL if
 * a step is missing. A null at the end is returned as it is. */
json_t *sim_at(const json_t *object, const char *path);
/* Returns the string there, "" if there is none. */
const char *sim_text_at(const json_t *object, const char *path);
/* Returns the integer there, `otherwise` if there is none. */
int64_t sim_int_at(const json_t *object, const char *path, int64_t otherwise);
bool sim_true_at(const json_t *object, const char *path);
/* Returns the first element of a list whose string at `path` is `text`; borrowed, NULL if there is none. */
json_t *sim_find(const json_t *list, const char *path, const char *text);
/* Returns whether the string is an element of the list. */
bool sim_has_text(const json_t *list, const char *text);
bool sim_has_equal(const json_t *list, const json_t *value);
/* Returns the map under `key`; creates it if missing or not a map; borrowed. */
json_t *sim_submap(json_t *object, const char *key);
/* Sets the value at a path, and makes the maps above it; takes `value`. */
void sim_set_at(json_t *object, const char *path, json_t *value);
/* Sets `key` only where it is missing or null; takes `value`. */
void sim_default(json_t *object, const char *key, json_t *value);
/* Returns a string formatted like printf; bytes that are not UTF-8 become '?'. New reference. */
json_t *sim_textf(const char *format, ...) __attribute__((format(printf, 1, 2)));
json_t *sim_vtextf(const char *format, va_list args) __attribute__((format(printf, 1, 0)));
/* Returns a string from bytes that may not be UTF-8; NULL is "". New reference. */
json_t *sim_string(const char *text);
/* Parses JSON as jansson does, but integers beyond 64 bits become doubles, and bytes that are no UTF-8,
 * or escapes of half a pair, U+FFFD, as in Go. New reference. */
json_t *sim_parse(struct str text, size_t flags, json_error_t *error);
/* Adds the members of an object that is stored, of whose text everything is known to be right, to another
 * one, which is returned: several times as fast as parsing it. A list that begins at `skipped`, which may be
 * NULL, is left empty. */
json_t *sim_read_stored(struct str text, const char *skipped, json_t *object);
/* Appends the value as compact JSON. */
void sim_put_json(struct buf *out, const json_t *value);
/* Likewise, as Go prints it with %v: messages of errors have it. */
void sim_put_go_value(struct buf *out, const json_t *value);
/* Go's type of a value that was decoded without one: "map[string]interface {}". */
const char *sim_go_type(const json_t *value);
/* Returns a new string in lower case of ASCII. */
char *sim_lower(const char *text);
/* For qsort over an array of `const char *`. */
int sim_compare_texts(const void *a, const void *b);
