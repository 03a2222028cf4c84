/* Changes that a reload would make in a running engine, script by script: the inventories of running scripts
 * beside those of files. Owner: the command, on the main thread; rows borrow everything but the list
 * itself. */
#pragma once
#include "base/buf.h"
#include "script/inventory/inventory.h"

enum plan_action {
    PLAN_UNCHANGED,   /* the texts of its file and modules are what runs */
    PLAN_START,       /* no script of that name runs */
    PLAN_CHANGE,      /* it would register something else */
    PLAN_RELOAD_ONLY, /* other texts, the same plan */
    PLAN_STOP,        /* it runs, and its file is not in its folder any more */
    PLAN_REFUSED,     /* its file does not load, or cannot take over */
    PLAN_ACTIONS,
};

struct plan_row {
    enum plan_action fate;
    const char *name;                       /* that the engine knows, or will */
    int64_t generation;                     /* that runs; 0: none */
    const char *error;                      /* of PLAN_REFUSED */
    const struct inventory *before, *after; /* NULL: there is none */
};

struct plan_rows {
    struct plan_row *items;
    size_t count;
};

void plan_rows_add(struct plan_rows *rows, const struct plan_row *row);
void plan_rows_clear(struct plan_rows *rows);
/* Returns the number of rows with that action. */
size_t plan_rows_of(const struct plan_rows *rows, enum plan_action fate);
/* For people: those that differ, each with its differences, then how many there are of each fate. What a
 * function is told by is its place; its hash is for programs. */
void plan_rows_print(const struct plan_rows *rows, struct buf *out);
void plan_rows_print_json(const struct plan_rows *rows, struct buf *out);
