/* Tables and their text; see table.h. The text has a line for each thing, so that people can read it:
 *   kubelua-shards 1
 *   epoch 1764300000123
 *   barrier 1764300000100
 *   member web-0-1f2e3d4c 0-1364
 *   leaving web-0-1f2e3d4c 1764300000123 1365-2047 */
#include "informer/shard/table.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/mem.h"

static const char header[] = "kubelua-shards 1";

void shard_table_init(struct shard_table *table)
{
    *table = (struct shard_table){0};
    for (size_t slot = 0; slot < SHARD_SLOTS; slot++) table->owner[slot] = SHARD_NOBODY;
}

void shard_table_clear(struct shard_table *table)
{
    free(table->members);
    shard_table_init(table);
}

size_t shard_table_find(const struct shard_table *table, struct str name)
{
    for (size_t i = 0; i < table->count; i++)
        if (str_is(name, table->members[i].name)) return i;
    return SHARD_NOBODY;
}

size_t shard_table_add(struct shard_table *table, struct str name)
{
    struct shard_entry *entry = array_add(table->members, table->count);
    size_t n = name.n < SHARD_NAME_MAX ? name.n : SHARD_NAME_MAX - 1;
    memcpy(entry->name, name.p, n);
    entry->name[n] = '\0';
    return table->count - 1;
}

void shard_table_remove(struct shard_table *table, size_t member)
{
    for (size_t slot = 0; slot < SHARD_SLOTS; slot++) {
        uint16_t owner = table->owner[slot];
        if (owner == SHARD_NOBODY || owner < member) continue;
        table->owner[slot] = owner == member ? SHARD_NOBODY : (uint16_t)(owner - 1);
        if (owner == member) table->leaving[slot] = 0;
    }
    array_remove(table->members, table->count, member);
}

struct slot_set shard_table_slots(const struct shard_table *table, size_t member)
{
    struct slot_set set = {0};
    for (size_t slot = 0; slot < SHARD_SLOTS; slot++)
        if (table->owner[slot] == member && !table->leaving[slot]) slot_set_add(&set, slot);
    return set;
}

struct slot_set shard_table_leaving(const struct shard_table *table, size_t member)
{
    struct slot_set set = {0};
    for (size_t slot = 0; slot < SHARD_SLOTS; slot++)
        if (table->owner[slot] == member && table->leaving[slot]) slot_set_add(&set, slot);
    return set;
}

/* --- writing */

/* Writes a line for the slots of each epoch that is left, the oldest first. */
static void write_leaving(const struct shard_table *table, size_t member, const struct slot_set *all,
                          struct buf *out)
{
    struct slot_set rest = *all, set;
    while (!slot_set_is_empty(&rest)) {
        int64_t oldest = INT64_MAX;
        set = (struct slot_set){0};
        for (size_t slot = 0; slot < SHARD_SLOTS; slot++)
            if (slot_set_has(&rest, slot) && table->leaving[slot] < oldest) oldest = table->leaving[slot];
        for (size_t slot = 0; slot < SHARD_SLOTS; slot++)
            if (slot_set_has(&rest, slot) && table->leaving[slot] == oldest) slot_set_add(&set, slot);
        buf_printf(out, "leaving %s %" PRId64 " ", table->members[member].name, oldest);
        slot_set_write(&set, out);
        buf_putc(out, '\n');
        rest = slot_set_minus(&rest, &set);
    }
}

/* Sets of all members in one pass over the slots; the caller frees them. */
static struct slot_set *sets_of(const struct shard_table *table, bool leaving)
{
    struct slot_set *sets = xcalloc(table->count + 1, sizeof *sets);
    for (size_t slot = 0; slot < SHARD_SLOTS; slot++)
        if (table->owner[slot] != SHARD_NOBODY && (table->leaving[slot] > 0) == leaving)
            slot_set_add(&sets[table->owner[slot]], slot);
    return sets;
}

void shard_table_write(const struct shard_table *table, struct buf *out)
{
    struct slot_set *slots = sets_of(table, false), *leaving = sets_of(table, true);
    buf_printf(out, "%s\nepoch %" PRId64 "\n", header, table->epoch);
    if (table->barrier)
        buf_printf(out, "barrier %" PRId64 "%s\n", table->barrier, table->replaces ? " replaces" : "");
    for (size_t i = 0; i < table->count; i++) {
        buf_printf(out, "member %s ", table->members[i].name);
        slot_set_write(&slots[i], out);
        buf_putc(out, '\n');
    }
    for (size_t i = 0; i < table->count; i++) write_leaving(table, i, &leaving[i], out);
    free(slots);
    free(leaving);
}

/* --- reading */

/* One line: `words` are the parts between blanks, behind the keyword. */
struct table_line {
    struct str keyword, words[3];
    size_t number;
};

struct line_reader {
    struct str rest;
    size_t number;
};

static bool fail(size_t line, const char *what, struct err *err)
{
    return err_set(err, ERR_PARSE, "table of shards: line %zu: %s", line, what);
}

/* Skips empty lines; false at the end. */
static bool next_line(struct line_reader *reader, struct table_line *line)
{
    struct str text;
    while (reader->rest.p && str_cut(&reader->rest, '\n', &text)) {
        reader->number++;
        if (!text.n) continue;
        *line = (struct table_line){.number = reader->number};
        str_cut(&text, ' ', &line->keyword);
        for (size_t i = 0; i < ARRAY_LEN(line->words) && text.p; i++) str_cut(&text, ' ', &line->words[i]);
        return true;
    }
    return false;
}

static bool open_reader(struct str text, struct line_reader *reader, struct err *err)
{
    struct str first;
    *reader = (struct line_reader){.rest = text, .number = 1};
    if (!text.p || !str_cut(&reader->rest, '\n', &first) || !str_is(first, header))
        return fail(1, "not a table of this version of kubelua", err);
    return true;
}

/* Reads a positive number that fits into an epoch. */
static bool read_epoch(struct str text, int64_t *out)
{
    uint64_t n;
    if (!str_to_u64(text, &n) || n == 0 || n > INT64_MAX) return false;
    *out = (int64_t)n;
    return true;
}

static bool read_owner(struct shard_table *table, size_t member, struct str slots, int64_t leaving)
{
    struct slot_set set = {0};
    if (!slot_set_read(slots, &set)) return false;
    for (size_t slot = 0; slot < SHARD_SLOTS; slot++) {
        if (!slot_set_has(&set, slot)) continue;
        if (table->owner[slot] != SHARD_NOBODY) return false;
        table->owner[slot] = (uint16_t)member;
        table->leaving[slot] = leaving;
    }
    return true;
}

static bool is_name(struct str name)
{
    return name.n > 0 && name.n < SHARD_NAME_MAX;
}

static bool read_line(struct shard_table *table, const struct table_line *line, struct err *err)
{
    int64_t leaving = 0;
    if (str_is(line->keyword, "epoch"))
        return read_epoch(line->words[0], &table->epoch) || fail(line->number, "not an epoch", err);
    table->replaces |= str_is(line->keyword, "barrier") && str_is(line->words[1], "replaces");
    if (str_is(line->keyword, "barrier"))
        return read_epoch(line->words[0], &table->barrier) || fail(line->number, "not an epoch", err);
    size_t at = shard_table_find(table, line->words[0]);
    if (str_is(line->keyword, "member")) {
        if (!is_name(line->words[0]) || at != SHARD_NOBODY || table->count == SHARD_MEMBERS_MAX)
            return fail(line->number, "not another member", err);
        return read_owner(table, shard_table_add(table, line->words[0]), line->words[1], 0) ||
               fail(line->number, "slots of two members, or none", err);
    }
    if (!str_is(line->keyword, "leaving")) return true; /* of a later version */
    if (at == SHARD_NOBODY || !read_epoch(line->words[1], &leaving))
        return fail(line->number, "not a member and an epoch", err);
    return read_owner(table, at, line->words[2], leaving) ||
           fail(line->number, "slots of two members, or none", err);
}

bool shard_table_read(struct str text, struct shard_table *table, struct err *err)
{
    struct line_reader reader;
    struct table_line line;
    if (!open_reader(text, &reader, err)) return false;
    while (next_line(&reader, &line))
        if (!read_line(table, &line, err)) return false;
    return table->epoch > 0 || fail(reader.number, "the epoch is missing", err);
}

bool shard_view_read(struct str text, struct str name, struct shard_view *out, struct err *err)
{
    struct line_reader reader;
    struct table_line line;
    *out = (struct shard_view){.rank = SHARD_NOBODY};
    if (!open_reader(text, &reader, err)) return false;
    while (next_line(&reader, &line)) {
        bool mine = str_eq(line.words[0], name);
        int64_t epoch = 0;
        if (str_is(line.keyword, "epoch"))
            read_epoch(line.words[0], &out->epoch);
        else if (str_is(line.keyword, "barrier"))
            read_epoch(line.words[0], &out->confirm);
        else if (str_is(line.keyword, "leaving") && mine && read_epoch(line.words[1], &epoch))
            out->confirm = epoch > out->confirm ? epoch : out->confirm;
        if (!str_is(line.keyword, "member")) continue;
        if (out->members == 0 && is_name(line.words[0]))
            memcpy(out->first, line.words[0].p, line.words[0].n); /* the rest is zeros */
        if (mine) out->rank = out->members;
        out->members++;
        if (mine && !slot_set_read(line.words[1], &out->slots)) return fail(line.number, "not slots", err);
    }
    return out->epoch > 0 || fail(reader.number, "the epoch is missing", err);
}
