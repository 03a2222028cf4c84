/* Small objects for specs, written as "namespace/name@version" or "name@version", with "#uid" behind if it
 * matters (the uid is else made of the key). Owner: one pool for the process, made by objects_open; what
 * objects_close finds alive is a leaked reference. One thread. */
#pragma once
#include "base/buf.h"
#include "object/pack/pool.h"

extern const char *objects_api_version; /* of what is made from now on: "v1" */

void objects_open(void);
/* The calling thread makes and frees objects from now on. The one before must be done with it. */
void objects_adopt(void);
/* Frees what was released on other threads. */
void objects_drain(void);
/* Fails the test when a reference is left. */
void objects_close(void);
/* A new reference. The same text gives the same object. */
struct root *object(const char *text);
struct root *object_with_labels(const char *text, const char *labels_json);
/* Any object, as JSON text. */
struct root *object_from_json(const char *text);
/* Objects separated by blanks: a malloc'ed array of new references. */
struct root **object_list(const char *texts, size_t *count);
/* "ns/name@version" */
void object_describe(const struct root *root, struct buf *out);
