/* What a script registered while it loaded: its plan. An entry is a class, a key that names the thing, and a
 * detail that says everything else of it in a canonical text; equal texts are equal things, so two plans can
 * be compared, of two generations of a script or of two processes. Owner: the script, or whoever read one
 * from JSON; plan_clear frees it. On any one thread; nothing here raises. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "object/parse/tape.h"

enum plan_class {
    PLAN_INFORMER,  /* "pods in shop with labels app=web" */
    PLAN_TRANSFORM, /* that of "pods in shop": its code and what it reaches; "?..." why that cannot be told */
    PLAN_INDEX,     /* "pods: node" */
    PLAN_HANDLER,   /* its id */
    PLAN_QUEUE,     /* its name */
    PLAN_TIMER,     /* "every 30s", with a number from the second of that kind on */
    PLAN_CRON,
    PLAN_COMMAND,
    PLAN_RULE,
    PLAN_STATE,
    PLAN_METRIC,
    PLAN_READ,  /* "pods:list" */
    PLAN_WRITE, /* "pods/status:patch" */
    PLAN_LIMIT,
    PLAN_LEADER, /* the lease, "ops/rules"; the place of a k8s.on_leader */
    PLAN_MAIN,
    PLAN_RELOAD, /* what k8s.on_reload said */
    PLAN_CLASSES,
};

struct plan_entry {
    enum plan_class class;
    char *key, *detail; /* `detail` may be empty */
    char *file;         /* where it was registered, NULL: not known; no part of what is compared */
    int line;
};

struct plan {
    struct plan_entry *items; /* in the order in which they were registered */
    size_t count, cap;
    struct plan_name *names;         /* by class and key */
    bool notes_functions;            /* for people: else nobody asks where they are */
    struct plan_function *functions; /* by hash */
};

/* The singular name of a class: "handler". */
const char *plan_class_name(enum plan_class class);
/* PLAN_CLASSES for none. */
enum plan_class plan_class_of(struct str name);

/* Copies both. The same entry again changes nothing; the same key with another detail gets a number:
 * "pods#2". */
void plan_add(struct plan *plan, enum plan_class class, struct str key, struct str detail);
/* Of the entry with that very key. The first place stays. */
void plan_set_place(struct plan *plan, enum plan_class class, struct str key, const char *file, int line);
/* Where a function of this hash is; nothing, unless the plan notes functions. The first place stays. */
void plan_note_function(struct plan *plan, const char *hash, const char *file, int line);
/* The file, borrowed; NULL: not known. */
const char *plan_function_place(const struct plan *plan, struct str hash, int *line);
/* Puts the place of the entry before the error, if it is known; NULL is none. Gives false. */
bool plan_wrap_place(const struct plan_entry *entry, struct err *err);
/* Borrowed; NULL when there is none. */
const struct plan_entry *plan_find(const struct plan *plan, enum plan_class class, struct str key);
void plan_clear(struct plan *plan);

/* A line for each entry: "handler pods/1 {OnAdd=function 3f...}". */
void plan_print(const struct plan *plan, struct buf *out);
/* An array of { class, key, detail }. */
void plan_write_json(const struct plan *plan, struct buf *out);
/* Adds what such an array at `at` has; classes that are not known are left out, as they are a newer engine's.
 * False when it is no array. */
bool plan_read_json(const struct tape *tape, size_t at, struct plan *out, struct err *err);

enum plan_change { PLAN_ADDED, PLAN_REMOVED, PLAN_CHANGED };
/* A detail that begins with "?" is never the same as another. Calls `fn` for each difference, class by class,
 * in the order of the keys; `before` is NULL for what was added, `after` for what was removed. Gives how many
 * there are; `fn` NULL: they are only counted. */
size_t plan_compare(const struct plan *before, const struct plan *after,
                    void (*fn)(void *ctx, enum plan_change change, const struct plan_entry *before,
                               const struct plan_entry *after),
                    void *ctx);
/* A line for each: "+ handler pods/2 {...}", "- queue old", "~ timer every 30s: {} -> {leader=true}". Gives
 * how many. */
size_t plan_print_changes(const struct plan *before, const struct plan *after, struct buf *out);
/* What the change costs or causes, where that is not plain from the entries: a literal, or NULL. Either may
 * be NULL, not both. */
const char *plan_change_note(const struct plan_entry *before, const struct plan_entry *after);
