/* The live reads and the writes that a script declares: "pods:list", "pods/status:patch",
 * "deployments.apps:*", "*:create"; and "*.example.com:watch", all kinds of the group example.com and of
 * those below it, as apps.example.com. Owner: the script. On the engine thread; nothing here raises. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "base/err.h"
#include "base/number_map.h"
#include "base/str.h"
#include "script/server/read_path.h"

struct kinds;
struct resource;

enum read_verb { READ_GET = 1, READ_LIST = 2, READ_WATCH = 4 };
/* As RBAC has them, but for an apply: to the server that is a patch, and a create where there was nothing.
 * Who declares a patch may apply too, to what is there. */
enum write_verb { WRITE_CREATE = 1, WRITE_UPDATE = 2, WRITE_PATCH = 4, WRITE_APPLY = 8, WRITE_DELETE = 16 };

enum { DECLARED_VERBS_MAX = 6 };

/* Function that takes declarations. */
struct declarer {
    const char *name, *shape, *verb_names; /* "k8s.writes"; for messages: of a declaration, and of its verb */
    const char *subresource;               /* the only one that may be named; NULL: any */
    bool takes_unknown;                    /* a declared kind that nobody knows is what nobody knows */
    struct {
        const char *name;
        unsigned verbs;
    } verbs[DECLARED_VERBS_MAX];
};

extern const struct declarer declares_reads, declares_writes;

struct declared {
    char *kind;        /* as written; "*": every one */
    char *subresource; /* "" for none */
    char *group;       /* of "*.example.com", whose kinds it is; NULL for other kinds */
    char *text;        /* "kind/subresource:verb", for those who show the plan */
    unsigned verbs;
};

struct declarations {
    struct declared *items;
    size_t count;
};

struct script_reads {
    struct declarations declared;
    struct read_paths paths;           /* of k8s.raw */
    unsigned open_lists, open_watches; /* see bind_reader.c */
};

struct script_writes {
    struct declarations declared;
    size_t bodies;                       /* bytes, of writes that wait for their responses */
    LIST_HEAD(, write_counter) counters; /* see write_record.h */
    struct number_map applied;           /* see applied.h */
};

/* One more; the same again changes nothing. ERR_INVALID when it is no "kind:verb". */
bool declare(struct declarations *declared, const struct declarer *declarer, struct str text,
             struct err *err);
/* Whether a kind, or a subresource of it, may be used so. As in RBAC "*" stands for all kinds with all their
 * subresources, and no other kind but "*.GROUP" for those. `resource` is what the kind means, NULL when that
 * is not known: then a declaration in the same words counts, and of a write one whose own kind is not known
 * either. */
bool declared_allow(const struct declarations *declared, const struct declarer *declarer, unsigned verb,
                    struct str kind, struct str subresource, const struct resource *resource,
                    const struct kinds *kinds);
/* Returns whether Leases may be created and updated, by any of their names; needs no server. */
bool declared_allow_leases(const struct declarations *declared);
void declarations_clear(struct declarations *declared);
