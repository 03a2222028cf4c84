/* Values of findings that are, or may be, data of a Secret. On any thread. */
#pragma once
#include "audit/found/table.h"

/* In place of such a value, as JSON. */
#define SECRET_VALUE STR("\"<hidden>\"")

bool secret_value_is_of(const struct audit_object *object);
/* Returns whether the path of a Secret leads to its data, to annotations, which have the data too where
 * `kubectl apply` wrote it, or to nothing that is known. */
bool secret_value_is_at(struct str path);
