/* Document about a running engine, a reply of the admin socket or the state for the page, that is written in
 * pieces: between them the engine thread does its other work, so that no handler waits for the document of a
 * hundred scripts. All of it is of the same scripts and caches: when one comes or goes meanwhile, it begins
 * again. The figures are those of the moment at which their script was written, some turns of the loop
 * apart. Owner: the struct admin_engine, until it is done. On the engine thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct admin_document;
struct admin_engine;

/* Appends members; one of the two. */
struct admin_section {
    const char *name; /* for the log, where a piece took long; borrowed */
    void (*whole)(const struct admin_engine *admin, struct buf *out);
    /* Appends the unit with this number, such as a script; returns whether there are more. Opens what it is
     * in with the first, and closes it behind the last. */
    bool (*next)(const struct admin_engine *admin, size_t at, struct buf *out);
};

struct admin_form {
    const char *name;
    const struct admin_section *sections;
    size_t count;
};

/* Writes a document, and calls `done`, from inside this or later, with its text, which `done` may take. */
void admin_document_write(struct admin_engine *admin, const struct admin_form *form,
                          void (*done)(void *ctx, struct buf *text), void *ctx);
/* At the end of the engine: drops documents that are not done. */
void admin_documents_end(struct admin_engine *admin);
