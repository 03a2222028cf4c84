/* Rules for names, label keys and label values, and the server's message for those that break them.
 * Owner: nobody; messages are written into the caller's buffer.
 * May be called anywhere. */
#pragma once
#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/* Each appends what is wrong to `problems`, sentences joined by "; ", and returns true when nothing is. */
bool sim_check_subdomain(struct str name, struct buf *problems);
bool sim_check_label(struct str name, struct buf *problems);
/* A segment of a path: not "." or "..", without "/" and "%". */
bool sim_check_segment(struct str name, struct buf *problems);
/* A label key, or the name of a finalizer: [prefix/]name. A prefix is bounded by 253 characters in all.
 */
bool sim_check_key(struct str key, struct buf *problems);
bool sim_check_label_value(struct str value, struct buf *problems);
