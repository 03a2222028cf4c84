/* core/informer/store/query_rank.c: many objects of all kinds of values are in the order of their values, and
 * those of equal ones in that of the store. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/informer/support/runs.h"
#include "core/informer/support/store.h"
#include "informer/store/query_internal.h"

/* Runs of 512, one of which is short; the last number of runs is no power of two. */
static const int counts[] = {0, 1, 2, 511, 512, 513, 1024, 2700};
/* Longer than a block of strings. */
enum { LONG = 70000, ORDERS = 2 };
static const char *const paths[ORDERS] = {"metadata.labels.v", "metadata.labels.w"};

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

static void put_value(struct buf *out)
{
    switch (draw(9)) {
    case 0: buf_puts(out, "null"); break;
    case 1: buf_puts(out, draw(2) ? "true" : "false"); break;
    case 2: buf_printf(out, "%d", (int)draw(50) - 25); break;
    case 3: buf_printf(out, "%d.5", (int)draw(50)); break;
    case 4: buf_printf(out, "\"%um\"", draw(9000)); break;
    case 5: buf_printf(out, "\"%uGi\"", draw(9)); break;
    case 6: buf_printf(out, "[%u]", draw(9)); break;
    default: buf_printf(out, "\"svc-0000-%u\"", draw(300)); break;
    }
}

static void put_long(struct buf *out)
{
    buf_putc(out, '"');
    memset(buf_reserve(out, LONG), 'x', LONG);
    out->len += LONG;
    buf_printf(out, "%u\"", draw(3));
}

static void put(int number)
{
    char key[32];
    struct buf labels = {0};
    snprintf(key, sizeof key, "ns/o-%d@1", number);
    buf_puts(&labels, "{\"v\":");
    if (draw(200) == 0)
        put_long(&labels);
    else
        put_value(&labels);
    if (draw(3)) {
        buf_puts(&labels, ",\"w\":");
        put_value(&labels);
    }
    buf_putc(&labels, '}');
    store_put_labels(key, buf_text(&labels));
    buf_clear(&labels);
}

static struct query *ordered_by(void)
{
    struct err err;
    struct query *query = query_new();
    for (size_t i = 0; i < ORDERS; i++)
        assert_true(query_order(query, path_compile(str_of(paths[i]), &err), draw(2), &err));
    return query;
}

static int number_of(const struct root *object)
{
    struct text text;
    struct str name = root_name(object, &text);
    char copy[16] = "";
    memcpy(copy, name.p, name.n);
    return (int)strtol(copy + strlen("o-"), NULL, 10);
}

/* Compares values as they are in two objects that are neighbours. */
static int compare(const struct query *query, const struct root *a, const struct root *b)
{
    struct text texts[2][ORDERS];
    struct scalar x[ORDERS], y[ORDERS];
    for (size_t i = 0; i < ORDERS; i++) {
        x[i] = scalar_of(path_get(query->orders[i].path, root_value(a)), &texts[0][i]);
        y[i] = scalar_of(path_get(query->orders[i].path, root_value(b)), &texts[1][i]);
    }
    return query_compare(query, x, y);
}

static void check(int count)
{
    struct lister_list list;
    struct query *query = ordered_by();
    bool *seen = xcalloc((size_t)count, sizeof *seen);
    for (int i = 0; i < count; i++) put(i);
    query_select(query, indexer, &list);
    assert_int_equal(list.count, count);
    for (size_t i = 0; i < list.count; i++) {
        int number = number_of(list.objects[i]);
        assert_false(seen[number]);
        seen[number] = true;
        if (i == 0) continue;
        int order = compare(query, list.objects[i - 1], list.objects[i]);
        assert_true(order < 0 || (order == 0 && number_of(list.objects[i - 1]) < number));
    }
    for (int i = 0; i < count; i++) assert_true(seen[i]);
    lister_free_list(&list);
    query_free(query);
    free(seen);
}

static void play(uint64_t number)
{
    seed = number;
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        indexer_free(indexer);
        indexer = indexer_new();
        check(counts[i]);
    }
}

static void test_objects_are_in_the_order_of_their_values(void **state)
{
    runs_play(play, 4);
}

static int teardown(void **state)
{
    return runs_failed() ? 0 : store_close(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_objects_are_in_the_order_of_their_values, store_open, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
