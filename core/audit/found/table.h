/* Results of an audit: its rules, the audited objects, and a row for each finding. Strings are stored once
 * each, so that a hundred thousand findings of one rule share their message. Owner: the runner of the audit;
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
    const char *file;      /* where it was registered */
    int line;
    enum severity severity;
    size_t counts[VERDICTS]; /* of objects; a row may be of one that another row is of too */
    struct str
        not_evaluated; /* reason, such as "the server did not give pods, which it uses"; empty: evaluated */
};

struct audit_object {
    struct str api_version, kind, ns, name, uid; /* `ns` and `uid` may be empty */
    struct str file;                             /* of an offline audit; empty otherwise */
    size_t line;                                 /* where it begins, from 1 up; 0: not known */
};

struct audit_row {
    uint32_t rule, object;
    enum verdict verdict;
    struct str message; /* empty for a pass; the reason of a skip that is not accepted */
    struct str path;    /* "spec.containers[0].image"; empty: the complete object */
    struct str place;   /* the path with names in it (finding_key.h); empty: it has none */
    struct str value;   /* value there, as JSON; empty: not reported */
    struct str fix;     /* a patch or a manifest, as JSON; empty: none */
    struct str reason;  /* acceptance by the object's annotation: "accepted until 2027-01-31: ours" */
    bool accepted;      /* a skip of what would be a finding, by that annotation */
    /* "merge", "strategic" or "manifest", a fixed text; NULL: not known, or no fix. */
    const char *fix_type;
};

/* The texts of each that streams (stream.h) tell of, by their places in the struct, in the order of streams:
 * those of a rule are `const char *`, the others `struct str`. */
enum { RULE_TEXTS = 6, OBJECT_TEXTS = 5, ROW_TEXTS = 5 };
extern const size_t audit_rule_texts[RULE_TEXTS], audit_object_texts[OBJECT_TEXTS],
    audit_row_texts[ROW_TEXTS];
#define AUDIT_TEXT(of, type, place) ((type *)((char *)(of) + (place)))

/* Appends the message, and in brackets the acceptance. */
void audit_row_put_message(struct buf *out, const struct audit_row *row);

struct audit_table;

/* `keep_passes`: a row for each object that passed a rule too, as some reports have. */
struct audit_table *audit_table_new(bool keep_passes);
void audit_table_free(struct audit_table *table);
bool audit_table_keeps_passes(const struct audit_table *table);

/* Adds a rule and returns its number. All strings are copied, here and below. */
uint32_t audit_table_add_rule(struct audit_table *table, const struct audit_rule *rule);
/* Marks the rule as not evaluated. A later reason replaces an earlier one. */
void audit_table_leave_out(struct audit_table *table, uint32_t rule, struct str reason);
size_t audit_table_rule_count(const struct audit_table *table);
const struct audit_rule *audit_table_rule(const struct audit_table *table, uint32_t rule);

/* Begins an object; borrowed until the next one, and stored with its first row. */
void audit_table_begin_object(struct audit_table *table, const struct audit_object *object);
/* Rows that are added now are of that one, which has some. */
void audit_table_resume_object(struct audit_table *table, uint32_t object);
size_t audit_table_object_count(const struct audit_table *table);
const struct audit_object *audit_table_object(const struct audit_table *table, uint32_t object);

/* Adds a result for the current object; `row->object` is not read. Passes, and skips without a message, are
 * stored only if passes are kept. */
void audit_table_add(struct audit_table *table, const struct audit_row *row);
/* The fix of a row, by its number before any sorting. */
void audit_table_set_fix(struct audit_table *table, size_t row, struct str fix, const char *type);
/* The place of a row, likewise. */
void audit_table_set_place(struct audit_table *table, size_t row, struct str place);
/* Drops rows of the current object from that number on, which were reported in error. */
void audit_table_drop(struct audit_table *table, size_t first);
/* Counts the verdict of the rule on the current object: the worst of its rows, or the row of a pass. */
void audit_table_count(struct audit_table *table, uint32_t rule, enum verdict verdict);

/* Of what another table has: its counts of a rule, objects that it looked at and has no rows of, and the row
 * of a pass, which is not counted by that. */
void audit_table_add_counts(struct audit_table *table, uint32_t rule, const size_t counts[VERDICTS]);
void audit_table_add_seen(struct audit_table *table, size_t objects);
void audit_table_add_pass(struct audit_table *table, uint32_t rule);
/* Adds to the number of objects that no rule matches. */
void audit_table_set_unmatched(struct audit_table *table, size_t objects);
/* Objects of kinds that rules match, and of other namespaces than the requested one. */
void audit_table_set_other_namespaces(struct audit_table *table, size_t objects);
/* Sets the number of inputs that were not objects. */
void audit_table_set_not_objects(struct audit_table *table, size_t count);
/* All but the rules; their counts start over. */
void audit_table_forget(struct audit_table *table);

size_t audit_table_count_rows(const struct audit_table *table);
const struct audit_row *audit_table_row(const struct audit_table *table, size_t i);

/* Returns the worst verdict of the rows from `first` up to `end`; a pass for none. */
enum verdict audit_table_worst(const struct audit_table *table, size_t first, size_t end);

/* Drops the findings that `is_known` knows; an object all of whose findings of a rule are known counts
 * for nothing there. Once, before any sorting. */
void audit_table_hide(struct audit_table *table,
                      bool (*is_known)(void *ctx, const struct audit_rule *rule,
                                       const struct audit_object *object, const struct audit_row *row),
                      void *ctx);

/* By severity from the worst down, then rule, namespace, kind, name and path, numbers in them as numbers:
 * what reports show. */
void audit_table_sort(struct audit_table *table);

/* So far. A finding is a row that fails or warns: a rule may have several of an object. */
struct audit_totals {
    size_t audited, unmatched;     /* objects */
    size_t elsewhere;              /* objects of other namespaces than the requested one */
    size_t foreign;                /* passed over: no objects */
    size_t evaluated;              /* rules evaluated on an object */
    size_t known;                  /* findings that were hidden */
    size_t verdicts[VERDICTS];     /* of objects, over all rules: the worst of what a rule said of one */
    size_t rows[VERDICTS];         /* things that were said: warnings, failures, errors */
    size_t severities[SEVERITIES]; /* of findings */
    size_t suppressed[SEVERITIES]; /* of what would be findings, and was accepted */
};
struct audit_totals audit_table_totals(const struct audit_table *table);
