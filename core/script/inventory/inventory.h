/* Inventory of a script: everything that it registered while it loaded. An entry is a class, a key that names
 * it, and a detail that describes the rest in canonical form; equal strings are equal things, so that
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
    X(RULE, "rule")                                                                               \
    X(STATE, "state")                                                                             \
    X(METRIC, "metric")                                                                           \
    X(READ, "read")   /* "pods:list" */                                                           \
    X(WRITE, "write") /* "pods/status:patch" */                                                   \
    X(LIMIT, "limit")                                                                             \
    X(LEADER, "leader") /* the lease, "ops/rules"; the place of a k8s.on_leader */                \
    X(MAIN, "main")                                                                               \
    X(RELOAD, "reload") /* what k8s.on_reload said */

#define INVENTORY_MEMBER(name, text) INVENTORY_##name,
enum inventory_class { INVENTORY_EACH(INVENTORY_MEMBER) INVENTORY_CLASSES };

struct inventory_entry {
    enum inventory_class class;
    char *key, *detail; /* `detail` may be empty */
    char *file;         /* where it was registered, NULL: not known; no part of what is compared */
    int line;
};

struct inventory {
    struct inventory_entry *items; /* in the order in which they were registered */
    size_t count;
    struct inventory_key *names;          /* by class and key */
    bool notes_functions;                 /* for people: else nobody asks where they are */
    struct inventory_function *functions; /* by hash */
};

/* The singular name of a class: "handler". */
const char *inventory_class_name(enum inventory_class class);
/* INVENTORY_CLASSES for none. */
enum inventory_class inventory_class_of(struct str name);

/* Copies both. The same entry again changes nothing; the same key with another detail gets a number:
 * "pods#2". */
void inventory_add(struct inventory *plan, enum inventory_class class, struct str key, struct str detail);
/* Of the entry with that very key. The first place stays. */
void inventory_set_place(struct inventory *plan, enum inventory_class class, struct str key, const char *file,
                         int line);
/* Notes the place of a function of this hash; does nothing unless the inventory notes functions. The first
 * place stays. */
void inventory_note_function(struct inventory *plan, const char *hash, const char *file, int line);
/* The file, borrowed; NULL: not known. */
const char *inventory_function_place(const struct inventory *plan, struct str hash, int *line);
/* Puts the place of the entry before the error, if it is known; NULL is none. Returns false. */
bool inventory_wrap_place(const struct inventory_entry *entry, struct err *err);
/* Borrowed; NULL when there is none. */
const struct inventory_entry *inventory_find(const struct inventory *plan, enum inventory_class class,
                                             struct str key);
void inventory_clear(struct inventory *plan);

/* An array of { class, key, detail }; `key` as json_open has it. */
void inventory_write_json(const struct inventory *plan, const char *key, struct buf *out);
