/* Internals of reports, for the files of this directory: writing in pieces, and the rules with their rows.
 * Owner: the caller. On any one thread. */
#pragma once
#include <stdint.h>
#include <stdio.h>

#include "audit/report/report.h"
#include "base/buf.h"

/* Writes what has gathered, once it is a lot, but for the last byte: json_out looks at it. */
void report_write(struct buf *text, FILE *out);
/* Writes all of it, and frees it. */
void report_finish(struct buf *text, FILE *out);

/* Before the item `i` of an array of JSON that has each on a line of its own. */
void report_begin_item(struct buf *out, size_t i);
/* A field whose value is JSON. */
void report_put_json(struct buf *out, const char *key, struct str json);
/* "Pod shop/web-1", with `kind_end` ' ' and `/` for that of the namespace. */
void report_put_object(struct buf *out, const struct audit_object *object, char kind_end);
/* "error", "warning" or "skipped"; empty where the message says all. */
const char *report_mark(const struct audit_row *row);

/* Parts of report_json, which other forms have too. */
/* `named`: with its fingerprint (finding_key.h). */
void report_put_row(struct buf *out, const struct audit_table *table, const struct audit_row *row,
                    bool named);

/* A rule and the stretch of rows that are its. */
struct rule_rows {
    uint32_t rule;
    size_t first, end;
};
/* All rules in the order of the table: those with rows, then the others by severity and id. The caller frees
 * it; there are as many as there are rules. */
struct rule_rows *report_rules(const struct audit_table *table);

/* --- Texts in XML and HTML: what would be markup is escaped, and what XML may not hold, or is no UTF-8, is
 * replaced by U+FFFD. Owner: the buffer is the caller's. Any thread. */

/* Fit for an element and for an attribute in quotes of either kind. */
void markup_put(struct buf *out, struct str text);
/* ` name="value"`. */
void markup_attribute(struct buf *out, const char *name, struct str value);
