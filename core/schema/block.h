/* Blocks of the bundle: one for the kinds, and one for each Go package (docs/dev/schema.md). Owner: as in
 * schema.h. */
#pragma once
#include "schema/schema.h"

/* One package, read. */
struct schema_package {
    const char *name;          /* "core/v1" */
    struct schema_type *types; /* sorted by name */
    size_t count;
};

/* Returns the unpacked text of the file of that name, terminated, which the caller owns; NULL if there is
 * none. */
char *schema_unpack(const char *name);
/* Returns the words between commas as a list that ends with NULL. Changes the text. */
const char *const *schema_words(char *text);
extern const char *const schema_no_words[];
/* Cuts the next line or, at tabs, the next word, off the text: terminates it and moves `*rest` behind it.
 * Returns NULL at the end. */
char *schema_line(char **rest);
char *schema_word(char **line);
/* Returns the text behind "NAME=" if the word begins so, else NULL. */
char *schema_value(char *word, const char *name);
/* Reads a package; NULL if there is none. The caller owns it. */
struct schema_package *schema_read_package(const char *name);
