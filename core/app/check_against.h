/* The kinds of a cluster from a dump of its custom resource definitions, for checks without a server.
 * Owner: the caller frees the catalogue. Reads a file: for commands only. */
#pragma once
#include "base/err.h"
#include "kube/resource.h"

/* `kubectl get crds -o json`, or one definition: they are added to Kubernetes' own kinds. NULL with an error
 * that names the file. */
struct catalogue *catalogue_of_dump(const char *path, struct err *err);
