/* Finds errors that rules share; see report_errors.h. */
#include "audit/report/report_errors.h"

#include <stdlib.h>

#include "base/mem.h"

static const struct audit_row *row_of(const struct report_errors *errors, size_t i)
{
    return audit_table_row(errors->table, errors->rows[i]);
}

static int compare_numbers(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int compare_rows(const void *left, const void *right, void *ctx)
{
    const struct audit_table *table = ctx;
    size_t i = *(const size_t *)left, j = *(const size_t *)right;
    const struct audit_row *a = audit_table_row(table, i), *b = audit_table_row(table, j);
    if (a->object != b->object) return compare_numbers(a->object, b->object);
    int order = str_cmp(a->message, b->message);
    return order ? order : compare_numbers(i, j);
}

/* Compares the rules of two items, which are in the order of the table, so that equal sets are equal
 * sequences. */
static int compare_rules(const struct report_errors *errors, const struct shared_error *a,
                         const struct shared_error *b)
{
    if (a->rules != b->rules) return compare_numbers(b->rules, a->rules);
    for (size_t i = 0; i < a->rules; i++) {
        int order = compare_numbers(row_of(errors, a->first + i)->rule, row_of(errors, b->first + i)->rule);
        if (order) return order;
    }
    return 0;
}

static int compare_items(const void *left, const void *right, void *ctx)
{
    const struct report_errors *errors = ctx;
    const struct shared_error *a = left, *b = right;
    int order = compare_rules(errors, a, b);
    return order ? order : compare_numbers(errors->rows[a->first], errors->rows[b->first]);
}

static size_t gather(struct report_errors *errors, size_t rows)
{
    size_t count = 0;
    for (size_t i = 0; i < rows; i++)
        if (audit_table_row(errors->table, i)->verdict == VERDICT_ERROR) errors->rows[count++] = i;
    qsort_r(errors->rows, count, sizeof *errors->rows, compare_rows, (void *)errors->table);
    return count;
}

/* Returns the number of rows from `first` on that have the same error, of successive rules. */
static size_t count_shared(const struct report_errors *errors, size_t first, size_t count)
{
    const struct audit_row *one = row_of(errors, first), *last = one;
    size_t end = first + 1;
    for (; end < count; end++) {
        const struct audit_row *row = row_of(errors, end);
        if (row->object != one->object || row->rule == last->rule || !str_eq(row->message, one->message))
            break;
        last = row;
    }
    return end - first;
}

void report_errors_init(struct report_errors *errors, const struct audit_table *table)
{
    size_t rows = audit_table_count_rows(table);
    *errors = (struct report_errors){.table = table};
    if (audit_table_totals(table).rows[VERDICT_ERROR] < 2) return;
    errors->rows = xcalloc(rows, sizeof *errors->rows);
    errors->shared = xcalloc(rows, sizeof *errors->shared);
    size_t count = gather(errors, rows);
    errors->items = xcalloc(count / 2 + 1, sizeof *errors->items);
    for (size_t first = 0, n; first < count; first += n) {
        n = count_shared(errors, first, count);
        if (n < 2) continue;
        errors->items[errors->count++] = (struct shared_error){first, n};
        for (size_t i = first; i < first + n; i++) errors->shared[errors->rows[i]] = true;
    }
    if (errors->count) qsort_r(errors->items, errors->count, sizeof *errors->items, compare_items, errors);
}

void report_errors_clear(struct report_errors *errors)
{
    free(errors->rows);
    free(errors->items);
    free(errors->shared);
}

size_t report_errors_end(const struct report_errors *errors, size_t item)
{
    size_t end = item + 1;
    while (end < errors->count && compare_rules(errors, &errors->items[item], &errors->items[end]) == 0)
        end++;
    return end;
}
