/* core/object/pack/image: objects of one process, found again by another. Each side runs in a child of its
 * own, as keys and shapes belong to the process. */
#include "core/object/support/objects.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/checked_file.h"
#include "base/mem.h"
#include "object/pack/image.h"
#include "object/pack/intern.h"

enum { OBJECTS = 3000, STATES = 4, GROUPS = 2 };

static const struct checked_format format = {"kuspec!", IMAGE_FORMAT};
static char path[64];

/* In a child, where an assertion has nobody to tell. */
static void check(bool ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "image_spec: %s\n", what);
    _exit(1);
}

static void in_child(void (*fn)(uint64_t seed), uint64_t seed)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        fn(seed);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* Pod `i` in its state `v`: with parts that all share, that some share, and that are its own. */
static char *state_text(uint64_t seed, int i, int v)
{
    struct random r = {seed + (uint64_t)i};
    struct buf text = {0}, expected = {0};
    buf_printf(
        &text,
        "{\"metadata\":{\"name\":\"pod-%d\",\"namespace\":\"ns-%d\",\"uid\":\"0f8fad5b-d9cb-469f-a165-%"
        "012d\","
        "\"resourceVersion\":\"%d\",\"labels\":{\"app\":\"the-app-number-%d\",\"tier\":\"a-frontend-tier\"},"
        "\"annotations\":{\"note\":\"%0*d\"}},\"spec\":{\"containers\":[",
        i, i % 7, i, 1000 + i * 10 + v, i % 50, 300 + (int)random_below(&r, 300), i % 50);
    for (int c = 0; c < 3; c++)
        buf_printf(&text,
                   "%s{\"name\":\"c%d\",\"image\":\"registry.example.com/team-%d/"
                   "image-of-it:v%d\",\"env\":[{\"name\":"
                   "\"SOME_LONG_NAME_%d\",\"value\":\"and a value that is long enough\"}]}",
                   c ? "," : "", c, i % 20, c, i % 90);
    buf_printf(&text, "]},\"status\":{\"phase\":\"Running\",\"generation\":%d,\"own\":", v);
    random_value(&r, 3, &text, &expected);
    buf_puts(&text, "}}");
    buf_clear(&expected);
    return buf_take(&text);
}

static struct root *pack_state(struct fixture *f, const char *text)
{
    char *copy = padded(str_of(text));
    struct pack_mark mark;
    struct root *root = pack_recall(f->packer, str_of(copy), &thing_type, &mark);
    if (!root) root = straight(f->packer, str_of(text));
    free(copy);
    if (!root) root = by_tape(f->packer, str_of(text));
    check(root != NULL, "an object is not packed");
    return root;
}

static void secret_pack(struct fixture *f, struct root **out)
{
    *out = pack_ok(
        f->packer,
        "{\"metadata\":{\"name\":\"s\",\"uid\":\"x\",\"resourceVersion\":\"1\"},\"data\":{\"password\":"
        "\"this-is-the-secret-that-nobody-may-find-on-the-disk\"},"
        "\"one\":{\"more\":\"this-is-the-secret-that-nobody-may-find-on-the-disk as well\"}}");
}

/* All objects in group 0, after some updates; every third in group 1 too; a Secret in none. */
static void save(uint64_t seed)
{
    struct fixture f;
    struct root *all[OBJECTS], *some[OBJECTS], *secret, *before;
    size_t few = 0;
    fixture_open(&f);
    secret_pack(&f, &secret);
    root_unref(secret);
    secret_pack(&f, &secret);
    for (int v = 0; v < STATES; v++)
        for (int i = 0; i < OBJECTS; i++) {
            char *text = state_text(seed, i, v);
            before = v ? all[i] : NULL;
            all[i] = pack_state(&f, text);
            root_unref(before);
            free(text);
        }
    for (int i = 0; i < OBJECTS; i += 3) some[few++] = all[i];
    const struct image_group groups[GROUPS] = {{all, OBJECTS}, {some, few}};
    int fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
    struct checked_out *out = checked_out_new(fd, &format);
    struct err err;
    image_save(f.pool, groups, GROUPS, out);
    check(checked_out_end(out, &err), "the file is not written");
    close(fd);
}

static struct pool *load(struct image_group *groups)
{
    struct err err;
    struct checked_in *in = checked_in_open(path, &format, &err);
    check(in != NULL, err.text);
    struct image *image = image_read(in, GROUPS);
    check(image != NULL && checked_in_end(in, &err), "the file is not read");
    checked_in_free(in);
    struct pool *pool = image_restore(image, NULL, groups, &err);
    check(pool != NULL, err.text);
    return pool;
}

static void check_equal(const struct root *root, const char *text)
{
    struct fixture fresh;
    fixture_open(&fresh);
    struct root *other = pack_state(&fresh, text);
    check(value_equal(root_value(root), root_value(other)), "an object differs");
    check(root_key_equal(root, other), "a key differs");
    root_unref(other);
    fixture_close(&fresh);
}

static void restore(uint64_t seed)
{
    struct image_group groups[GROUPS];
    struct fixture f = {.pool = load(groups)};
    f.packer = packer_new(f.pool);
    check(groups[0].count == OBJECTS && groups[1].count == (OBJECTS + 2) / 3, "the groups differ");
    check(pool_stats(f.pool).roots == OBJECTS, "there are other objects");
    for (int i = 0; i < OBJECTS; i++) {
        char *text = state_text(seed, i, STATES - 1);
        if (i % 50 == 0) check_equal(groups[0].objects[i], text);
        /* The same text is the same object, and a later state of it is packed beside it. */
        struct root *again = pack_state(&f, text);
        check(again == groups[0].objects[i], "an object is not found again");
        root_unref(again);
        free(text);
        text = state_text(seed, i, STATES);
        struct root *later = pack_state(&f, text);
        check(later != groups[0].objects[i], "a later state is the same");
        if (i % 50 == 1) check_equal(later, text);
        root_unref(groups[0].objects[i]);
        groups[0].objects[i] = later;
        free(text);
    }
    for (int g = 0; g < GROUPS; g++) {
        for (size_t i = 0; i < groups[g].count; i++) root_unref(groups[g].objects[i]);
        free(groups[g].objects);
    }
    check(pool_stats(f.pool).roots == 0 && pool_stats(f.pool).nodes == 0, "something is still alive");
    check(pool_stats(f.pool).used_bytes == 0, "memory is still in use");
    fixture_close(&f);
}

/* An image of an image: what was loaded can be saved. */
static void save_again(uint64_t seed)
{
    (void)seed;
    struct image_group groups[GROUPS];
    struct pool *pool = load(groups);
    int fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
    struct checked_out *out = checked_out_new(fd, &format);
    struct err err;
    image_save(pool, groups, GROUPS, out);
    check(checked_out_end(out, &err), "the file is not written");
    close(fd);
}

static void test_another_process_has_the_same_objects(void **state)
{
    (void)state;
    uint64_t seed = random_start("image_spec").state;
    in_child(save, seed);
    in_child(restore, seed);
    in_child(save_again, seed);
    in_child(restore, seed);
}

static char *read_all(size_t *size)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    assert_int_equal(fstat(fd, &st), 0);
    *size = (size_t)st.st_size;
    char *bytes = xmalloc(*size);
    assert_int_equal(read(fd, bytes, *size), st.st_size);
    close(fd);
    return bytes;
}

static void write_all(const char *bytes, size_t size)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

static void test_objects_that_are_left_out_leave_no_bytes(void **state)
{
    (void)state;
    size_t size;
    in_child(save, 7);
    char *bytes = read_all(&size);
    assert_null(memmem(bytes, size, "nobody-may-find", 15));
    assert_non_null(memmem(bytes, size, "registry.example.com", 20));
    free(bytes);
}

/* Reads a file that is not right: must refuse it, whatever its lengths say. */
static void refuse(uint64_t seed)
{
    (void)seed;
    struct err err = {0};
    struct checked_in *in = checked_in_open(path, &format, &err);
    if (!in) _exit(0);
    struct image *image = image_read(in, GROUPS);
    check(!checked_in_end(in, &err), "a damaged file is taken");
    check(strstr(err.text, "damaged") != NULL, err.text);
    checked_in_free(in);
    image_free(image);
}

static void test_damaged_files_are_refused(void **state)
{
    (void)state;
    enum { TRIES = 60 };
    size_t size;
    struct random r = random_start("image_spec damage");
    in_child(save, 7);
    char *bytes = read_all(&size);
    for (int i = 0; i < TRIES; i++) {
        /* Half of them near the front, where the lengths are. */
        size_t at = random_below(&r, (uint32_t)(i % 2 ? size : size / 64));
        char before = bytes[at];
        bytes[at] ^= (char)(1 << random_below(&r, 8));
        write_all(bytes, size);
        in_child(refuse, 0);
        bytes[at] = before;
        write_all(bytes, at);
        in_child(refuse, 0);
    }
    free(bytes);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_another_process_has_the_same_objects, remove_file),
        cmocka_unit_test_teardown(test_objects_that_are_left_out_leave_no_bytes, remove_file),
        cmocka_unit_test_teardown(test_damaged_files_are_refused, remove_file),
    };
    snprintf(path, sizeof path, "/tmp/kubelua-image-%d", getpid());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
