/* Settings of a file, and flags as text; see flags.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cli/flags_internal.h"
#include "base/text/size.h"

/* Returns whether the command line or the environment set the flag. */
static bool is_given(const struct flags_given *given, size_t count, const struct flag *flag)
{
    for (size_t i = 0; i < count; i++)
        if (given->items[i].flag == flag) return true;
    return false;
}

bool flags_know(const struct flag *const *tables, const struct flag_setting *setting, struct err *err)
{
    if (flag_find(tables, str_of(setting->name), 0)) return true;
    flag_unknown(tables, str_of(setting->name), "", err);
    return err_wrap(err, "%s", setting->where);
}

static bool apply(const struct flag *const *tables, const struct flag_setting *setting, size_t before,
                  struct flags_given *given, struct err *err)
{
    const struct flag *flag = flag_find(tables, str_of(setting->name), 0);
    if (!flag) return flags_know(tables, setting, err);
    if (is_given(given, before, flag)) return true;
    struct buf where = {0};
    buf_printf(&where, "%s: %s", setting->where, setting->name);
    bool ok = flag_set(flag, setting->value, buf_text(&where), NULL, err);
    buf_clear(&where);
    if (ok)
        *array_add(given->items, given->count) =
            (struct flag_given){flag, setting->value, xstrdup(setting->where), true};
    return ok;
}

bool flags_apply(const struct flag *const *tables, const struct flag_setting *settings, size_t count,
                 struct flags_given *given, struct err *err)
{
    size_t before = given->count;
    for (size_t i = 0; i < count; i++)
        if (!apply(tables, &settings[i], before, given, err)) return false;
    return true;
}

void flags_given_clear(struct flags_given *given)
{
    for (size_t i = 0; i < given->count; i++) free(given->items[i].where);
    free(given->items);
    *given = (struct flags_given){0};
}

/* "1h30m", "90s", "500ms", "0". */
static void duration_text(int64_t ms, struct buf *out)
{
    if (ms == 0) buf_putc(out, '0');
    if (ms >= 3600000) buf_printf(out, "%" PRId64 "h", ms / 3600000);
    if (ms % 3600000 >= 60000) buf_printf(out, "%" PRId64 "m", ms % 3600000 / 60000);
    if (ms % 60000 >= 1000) buf_printf(out, "%" PRId64 "s", ms % 60000 / 1000);
    if (ms % 1000) buf_printf(out, "%" PRId64 "ms", ms % 1000);
}

void flag_text(const struct flag *flag, struct buf *out)
{
    const char *text;
    char *list;
    switch (flag->kind) {
    case FLAG_BOOL: buf_puts(out, *(const bool *)flag->into ? "true" : "false"); break;
    case FLAG_INT:
    case FLAG_COUNT: buf_printf(out, "%d", *(const int *)flag->into); break;
    case FLAG_NUMBER: buf_printf(out, "%.15g", *(const double *)flag->into); break;
    case FLAG_DURATION_MS: duration_text(*(const int64_t *)flag->into, out); break;
    case FLAG_SIZE: size_text(*(const size_t *)flag->into, out); break;
    case FLAG_STRING:
    case FLAG_CHOICE:
    case FLAG_MODE:
        text = *(const char *const *)flag->into;
        if (text) buf_puts(out, text);
        break;
    case FLAG_LIST:
        list = flag_list_text(flag->into);
        buf_puts(out, list);
        free(list);
        break;
    }
}
