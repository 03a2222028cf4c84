/* Kinds that every cluster has, for use before there is a server. Owner: the caller frees the catalogue. May
 * be called anywhere. */
#pragma once
#include "kube/kinds/resource.h"

/* Adds the kinds of the core group, or those of all other groups. */
void well_known_add(struct catalogue *catalogue, bool core);
/* Returns the catalogue of a current kube-apiserver without any CRD. */
struct catalogue *catalogue_well_known(void);
/* Returns whether no server has the kind, because its group belongs to Kubernetes and has no such kind; then
 * `*err` is set, with the nearest kind. `catalogue` is the well-known one, which does not have the kind. */
bool well_known_refuses(const struct catalogue *catalogue, struct str kind, struct err *err);
/* Like well_known_refuses, for the "apps/v1/deployment" of an object, which must be spelt as servers spell
 * it. */
bool well_known_refuses_type(const struct catalogue *catalogue, struct str type, struct err *err);
/* Returns whether a server may have the kind, or lack it: one of Kubernetes' own, as servers differ by age,
 * or a custom one, which has a group. */
bool well_known_may_have(const struct catalogue *catalogue, struct str kind);
/* Sets the error for any other kind that the catalogue does not have, but that a server may have. */
void well_known_lacks(const struct catalogue *catalogue, struct str kind, struct err *err);
