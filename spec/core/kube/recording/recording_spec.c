/* Recordings: what is written is read again, by time; files that are cut off or broken are told, and never
 * more. */
#include "kube/recording/recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

#include "base/mem.h"
#include "base/must.h"
#include "object/parse/tape.h"

static char folder[] = "/tmp/kubelua-spec-XXXXXX", first[64], second[64], both[64];

static char group[] = "apps", version[] = "v1", pods[] = "pods", pod[] = "Pod", all[] = "", shop[] = "shop",
            selector[] = "app=web";

static struct recording_stream stream(char *plural, int64_t begin_us)
{
    return (struct recording_stream){.resource = {group, version, plural, pod, true},
                                     .namespace_ = shop,
                                     .label_selector = selector,
                                     .field_selector = all,
                                     .begin_us = begin_us};
}

static struct recording_writer *begin(const char *path, char *plural, int64_t begin_us)
{
    const struct recording_stream head = stream(plural, begin_us);
    struct err err;
    unlink(path);
    struct recording_writer *writer = recording_writer_new(path, &head, &err);
    assert_non_null(writer);
    return writer;
}

static void end(struct recording_writer *writer)
{
    struct err err;
    assert_true(recording_writer_end(writer, &err));
}

static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "r");
    char *data = xmalloc(1 << 20);
    *size = fread(data, 1, 1 << 20, file);
    fclose(file);
    return data;
}

static void write_file(const char *path, const char *data, size_t size, const char *mode)
{
    FILE *file = fopen(path, mode);
    must(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

/* A frame of these lines, as no writer would have it. */
static void write_frame(const char *path, const char *text, const char *mode)
{
    size_t room = ZSTD_compressBound(strlen(text));
    char *frame = xmalloc(room);
    write_file(path, frame, ZSTD_compress(frame, room, text, strlen(text), 1), mode);
    free(frame);
}

/* Two streams in one file, their events in turns. */
static int set_up(void **state)
{
    struct recording_writer *a = begin(first, pods, 1000), *b = begin(second, group, 2000);
    size_t size;
    recording_writer_put(a, RECORDING_ITEM, 1500, STR("{\"n\":1,\"object\":{\"x\":\"}\"}}"));
    recording_writer_put(a, RECORDING_LISTED, 1501, STR("77"));
    recording_writer_put(a, RECORDING_ADDED, 4000, STR("{\"n\":3}"));
    recording_writer_put(a, RECORDING_DELETED, 9000, STR("{\"n\":5}"));
    recording_writer_put(b, RECORDING_MODIFIED, 2100, STR("{\"n\":2}"));
    recording_writer_put(b, RECORDING_MODIFIED, 5000, STR("{\"n\":4}"));
    end(a);
    end(b);
    char *data = read_file(first, &size);
    write_file(both, data, size, "w");
    free(data);
    data = read_file(second, &size);
    write_file(both, data, size, "a");
    free(data);
    return 0;
}

static int tear_down(void **state)
{
    unlink(first);
    unlink(second);
    unlink(both);
    return 0;
}

static void all_streams_come_by_their_times(void **state)
{
    static const struct {
        enum recording_type type;
        int64_t at_us;
        const char *object;
    } expected[] = {
        {RECORDING_ITEM, 1500, "{\"n\":1,\"object\":{\"x\":\"}\"}}"},
        {RECORDING_LISTED, 1501, ""},
        {RECORDING_MODIFIED, 2100, "{\"n\":2}"},
        {RECORDING_ADDED, 4000, "{\"n\":3}"},
        {RECORDING_MODIFIED, 5000, "{\"n\":4}"},
        {RECORDING_DELETED, 9000, "{\"n\":5}"},
    };
    struct recording_record record;
    struct err err;
    struct recording *recording = recording_open(both, &err);
    assert_int_equal(recording_stream_count(recording), 2);
    const struct recording_stream *head = recording_stream_at(recording, 0);
    assert_string_equal(head->resource.plural, "pods");
    assert_string_equal(head->resource.group, "apps");
    assert_string_equal(head->namespace_, "shop");
    assert_string_equal(head->label_selector, "app=web");
    assert_true(head->resource.namespaced);
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        assert_int_equal(recording_next(recording, &record, &err), RECORDING_RECORD);
        assert_int_equal(record.type, expected[i].type);
        assert_int_equal(record.at_us, expected[i].at_us);
        assert_true(str_is(record.object, expected[i].object));
    }
    assert_int_equal(recording_next(recording, &record, &err), RECORDING_END);
    recording_close(recording);
}

/* Reads all there is; gives how many records, and how often it was told that something is broken. */
static size_t read_all(struct recording *recording, size_t *broken)
{
    struct recording_record record;
    struct err err;
    enum recording_result result;
    size_t count = 0;
    *broken = 0;
    while ((result = recording_next(recording, &record, &err)) != RECORDING_END) {
        if (result == RECORDING_BROKEN)
            ++*broken;
        else
            count++;
    }
    return count;
}

static void a_file_cut_anywhere_is_read_as_far_as_it_goes(void **state)
{
    size_t size, whole = 0, broken;
    char *data = read_file(both, &size);
    for (size_t cut = 0; cut < size; cut++) {
        struct err err;
        write_file(first, data, cut, "w");
        struct recording *recording = recording_open(first, &err);
        if (!recording) {
            assert_int_equal(err.code, ERR_PARSE);
            continue;
        }
        size_t count = read_all(recording, &broken);
        bool at_border = recording_stream_count(recording) == 1 && count == 4 && broken == 0;
        assert_true(broken == 1 || at_border);
        whole += at_border;
        recording_close(recording);
    }
    assert_int_equal(whole, 1);
    free(data);
}

static void what_is_put_is_read_before_the_end_once_it_was_flushed(void **state)
{
    struct recording_writer *writer = begin(first, pods, 1);
    size_t broken;
    struct err err;
    recording_writer_put(writer, RECORDING_ADDED, 1, STR("{\"n\":1}"));
    recording_writer_put(writer, RECORDING_ADDED, 2, STR("{\"n\":2}"));
    recording_writer_flush(writer);
    recording_writer_put(writer, RECORDING_ADDED, 3, STR("{\"n\":3}"));
    struct recording *recording = recording_open(first, &err);
    assert_non_null(recording);
    assert_int_equal(read_all(recording, &broken), 2);
    assert_int_equal(broken, 1);
    recording_close(recording);
    end(writer);
}

static void a_flipped_byte_is_told_and_nothing_worse(void **state)
{
    size_t size, broken;
    char *data = read_file(both, &size);
    for (size_t i = 0; i < size; i++) {
        struct err err;
        data[i] ^= 0x55;
        write_file(first, data, size, "w");
        data[i] ^= 0x55;
        struct recording *recording = recording_open(first, &err);
        if (recording) read_all(recording, &broken);
        recording_close(recording);
    }
    free(data);
}

static void what_is_no_recording_is_named(void **state)
{
    struct err err;
    assert_null(recording_open("/nowhere/a.rec", &err));
    assert_int_equal(err.code, ERR_IO);
    assert_null(recording_open("/tmp", &err));
    assert_string_equal(err.text, "/tmp: not a regular file");
    write_file(first, "hello world", 11, "w");
    assert_null(recording_open(first, &err));
    assert_non_null(strstr(err.text, ": byte 0: not a recording: not compressed with zstd"));
    write_file(first, "", 0, "w");
    assert_null(recording_open(first, &err));
    assert_non_null(strstr(err.text, ": empty file"));
}

#define HEAD(begin_us)                   \
    "{\"kubelua_recording\":1," begin_us \
    "\"group\":\"\",\"version\":\"v1\",\"kind\":\"Pod\",\"plural\":\"pods\"}\n"

static void a_head_with_a_nul_byte_is_refused(void **state)
{
    struct err err;
    write_frame(first,
                "{\"kubelua_recording\":1,\"begin_us\":1,\"group\":\"\",\"version\":\"v1\",\"kind\":\"Pod\","
                "\"plural\":\"pods\",\"namespace\":\"\\u0000shop\"}\n",
                "w");
    assert_null(recording_open(first, &err));
    assert_non_null(strstr(err.text, "its texts must not contain a NUL byte"));
}

static void a_beginning_that_is_no_time_is_refused(void **state)
{
    static const char *const heads[] = {
        HEAD(""),
        HEAD("\"begin_us\":0,"),
        HEAD("\"begin_us\":-5000000,"),
        HEAD("\"begin_us\":1e15,"),
        HEAD("\"begin_us\":7258118400000000,"),
        HEAD("\"begin_us\":100000000000000000,"),
        HEAD("\"begin_us\":9223372036854775807,"),
    };
    struct err err;
    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        write_frame(first, heads[i], "w");
        assert_null(recording_open(first, &err));
        assert_non_null(strstr(err.text, "/a: byte "));
        assert_non_null(
            strstr(err.text, "line 1 of the stream that begins at byte 0: begin_us is not a time"));
    }
    write_frame(first, HEAD("\"begin_us\":7258118399999999,"), "w");
    struct recording *recording = recording_open(first, &err);
    assert_non_null(recording);
    recording_close(recording);
}

static void a_record_that_makes_no_sense_ends_its_stream_and_is_told_with_its_place(void **state)
{
    static const struct {
        const char *line, *why;
    } bad[] = {
        {"{\"at_us\":-1,\"type\":\"LISTED\"}", "at_us is not a number of microseconds from 0 to ten years"},
        {"{\"at_us\":315360000000001,\"type\":\"LISTED\"}", "at_us is not a number"},
        {"{\"at_us\":9223372036854775807,\"type\":\"LISTED\"}", "at_us is not a number"},
        {"{\"type\":\"LISTED\"}", "at_us is not a number"},
        {"{\"at_us\":1,\"type\":\"GONE\"}", "a line of an unknown type"},
        {"{\"at_us\":1,\"type\":\"ADDED\"}", "a line without its object"},
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct recording_record record;
        struct err err;
        char text[512];
        snprintf(text, sizeof text,
                 "%s{\"at_us\":0,\"type\":\"LISTED\"}\n%s\n{\"at_us\":2,\"type\":\"LISTED\"}\n",
                 HEAD("\"begin_us\":5,"), bad[i].line);
        write_frame(first, text, "w");
        struct recording *recording = recording_open(first, &err);
        assert_non_null(recording);
        assert_int_equal(recording_next(recording, &record, &err), RECORDING_RECORD);
        assert_int_equal(recording_next(recording, &record, &err), RECORDING_BROKEN);
        assert_non_null(strstr(err.text, "line 3 of the stream that begins at byte 0: "));
        assert_non_null(strstr(err.text, bad[i].why));
        assert_int_equal(recording_next(recording, &record, &err), RECORDING_END);
        recording_close(recording);
    }
}

/* The text that the parser gives is in the message once, and whole. */
static void what_is_no_json_is_told_as_the_parser_has_it(void **state)
{
    struct recording_record record;
    struct err plain, err;
    struct tape tape;
    struct tape_parser *parser = tape_parser_new();
    char json[TAPE_PADDING + 8] = "{\"a\":}";
    assert_false(tape_parse(parser, json, strlen(json), &tape, &plain));
    tape_parser_free(parser);
    write_frame(first, HEAD("\"begin_us\":5,") "{\"a\":}\n", "w");
    struct recording *recording = recording_open(first, &err);
    assert_int_equal(recording_next(recording, &record, &err), RECORDING_BROKEN);
    const char *behind = strstr(err.text, "begins at byte 0: ");
    assert_non_null(behind);
    assert_string_equal(behind + strlen("begins at byte 0: "), plain.text);
    assert_int_equal(strncmp(err.text, first, strlen(first)), 0);
    recording_close(recording);
    write_frame(first, "{\"a\":}\n", "w");
    assert_null(recording_open(first, &err));
    behind = strstr(err.text, "begins at byte 0: ");
    assert_non_null(behind);
    assert_string_equal(behind + strlen("begins at byte 0: "), plain.text);
}

static void a_first_line_has_a_bound_of_its_own(void **state)
{
    struct err err;
    char *text = xmalloc(70 << 10);
    memset(text, ' ', 70 << 10);
    memcpy(text, "{\"a\":1", 6);
    memcpy(text + (70 << 10) - 3, "}\n", 3);
    write_frame(first, text, "w");
    free(text);
    assert_null(recording_open(first, &err));
    assert_non_null(strstr(err.text, "a line is longer than 64 KiB"));
}

/* One stream has a list, one goes on without one, one has nothing at all, and one is cut off in its list. */
static void first_lists_come_before_all_else_whatever_the_other_streams_have(void **state)
{
    static const struct {
        enum recording_type type;
        int64_t at_us;
    } lists[] = {{RECORDING_ITEM, 15}, {RECORDING_ITEM, 25}, {RECORDING_LISTED, 35}},
      rest[] = {{RECORDING_ADDED, 17}, {RECORDING_ADDED, 20}, {RECORDING_ITEM, 45}};
    struct recording_record record;
    struct err err;
    write_frame(first,
                HEAD("\"begin_us\":5,") "{\"at_us\":20,\"type\":\"ITEM\",\"object\":{}}\n"
                                        "{\"at_us\":30,\"type\":\"LISTED\"}\n{\"at_us\":40,\"type\":\"ITEM\","
                                        "\"object\":{}}\n",
                "w");
    write_frame(first,
                HEAD("\"begin_us\":10,") "{\"at_us\":7,\"type\":\"ADDED\",\"object\":{}}\n"
                                         "{\"at_us\":10,\"type\":\"ADDED\",\"object\":{}}\n",
                "a");
    write_frame(first, HEAD("\"begin_us\":1,"), "a");
    write_frame(first, HEAD("\"begin_us\":5,") "{\"at_us\":10,\"type\":\"ITEM\",\"object\":{}}\n{", "a");
    struct recording *recording = recording_open(first, &err);
    assert_non_null(recording);
    for (size_t i = 0, broken = 0; i < ARRAY_LEN(lists); i++) {
        enum recording_result result = recording_next_of_lists(recording, &record, &err);
        if (result == RECORDING_BROKEN && broken++ == 0)
            result = recording_next_of_lists(recording, &record, &err);
        assert_int_equal(result, RECORDING_RECORD);
        assert_int_equal(record.type, lists[i].type);
        assert_int_equal(record.at_us, lists[i].at_us);
    }
    assert_int_equal(recording_next_of_lists(recording, &record, &err), RECORDING_END);
    for (size_t i = 0; i < ARRAY_LEN(rest); i++) {
        assert_int_equal(recording_next(recording, &record, &err), RECORDING_RECORD);
        assert_int_equal(record.type, rest[i].type);
        assert_int_equal(record.at_us, rest[i].at_us);
    }
    assert_int_equal(recording_next(recording, &record, &err), RECORDING_END);
    recording_close(recording);
}

static void a_file_is_new_and_its_owners_alone(void **state)
{
    const struct recording_stream head = stream(pods, 1000);
    struct err err;
    struct stat st;
    assert_null(recording_writer_new(first, &head, &err));
    assert_non_null(strstr(err.text, "/a: File exists"));
    unlink(first);
    mode_t mask = umask(0);
    end(begin(first, pods, 1000));
    umask(mask);
    assert_int_equal(stat(first, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void a_clock_that_is_set_back_writes_no_time_before_the_beginning(void **state)
{
    struct recording_writer *writer = begin(first, pods, 5000);
    struct recording_record record;
    struct err err;
    recording_writer_put(writer, RECORDING_ADDED, 1, STR("{}"));
    recording_writer_put(writer, RECORDING_ADDED, INT64_MAX, STR("{}"));
    end(writer);
    struct recording *recording = recording_open(first, &err);
    assert_int_equal(recording_next(recording, &record, &err), RECORDING_RECORD);
    assert_int_equal(record.at_us, 5000);
    assert_int_equal(recording_next(recording, &record, &err), RECORDING_RECORD);
    assert_int_equal(record.at_us, 5000 + RECORDING_AT_MAX_US);
    recording_close(recording);
}

static int make_folder(void **state)
{
    must(mkdtemp(folder));
    snprintf(first, sizeof first, "%s/a", folder);
    snprintf(second, sizeof second, "%s/b", folder);
    snprintf(both, sizeof both, "%s/both", folder);
    return 0;
}

static int remove_folder(void **state)
{
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_streams_come_by_their_times, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_cut_anywhere_is_read_as_far_as_it_goes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_put_is_read_before_the_end_once_it_was_flushed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_flipped_byte_is_told_and_nothing_worse, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_recording_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_is_new_and_its_owners_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_head_with_a_nul_byte_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_beginning_that_is_no_time_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_record_that_makes_no_sense_ends_its_stream_and_is_told_with_its_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_json_is_told_as_the_parser_has_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_first_line_has_a_bound_of_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(first_lists_come_before_all_else_whatever_the_other_streams_have,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_clock_that_is_set_back_writes_no_time_before_the_beginning, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
