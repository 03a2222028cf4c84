/* JSON merge patch (RFC 7386), JSON patch (RFC 6902) and strategic merge patch on jansson values.
 * Owner: a new reference each; what is handed in is borrowed and not changed, and shares nothing with the
 * result. May be called anywhere. */
#pragma once
#include <jansson.h>

struct schema_type;

/* Applies a merge patch as Kubernetes does: it also takes nulls out of maps in new lists. Maps that the patch
 * goes into have their names sorted, as in the result of a JSON patch those that an operation looked into. */
json_t *sim_patch_merge(const json_t *target, const json_t *patch);
/* Applies a strategic merge patch to a value of that type (NULL: an unknown one): a merge patch, except that
 * lists with a merge key, such as containers, are merged by it, and that some maps are replaced. Supports
 * $patch (replace, delete), $setElementOrder, $retainKeys and $deleteFromPrimitiveList; of any other $patch,
 * and of what breaks the rules of these, NULL and a new string in `*message`. */
json_t *sim_patch_strategic(const struct schema_type *type, const json_t *target, const json_t *patch,
                            char **message);
/* Applies a JSON patch; returns NULL and a new string in `*message` (may be NULL) if an operation is
 * malformed, does not apply, or a test fails: all or nothing. */
json_t *sim_patch_json(const json_t *target, const json_t *ops, char **message);
