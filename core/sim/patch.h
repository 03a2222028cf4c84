/* JSON merge patch (RFC 7386) and JSON patch (RFC 6902) on jansson values.
 * Owner: a new reference each; what is handed in is borrowed and not changed, and shares nothing with the
 * result. May be called anywhere. */
#pragma once
#include <jansson.h>

json_t *sim_patch_merge(const json_t *target, const json_t *patch);
/* NULL and a new text in `*message` when an operation is malformed, does not apply, or a test fails: all or
 * nothing. */
json_t *sim_patch_json(const json_t *target, const json_t *ops, char **message);
