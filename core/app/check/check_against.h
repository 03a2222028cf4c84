/* Facts of a cluster dump for checks without a server: its kinds, and its permissions. Owner: the command, on
 * the main thread. Reads files: for commands only. */
#pragma once
#include <lua.h>

#include "base/err.h"
#include "kube/kinds/resource.h"

struct dump;

/* Files of JSON or YAML, with any number of documents, Lists too: custom resource definitions, any other
 * objects, and responses of discovery. Pushes a list of its roles and bindings, as they are, with a list of
 * its custom resource definitions as `definitions`. NULL with an error that names the file, and nothing
 * pushed. */
struct dump *dump_read(lua_State *L, const char *const *files, size_t count, struct err *err);
void dump_free(struct dump *dump);
/* Kubernetes' own kinds with those that are defined in it, or that it has objects of. Borrowed. */
const struct catalogue *dump_catalogue(const struct dump *dump);
/* Without one nobody could do anything. */
bool dump_has_binding(const struct dump *dump);
