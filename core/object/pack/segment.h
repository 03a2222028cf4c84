/* Segments of large sections: consecutive entries of a map or an array, with their text. The pool keeps them
 * beside an object whose text is long, so that its next state, in which a few entries differ, copies the
 * results of the others: what is read again is a segment or two. Owner: the pool, and so its thread; they are
 * freed with their root. An image has none. Used inside core/object only. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SEGMENTS_TEXT_MIN = 16 << 10, /* bytes of an object that has any: others are walked soon */
    SEGMENT_MIN = 2 << 10,        /* bytes at which a segment ends, so that it takes less than 2 % of them */
    SEGMENT_LEAST = 256,          /* fewest bytes of one between two changes */
    SEGMENT_HEAD = 64,            /* bytes by which one is searched for */
    SEGMENT_ENTRIES_MAX = (1 << 24) - 1,
};

/* Words only, as it stands in the pool. */
struct segment {
    uint32_t hash[2];      /* of the text, from the first entry to the end of the last; 0: not yet known */
    uint32_t head;         /* of the first SEGMENT_HEAD bytes */
    uint32_t at, length;   /* bytes, from the bracket of the container on */
    uint32_t first, words; /* what the entries became, from the first word of the container on */
    uint32_t entry;        /* number of the first one */
    uint32_t entries : 24;
    uint32_t height : 7;    /* maps and arrays in one another, at most */
    uint32_t is_unique : 1; /* makes the container one that is no node; see encoder.unique */
};

/* The segments of one container. */
struct segment_group {
    uint32_t path;           /* of the walk, at the container */
    uint32_t at;             /* of the bracket, in the text of the object */
    uint32_t word;           /* TAG_REF: the node; TAG_LOCAL: place of the header in the words of the root */
    uint32_t first;          /* where its words begin there; 0 in a node */
    uint32_t segment, count; /* in the list of all */
    uint32_t is_plain : 1;   /* no word refers to a node */
    uint32_t is_map : 1, ascends : 1; /* no key of the map is before the one before it, or equal to it */
};

struct segment_list {
    const struct segment_group *group;
    const struct segment *segment;
    size_t groups, segments;
};

struct pool;
struct root;

/* Keeps a copy of the list, which is not empty, for a root; nothing if its text is short, or the pool is
 * full. The caller asks for lists of roots with long texts only. */
void segments_attach(struct pool *pool, const struct root *root, const struct segment_list *list);
/* Returns the list of a root, which may be empty; borrowed. */
struct segment_list segments_of(const struct pool *pool, const struct root *root);
/* Frees the list of a root that is freed. */
void segments_release(struct pool *pool, const struct root *root);
