/* JSON merge patch (RFC 7386), JSON patch (RFC 6902) and strategic merge patch on jansson values.
 * Owner: a new reference each; what is handed in is borrowed and not changed, and shares nothing with the
 * result. May be called anywhere. */
#pragma once
#include <jansson.h>

json_t *sim_patch_merge(const json_t *target, const json_t *patch);
/* Applies a strategic merge patch of Kubernetes' own kinds: a merge patch, except that lists with a merge
 * key, such as containers, are merged by it. Supports $patch (replace, delete), $setElementOrder, $retainKeys
 * and $deleteFromPrimitiveList; of any other $patch NULL and a new string in `*message`. */
json_t *sim_patch_strategic(const json_t *target, const json_t *patch, char **message);
/* Applies a JSON patch; returns NULL and a new string in `*message` if an operation is malformed, does not
 * apply, or a test fails: all or nothing. */
json_t *sim_patch_json(const json_t *target, const json_t *ops, char **message);
