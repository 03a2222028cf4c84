/* The kinds that every cluster has, for those who ask before there is a server.
 * Owner: the caller frees the catalogue. May be called anywhere. */
#pragma once
#include "kube/resource.h"

/* What a kube-apiserver of today serves without any CRD. */
struct catalogue *catalogue_well_known(void);
