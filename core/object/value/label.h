/* Rules of Kubernetes for keys and values of labels (contract X-5).
 * Owner: nobody. May be called anywhere. */
#pragma once
#include <stdbool.h>

#include "base/str.h"

/* Return NULL if valid, else the reason, to append to the key or value. */
const char *label_key_fault(struct str key);
const char *label_value_fault(struct str value);
