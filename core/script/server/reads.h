/* The live reads that a script declares: "pods:list", "secrets:get", "deployments.apps:*", "*:get".
 * Owner: the script. On the engine thread; nothing here raises. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

struct kinds;
struct resource;

enum read_verb { READ_GET = 1, READ_LIST = 2, READ_WATCH = 4 };

struct declared_read {
    char *kind; /* as written; "*": every one */
    char *text; /* "kind:verb", for those who show the plan */
    unsigned verbs;
};

struct script_reads {
    struct declared_read *items;
    size_t count, cap;
};

/* One more; the same again changes nothing. ERR_INVALID when it is no "kind:verb". */
bool reads_declare(struct script_reads *reads, struct str text, struct err *err);
/* Whether a kind may be read so. `resource` is what it means, NULL when that is not known: then only a
 * declaration in the same words counts. */
bool reads_allow(const struct script_reads *reads, enum read_verb verb, struct str kind,
                 const struct resource *resource, const struct kinds *kinds);
void reads_clear(struct script_reads *reads);
