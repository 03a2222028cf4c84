/* Table of a sharded group: who owns which slots, and which slots their owners are to give up. Every replica
 * reads it, one writes it (duty.h), as a text in one object whose version fences the write. Owner: the holder
 * of the struct; shard_table_clear frees the names. May be used anywhere. */
#pragma once
#include "base/err.h"
#include "informer/shard/slots.h"

enum { SHARD_MEMBERS_MAX = 1024, SHARD_NAME_MAX = 128, SHARD_NOBODY = 0xffff };

struct shard_entry {
    char name[SHARD_NAME_MAX];
};

struct shard_table {
    int64_t epoch;               /* grows with each write */
    int64_t barrier;             /* > 0: nothing may be given before every replica has applied this epoch */
    bool replaces;               /* the barrier is that of a table that took the place of another one */
    struct shard_entry *members; /* in the order in which they joined: the first one writes the table */
    size_t count;
    uint16_t owner[SHARD_SLOTS]; /* a place in `members`, or SHARD_NOBODY */
    /* > 0: the owner gives the slot up, and has done so once it has applied this epoch. */
    int64_t leaving[SHARD_SLOTS];
};

/* Makes an empty table: no members, no owners. */
void shard_table_init(struct shard_table *table);
void shard_table_clear(struct shard_table *table);
/* Returns SHARD_NOBODY if there is no such member. */
size_t shard_table_find(const struct shard_table *table, struct str name);
size_t shard_table_add(struct shard_table *table, struct str name);
/* Makes all slots of a member free, and takes it out. */
void shard_table_remove(struct shard_table *table, size_t member);
/* Returns the slots that a member owns and is not to give up; the second one those that it gives up. */
struct slot_set shard_table_slots(const struct shard_table *table, size_t member);
struct slot_set shard_table_leaving(const struct shard_table *table, size_t member);

void shard_table_write(const struct shard_table *table, struct buf *out);
/* Reads into an initialised table; false sets err with the line. */
bool shard_table_read(struct str text, struct shard_table *table, struct err *err);

/* One member's part of a table, which is cheap to read. */
struct shard_view {
    int64_t epoch;
    int64_t confirm; /* epoch that the writer waits for this member to have applied; 0: none */
    struct slot_set slots;
    size_t rank; /* place among the members; SHARD_NOBODY: it is not one of them */
    size_t members;
    char first[SHARD_NAME_MAX]; /* name of the member that writes the table; "": there is none */
};

bool shard_view_read(struct str text, struct str name, struct shard_view *out, struct err *err);
