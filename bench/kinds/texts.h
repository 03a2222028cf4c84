/* Objects of many kinds as bytes of a watch: generators of ours, with the facts of real clusters (the order
 * of fields and keys of the real kube-apiserver, `\u0026`, last-applied-configuration, managedFields,
 * heartbeats). Each has a first state, which is a watch-list, and two more. The same at every start. Owner:
 * the caller. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

enum { KIND_STATES = 3, KIND_INSERTIONS = 2 };

/* Puts `text` of a state into a pod behind the first `after` that stands behind `from`. */
struct kind_insertion {
    const char *from, *after;
    const char *text[KIND_STATES];
};

struct kind_source {
    const char *name;
    struct str api_version, kind;
    const char *resource; /* in paths */
    bool is_custom;       /* its fields are in alphabetical order */
    size_t count;         /* of objects; in the guard `guarded`, 0: it is not there */
    size_t guarded;
    void (*write)(struct buf *out, size_t i, size_t state); /* members of an object; NULL: a pod */
    size_t replicas;                                        /* of pods */
    struct kind_insertion insertions[KIND_INSERTIONS];
    const char *const *fields, *const *prune; /* end with NULL */
    size_t read;                              /* bytes that the network gives at once; 0: 16 KiB */
};

/* Kinds by number; NULL behind the last one. */
const struct kind_source *kind_source(size_t number);

struct kind_texts {
    const struct kind_source *source;
    size_t count;                   /* of objects */
    struct buf states[KIND_STATES]; /* events, a line each, with room behind them that parsers may read */
    struct str *objects;            /* of the first state */
    size_t bytes;                   /* of all of them */
};

/* Writes the states of so many objects. */
void kind_texts_init(struct kind_texts *texts, const struct kind_source *source, size_t count);
void kind_texts_clear(struct kind_texts *texts);
