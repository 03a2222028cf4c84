/* Internals of reports, for the files of this directory: buffered writing, and the rules with their rows.
 * Owner: the caller. On any one thread. */
#pragma once
#include <stdint.h>
#include <stdio.h>

#include "audit/report/report.h"
#include "base/buf.h"

/* Writes the buffer once it is large, except the last byte: json_out reads that. */
void report_write(struct buf *text, FILE *out);
/* Writes the complete buffer, and frees it. */
void report_finish(struct buf *text, FILE *out);

/* Begins item `i` of a JSON array that has each item on a line of its own. */
void report_begin_item(struct buf *out, size_t i);
/* Appends a field whose value is JSON. */
void report_put_json(struct buf *out, const char *key, struct str json);
/* Appends "Pod shop/web-1", with `kind_end` ' ', and `/` after the namespace. */
void report_put_object(struct buf *out, const struct audit_object *object, char kind_end);
/* Returns "error", "warning" or "skipped"; "" if the message needs no mark. */
const char *report_mark(const struct audit_row *row);

/* Parts of report_json that other formats use too. */
/* `named`: with its fingerprint (finding_key.h). `cluster` may be NULL. */
void report_put_row(struct buf *out, const struct audit_table *table, const struct audit_row *row, bool named,
                    const char *cluster);

/* A rule with its range of rows. */
struct rule_rows {
    uint32_t rule;
    size_t first, end;
};
/* Returns all rules in the order of the table: those with rows, then the others by severity and id. The
 * caller frees it; its length is the number of rules. */
struct rule_rows *report_rules(const struct audit_table *table);

/* --- Texts in XML and HTML: markup is escaped, and characters that XML forbids, or invalid UTF-8, are
 * replaced by U+FFFD. Owner: the buffer is the caller's. Any thread. */

/* Appends a text, safe in an element and in an attribute in quotes of either kind. */
void markup_put(struct buf *out, struct str text);
/* Appends ` name="value"`. */
void markup_attribute(struct buf *out, const char *name, struct str value);
