/* The writes that a script declares: "pods:patch", "pods/status:patch", "deployments.apps:*", "*:create".
 * Owner: the script. On the engine thread; nothing here raises. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "base/err.h"
#include "base/str.h"

struct kinds;
struct resource;

/* As RBAC has them, but for an apply: to the server that is a patch, and a create where there was nothing.
 * Who declares a patch may apply too, to what is there. */
enum write_verb { WRITE_CREATE = 1, WRITE_UPDATE = 2, WRITE_PATCH = 4, WRITE_APPLY = 8, WRITE_DELETE = 16 };

struct declared_write {
    char *kind;        /* as written; "*": every one */
    char *subresource; /* "" for none */
    char *text;        /* "kind/subresource:verb", for those who show the plan */
    unsigned verbs;
};

struct script_writes {
    struct declared_write *items;
    size_t count, cap;
    size_t bodies;                       /* bytes, of writes that wait for their answers */
    LIST_HEAD(, write_counter) counters; /* see write_record.h */
};

/* One more; the same again changes nothing. ERR_INVALID when it is no "kind:verb". */
bool writes_declare(struct script_writes *writes, struct str text, struct err *err);
/* Whether a kind, or a subresource of it, may be written so. As in RBAC "*" stands for all kinds with all
 * their subresources, and no other kind for those. `resource` is what the kind means, NULL when that is not
 * known: then a declaration in the same words counts, and one whose own kind is not known either. */
bool writes_allow(const struct script_writes *writes, enum write_verb verb, struct str kind,
                  struct str subresource, const struct resource *resource, const struct kinds *kinds);
/* Whether Leases may be created and updated, by any of their names: asked without a server. */
bool writes_allow_leases(const struct script_writes *writes);
void writes_clear(struct script_writes *writes);

/* --- The live reads that a script declares: "pods:list", "secrets:get", "deployments.apps:*", "*:get".
 * Owner: the script. On the engine thread; nothing here raises. */

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
    unsigned open_lists, open_watches; /* see bind_reader.c */
};

/* One more; the same again changes nothing. ERR_INVALID when it is no "kind:verb". */
bool reads_declare(struct script_reads *reads, struct str text, struct err *err);
/* Whether a kind may be read so. `resource` is what it means, NULL when that is not known: then only a
 * declaration in the same words counts. */
bool reads_allow(const struct script_reads *reads, enum read_verb verb, struct str kind,
                 const struct resource *resource, const struct kinds *kinds);
void reads_clear(struct script_reads *reads);
