/* Cursors into packed objects: a value is two words, on the stack, copied freely. Owner: a value borrows from
 * its root: it is valid while a reference to the root exists (or, on the pool's thread, until the next
 * release). Reading is lock-free and allowed in any callback. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct root;

enum value_type {
    VALUE_ABSENT, /* result of a lookup without a match */
    VALUE_NULL,
    VALUE_BOOL,
    VALUE_INT,  /* fits int64 */
    VALUE_UINT, /* above INT64_MAX */
    VALUE_DOUBLE,
    VALUE_STRING,
    VALUE_MAP,
    VALUE_ARRAY,
};

struct value {
    const uint32_t *at; /* packed form of a string, number, map or array; NULL if the word is complete */
    uint32_t word;
};

/* Buffer for a string that is stored in another form (a timestamp, a UUID, three bytes). */
struct text {
    char bytes[320];
};

extern const struct value value_absent;

enum value_type value_type(struct value v);
bool value_bool(struct value v);
int64_t value_int(struct value v);   /* of VALUE_INT */
uint64_t value_uint(struct value v); /* of VALUE_UINT */
double value_double(struct value v); /* of any number, rounded when it must be */
/* Returns the string of a VALUE_STRING: in the object or in `text`, never terminated. Other types return an
 * empty slice with a NULL pointer. */
struct str value_str(struct value v, struct text *text);
bool value_str_is(struct value v, struct str expected);

/* Elements of an array, entries of a map; 0 for all else. */
size_t value_count(struct value v);
/* Element `i` (0-based) of an array; absent beyond its end. */
struct value value_item(struct value v, size_t i);
/* Returns entry `i` (0-based, JSON order) of a map. `key` borrows from the object, the dictionary or `text`.
 */
struct value value_entry(struct value v, size_t i, struct str *key, struct text *text);
/* Returns the field of a map; absent if there is none or `v` is not a map. */
struct value value_field(struct value v, struct str key);
/* Likewise by the number of the key in the dictionary: one cached step. `key` may be DICT_NONE together with
 * `text`, which is then searched in maps that store their own keys. */
struct value value_field_id(struct value v, uint32_t key, struct str text);

/* Returns the complete object. */
struct value root_value(const struct root *root);
/* metadata.<field> of every object, found once while packing: empty slices when absent. */
struct str root_namespace(const struct root *root, struct text *text);
struct str root_name(const struct root *root, struct text *text);
struct str root_uid(const struct root *root, struct text *text);
struct str root_resource_version(const struct root *root, struct text *text);
struct value root_labels(const struct root *root);
struct value root_annotations(const struct root *root);
/* Prefetch an object, and later its fields or its labels, for walks over many objects that are spread in
 * memory. NULL is allowed. */
void root_prefetch(const struct root *root);
void root_prefetch_fields(const struct root *root);
void root_prefetch_labels(const struct root *root);
/* Returns the hash of "namespace/name" or "name" (S-1), stored with the object: the key of stores and queues.
 */
uint32_t root_key_hash(const struct root *root);
/* Returns the same hash from strings, for lookups. `ns` empty for cluster-scoped objects. */
uint32_t key_hash(struct str ns, struct str name);
bool root_key_equal(const struct root *a, const struct root *b);
bool root_key_is(const struct root *root, struct str ns, struct str name);
/* "namespace/name", or "name" when the namespace is empty (S-1). */
void root_key(const struct root *root, struct buf *out);

/* Compares content: maps without regard to the order of keys, numbers by value within a type. Pointers first.
 */
bool value_equal(struct value a, struct value b);
