/* Results of an audit: its rules, the audited objects, and a row for each finding. Equal strings are stored
 * once, so that a hundred thousand findings of one rule share their message. Owner: the runner of the audit;
 * audit_table_free frees all. On one thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "script/rules/rule.h"

struct audit_rule {
    const char *id, *title, *category;
    const char *why, *how; /* why it matters and what to do; may be empty */
    const char *file;      /* that registered it */
    int line;
    enum severity severity;
    size_t counts[VERDICTS]; /* of objects, which may have several rows */
    size_t known;            /* hidden findings */
    struct str
        not_evaluated; /* reason, such as "the server did not give pods, which it uses"; empty: evaluated */
};

struct audit_object {
    struct str api_version, kind, ns, name, uid; /* `ns` and `uid` may be empty */
    struct str file;                             /* of an offline audit; empty otherwise */
    size_t line;                                 /* its first line, from 1; 0: unknown */
};

struct audit_row {
    uint32_t rule, object;
    enum verdict verdict;
    struct str message; /* empty for a pass; the reason of a skip that is not accepted */
    struct str path;    /* "spec.containers[0].image"; empty: the complete object */
    struct str place;   /* path with names (finding_key.h); empty: none */
    struct str value;   /* value there, as JSON; empty: not reported */
    struct str fix;     /* a patch or a manifest, as JSON; empty: none */
    struct str reason;  /* acceptance by the object's annotation: "accepted until 2027-01-31: ours" */
    bool accepted;      /* a finding skipped by that annotation */
    /* "merge", "strategic" or "manifest", a constant; NULL: unknown, or no fix. */
    const char *fix_type;
};

/* Strings that streams (stream.h) transfer, by their places in the struct, in the order of streams: those of
 * a rule are `const char *`, the others `struct str`. */
enum { RULE_TEXTS = 6, OBJECT_TEXTS = 5, ROW_TEXTS = 5 };
extern const size_t audit_rule_texts[RULE_TEXTS], audit_object_texts[OBJECT_TEXTS],
    audit_row_texts[ROW_TEXTS];
#define AUDIT_TEXT(of, type, place) ((type *)((char *)(of) + (place)))

/* Appends the message, with the acceptance in brackets. */
void audit_row_put_message(struct buf *out, const struct audit_row *row);

struct audit_table;

/* `keep_passes`: also stores a row for each object that passed a rule, for reports that list them. */
struct audit_table *audit_table_new(bool keep_passes);
void audit_table_free(struct audit_table *table);
bool audit_table_keeps_passes(const struct audit_table *table);

/* Adds a rule and returns its number. All strings are copied, here and below. */
uint32_t audit_table_add_rule(struct audit_table *table, const struct audit_rule *rule);
/* Marks the rule as not evaluated. A later reason replaces an earlier one. */
void audit_table_leave_out(struct audit_table *table, uint32_t rule, struct str reason);
size_t audit_table_rule_count(const struct audit_table *table);
const struct audit_rule *audit_table_rule(const struct audit_table *table, uint32_t rule);

/* Begins an object; borrowed until the next one, and copied with its first row. */
void audit_table_begin_object(struct audit_table *table, const struct audit_object *object);
/* Continues an object, which has rows: rows added now are of it. */
void audit_table_resume_object(struct audit_table *table, uint32_t object);
size_t audit_table_object_count(const struct audit_table *table);
const struct audit_object *audit_table_object(const struct audit_table *table, uint32_t object);

/* Adds a result for the current object; `row->object` is not read. Passes, and skips without a message, are
 * stored only if passes are kept. */
void audit_table_add(struct audit_table *table, const struct audit_row *row);
/* Sets the fix of a row, by its number before any sorting. */
void audit_table_set_fix(struct audit_table *table, size_t row, struct str fix, const char *type);
/* Sets the place of a row, in the same way. */
void audit_table_set_place(struct audit_table *table, size_t row, struct str place);
/* Drops rows of the current object from that number on, which were reported in error. */
void audit_table_drop(struct audit_table *table, size_t first);
/* Counts the verdict of the rule for the current object: the worst of its rows, or a pass. */
void audit_table_count(struct audit_table *table, uint32_t rule, enum verdict verdict);

/* Adds the content of another table: its counts of a rule, audited objects without rows, and the row of a
 * pass, which is not counted by that. */
void audit_table_add_counts(struct audit_table *table, uint32_t rule, const size_t counts[VERDICTS]);
void audit_table_add_seen(struct audit_table *table, size_t objects);
void audit_table_add_pass(struct audit_table *table, uint32_t rule);
/* Adds to the number of objects that no rule matches. */
void audit_table_set_unmatched(struct audit_table *table, size_t objects);
/* Sets the number of objects of kinds that rules match, in other namespaces than the requested one. */
void audit_table_set_other_namespaces(struct audit_table *table, size_t objects);
/* Sets the number of inputs that were not objects. */
void audit_table_set_not_objects(struct audit_table *table, size_t count);
/* Forgets everything but the rules, whose counts start over. */
void audit_table_forget(struct audit_table *table);

size_t audit_table_count_rows(const struct audit_table *table);
const struct audit_row *audit_table_row(const struct audit_table *table, size_t i);

/* Returns the worst verdict of the rows from `first` up to `end`; a pass for none. */
enum verdict audit_table_worst(const struct audit_table *table, size_t first, size_t end);

/* Drops the findings that `is_known` returns true for. An object all of whose findings of a rule are known is
 * not counted for that rule. Call once, before any sorting. */
void audit_table_hide(struct audit_table *table,
                      bool (*is_known)(void *ctx, const struct audit_rule *rule,
                                       const struct audit_object *object, const struct audit_row *row),
                      void *ctx);

/* Sorts rows for reports: by severity, the worst first, then rule, namespace, kind, name and path, with
 * numbers in them as numbers. */
void audit_table_sort(struct audit_table *table);

/* Totals so far. A finding is a row that fails or warns: a rule may have several for an object. */
struct audit_totals {
    size_t audited, unmatched;     /* objects */
    size_t elsewhere;              /* objects of other namespaces than the requested one */
    size_t foreign;                /* skipped inputs that are not objects */
    size_t evaluated;              /* rules evaluated on an object */
    size_t known;                  /* hidden findings */
    size_t verdicts[VERDICTS];     /* of objects, over all rules: the worst row of each rule and object */
    size_t rows[VERDICTS];         /* reported rows: warnings, failures, errors */
    size_t severities[SEVERITIES]; /* of findings */
    size_t suppressed[SEVERITIES]; /* of what would be findings, and was accepted */
};
struct audit_totals audit_table_totals(const struct audit_table *table);
