/* Facts of a cluster dump for checks without a server: its kinds, and its permissions. Owner: the command, on
 * the main thread. Reads files: for commands only. */
#pragma once
#include "app/check/dump_rights.h"
#include "base/err.h"
#include "kube/kinds/resource.h"

struct dump;

/* Files of JSON or YAML, with any number of documents, Lists too: custom resource definitions, any other
 * objects, and answers of discovery. NULL with an error that names the file. */
struct dump *dump_read(const char *const *files, size_t count, struct err *err);
void dump_free(struct dump *dump);
/* Kubernetes' own kinds with those that are defined in it, or that it has objects of. Borrowed. */
const struct catalogue *dump_catalogue(const struct dump *dump);
/* Its roles and bindings. Borrowed. */
const struct dump_rights *dump_rights(const struct dump *dump);
