/* Recordings: what is written is read again, by time; files that are cut off or broken are told, and never
 * more. */
#include "kube/recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/must.h"

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
    struct recording_writer *writer = begin(first, pods, 0);
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
    assert_int_equal(recording_writer_events(writer), 3);
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
    assert_string_equal(err.text, "/tmp: no regular file");
    write_file(first, "hello world", 11, "w");
    assert_null(recording_open(first, &err));
    assert_non_null(strstr(err.text, ": byte 0: no recording: it is not compressed by zstd"));
    write_file(first, "", 0, "w");
    assert_null(recording_open(first, &err));
    assert_non_null(strstr(err.text, ": no recording: it is empty"));
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
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
