/* Inventory of a script: everything that it registered while it loaded. An entry is a class, a key that names
 * it, and a detail that describes the rest in canonical form; equal strings mean equal things, so that
 * inventories of two generations or two processes can be compared. Owner: the script, or the caller that read
 * one from JSON; inventory_clear frees it. On any one thread; nothing here raises. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* Each class with its singular name, in the order in which differences are shown. */
#define INVENTORY_EACH(X)                                                                         \
    X(INFORMER, "informer")   /* "pods in shop with labels app=web" */                            \
    X(TRANSFORM, "transform") /* that of "pods in shop": its code and what it reaches; "?..." why \
                                 that cannot be told */                                           \
    X(INDEX, "index")         /* "pods: node" */                                                  \
    X(HANDLER, "handler")     /* its id */                                                        \
    X(QUEUE, "queue")         /* its name */                                                      \
    X(TIMER, "timer")         /* "every 30s", with a number from the second of that kind on */    \
    X(CRON, "cron")                                                                               \
    X(COMMAND, "command")                                                                         \
    X(WEBHOOK, "webhook") /* its path */                                                          \
    X(SINK, "sink")       /* its name */                                                          \
    X(RULE, "rule")                                                                               \
    X(STATE, "state")                                                                             \
    X(METRIC, "metric")                                                                           \
    X(READ, "read")   /* "pods:list" */                                                           \
    X(WRITE, "write") /* "pods/status:patch" */                                                   \
    X(LIMIT, "limit")                                                                             \
    X(PARAM, "param")                                                                             \
    X(LEADER, "leader") /* the lease, "ops/rules"; the place of a k8s.on_leader */                \
    X(MAIN, "main")                                                                               \
    X(STOP, "stop")                                                                               \
    X(RELOAD, "reload") /* what k8s.on_reload said */

#define INVENTORY_MEMBER(name, text) INVENTORY_##name,
enum inventory_class { INVENTORY_EACH(INVENTORY_MEMBER) INVENTORY_CLASSES };

struct inventory_entry {
    enum inventory_class class;
    char *key, *detail; /* `detail` may be empty */
    char *file;         /* place of the registration, NULL: unknown; not compared */
    int line;
};

struct inventory {
    struct inventory_entry *items; /* in the order of registration */
    size_t count;
    struct inventory_key *names;          /* by class and key */
    bool notes_functions;                 /* notes places of functions, to show them to users */
    struct inventory_function *functions; /* by hash */
};

/* Returns the singular name of a class: "handler". */
const char *inventory_class_name(enum inventory_class class);
/* Returns INVENTORY_CLASSES if no class has the name. */
enum inventory_class inventory_class_of(struct str name);

/* Adds an entry; copies both strings. An equal entry changes nothing; the same key with another detail gets a
 * number: "pods#2". */
void inventory_add(struct inventory *plan, enum inventory_class class, struct str key, struct str detail);
/* Sets the place of the entry with that very key. The first place stays. */
void inventory_set_place(struct inventory *plan, enum inventory_class class, struct str key, const char *file,
                         int line);
/* Notes the place of a function of this hash; does nothing unless the inventory notes functions. The first
 * place stays. */
void inventory_note_function(struct inventory *plan, const char *hash, const char *file, int line);
/* Returns the file, borrowed; NULL: unknown. */
const char *inventory_function_place(const struct inventory *plan, struct str hash, int *line);
/* Prefixes the error with the place of the entry, if known; the entry may be NULL. Returns false. */
bool inventory_wrap_place(const struct inventory_entry *entry, struct err *err);
/* Returns the entry, borrowed; NULL: none. */
const struct inventory_entry *inventory_find(const struct inventory *plan, enum inventory_class class,
                                             struct str key);
void inventory_clear(struct inventory *plan);

/* Appends an array of { class, key, detail }; `key` is as for json_open. */
void inventory_write_json(const struct inventory *plan, const char *key, struct buf *out);
