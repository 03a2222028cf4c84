/* core/script/server/write_log.c: the ring of writes, its JSON, its file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "script/server/write_log.h"
#include "script/server/write_record.h"

static const struct resource pods = {(char *)"", (char *)"v1", (char *)"pods", (char *)"Pod", true};
static const struct object_response good_response = {.http_status = 200};

/* A patch of a pod's status. */
static struct object_request patch(const char *name)
{
    return (struct object_request){
        .verb = OBJECT_PATCH, .place = {&pods, "shop", name, "status"}, .manager = "kubelua"};
}

static struct write_record begun(struct object_request *request)
{
    static const struct cluster_parts cluster;
    struct write_record record = {.cluster = &cluster,
                                  .begun_us = 1700000000123456,
                                  .script = "team",
                                  .hash = "0123456789ab",
                                  .request = request};
    buf_puts(&record.caller, "pods/1");
    buf_puts(&record.trigger, "OnAdd shop/web");
    return record;
}

static void clear(struct write_record *record)
{
    buf_clear(&record->caller);
    buf_clear(&record->trigger);
}

/* After 7 ms. */
static void end(struct write_log *write_log, struct write_record *record,
                const struct object_response *response)
{
    write_log_add(write_log, record, record->begun_us + 7000, response);
    clear(record);
}

static void add(struct write_log *write_log, const char *name)
{
    struct object_request request = patch(name);
    struct write_record record = begun(&request);
    end(write_log, &record, &good_response);
}

static void assert_trail(const struct write_log *write_log, const char *expected)
{
    struct buf text = {0};
    write_log_write(write_log, NULL, SIZE_MAX, &text);
    assert_string_equal(buf_text(&text), expected);
    buf_clear(&text);
}

static void test_an_entry_has_all_of_a_write(void **state)
{
    struct err err;
    struct write_log *write_log = write_log_new(NULL, &err);
    assert_trail(write_log, "[]");
    add(write_log, "web");
    struct object_request request = patch("a\"\n\\b");
    struct write_record bad = begun(&request);
    struct object_response response = {.http_status = 409, .err = &err};
    clear(&bad);
    request.place.namespace_ = "";
    request.place.subresource = "";
    request.dry_run = true;
    bad.begun_us = 0;
    err_set(&err, ERR_HTTP, "no\ttime");
    err.http_status = 409;
    strcpy(err.reason, "Conflict");
    end(write_log, &bad, &response);
    assert_trail(write_log,
                 "[{\"time\":\"2023-11-14T22:13:20.123Z\",\"script\":\"team@0123456789ab\","
                 "\"handler\":\"pods/1\",\"trigger\":\"OnAdd shop/web\",\"verb\":\"patch\","
                 "\"resource\":\"pods/status\",\"subresource\":\"status\",\"object\":\"shop/"
                 "web\",\"manager\":\"kubelua\","
                 "\"result\":\"ok\",\"milliseconds\":7},"
                 "{\"time\":\"1970-01-01T00:00:00.000Z\",\"script\":\"team@0123456789ab\","
                 "\"verb\":\"patch\",\"resource\":\"pods\",\"object\":\"a\\\"\\n\\\\b\","
                 "\"manager\":\"kubelua\",\"dryRun\":\"server\",\"result\":\"Conflict\",\"code\":409,"
                 "\"message\":\"no time\",\"milliseconds\":7}]");
    write_log_free(write_log);
}

/* The trail keeps a thousand of them. Where it is cut, no character is broken. */
static void test_a_long_text_is_cut(void **state)
{
    enum { LONG = 1 << 20 };
    struct err err;
    struct write_log *write_log = write_log_new(NULL, &err);
    struct buf text = {0}, key = {0}, shown = {0};
    for (int i = 0; i < LONG; i++) buf_puts(&key, "é");
    buf_puts(&shown, "\"trigger\":\"");
    for (int i = 0; i < WRITE_LOG_TEXT_MAX / 2; i++) buf_puts(&shown, "é");
    buf_puts(&shown, "...\",\"verb\"");
    struct object_request request = patch("web");
    struct write_record even = begun(&request), odd = begun(&request);
    even.trigger.len = odd.trigger.len = 0;
    buf_str(&even.trigger, buf_slice(&key));
    end(write_log, &even, &good_response);
    write_log_write(write_log, NULL, SIZE_MAX, &text);
    assert_non_null(strstr(buf_text(&text), buf_text(&shown)));
    text.len = 0;
    key.data[1] = key.data[0] = 'k';
    buf_puts(&odd.trigger, buf_text(&key) + 1);
    end(write_log, &odd, &good_response);
    write_log_write(write_log, NULL, SIZE_MAX, &text);
    assert_non_null(strstr(buf_text(&text), "é...\",\"verb\""));
    assert_null(strstr(buf_text(&text), "\xef\xbf\xbd"));
    assert_true(text.len < 3 * WRITE_LOG_TEXT_MAX);
    buf_clear(&text);
    buf_clear(&key);
    buf_clear(&shown);
    write_log_free(write_log);
}

static void test_the_oldest_go_first(void **state)
{
    struct err err;
    struct write_log *write_log = write_log_new(NULL, &err);
    struct buf text = {0};
    char name[32];
    for (int i = 1; i <= WRITE_LOG_KEPT + 2; i++) {
        snprintf(name, sizeof name, "n%d", i);
        add(write_log, name);
    }
    write_log_write(write_log, NULL, SIZE_MAX, &text);
    const char *first = strstr(buf_text(&text), "\"object\":");
    assert_memory_equal(first, "\"object\":\"shop/n3\"", 18);
    assert_non_null(strstr(first, "\"shop/n1002\""));
    assert_int_equal(write_log_total(write_log), WRITE_LOG_KEPT + 2);
    buf_clear(&text);
    write_log_free(write_log);
}

static void test_the_file_has_a_line_for_each(void **state)
{
    char path[] = "/tmp/kubelua-audit-XXXXXX", line[1024];
    struct err err;
    close(mkstemp(path));
    for (int i = 0; i < 2; i++) {
        struct write_log *write_log = write_log_new(path, &err);
        add(write_log, i ? "second" : "first");
        write_log_free(write_log);
    }
    FILE *file = fopen(path, "r");
    assert_non_null(fgets(line, sizeof line, file));
    assert_non_null(strstr(line, "\"shop/first\""));
    assert_string_equal(line + strlen(line) - 2, "}\n");
    assert_non_null(fgets(line, sizeof line, file));
    assert_non_null(strstr(line, "\"shop/second\""));
    assert_null(fgets(line, sizeof line, file));
    fclose(file);
    unlink(path);
}

static void test_a_file_that_cannot_be_opened_is_named(void **state)
{
    struct err err;
    assert_null(write_log_new("/no/such/folder/file", &err));
    assert_string_equal(err.text, "/no/such/folder/file: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_entry_has_all_of_a_write),
        cmocka_unit_test(test_a_long_text_is_cut),
        cmocka_unit_test(test_the_oldest_go_first),
        cmocka_unit_test(test_the_file_has_a_line_for_each),
        cmocka_unit_test(test_a_file_that_cannot_be_opened_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
