/* Shared by the specs of core/audit's input; see inputs.h. */
#include "core/audit/support/inputs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "object/pack/pool.h"
#include "object/value/json.h"
#include "object/value/value.h"

static bool on_object(void *ctx, const struct audit_input_object *told)
{
    struct inputs *in = ctx;
    struct root *object = told->root;
    struct text a, b;
    buf_printf(&in->said, "%zu ", told->line);
    if (in->shows_objects) {
        json_write(&in->said, root_value(object));
    } else {
        buf_str(&in->said, value_str(value_field(root_value(object), STR("apiVersion")), &a));
        buf_putc(&in->said, ' ');
        buf_str(&in->said, value_str(value_field(root_value(object), STR("kind")), &b));
        buf_putc(&in->said, ' ');
        root_key(object, &in->said);
    }
    buf_putc(&in->said, '\n');
    return !in->stop_after || in->counts.objects < in->stop_after;
}

static void on_refused(void *ctx, const struct err *err)
{
    struct inputs *in = ctx;
    size_t n = strlen(in->folder) + 1;
    const char *text = err->text;
    assert_int_not_equal(err->code, ERR_NONE);
    if (strncmp(text, in->folder, n - 1) == 0) text += n;
    buf_printf(&in->said, "! %s\n", text);
}

int inputs_setup(void **state)
{
    struct inputs *in = NEW(struct inputs);
    in->pool = pool_new(NULL);
    strcpy(in->folder, "/tmp/kubelua_inputs_XXXXXX");
    assert_non_null(mkdtemp(in->folder));
    in->sink = (struct audit_input_sink){.object = on_object, .refused = on_refused, .ctx = in};
    in->options = (struct audit_input_options){.packer = packer_new(in->pool), .sink = &in->sink, .ctx = in};
    *state = in;
    return 0;
}

static void remove_all(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        char *path = xasprintf("%s/%s", folder, entry->d_name);
        if (unlink(path) != 0) remove_all(path);
        free(path);
    }
    if (dir) closedir(dir);
    rmdir(folder);
}

int inputs_teardown(void **state)
{
    struct inputs *in = *state;
    remove_all(in->folder);
    buf_clear(&in->said);
    packer_free(in->options.packer);
    assert_int_equal(pool_stats(in->pool).used_bytes, 0);
    pool_free(in->pool);
    free(in);
    return 0;
}

const char *inputs_write(struct inputs *in, const char *name, struct str content)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", in->folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(content.p, 1, content.n, file), content.n);
    assert_int_equal(fclose(file), 0);
    return path;
}

const char *inputs_read(struct inputs *in, const char *path)
{
    struct err err;
    in->said.len = 0;
    in->counts = (struct audit_input_counts){0};
    if (!audit_input_read(&in->options, path, &in->counts, &err)) fail_msg("%s", err.text);
    return buf_text(&in->said);
}

const char *inputs_say(struct inputs *in, struct str content)
{
    return inputs_read(in, inputs_write(in, "x", content));
}
