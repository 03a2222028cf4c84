/* Settings in force, for `kubelua config`; see admin_engine.h. */
#include <stdlib.h>
#include <string.h>

#include "app/admin/admin_engine.h"
#include "base/array.h"
#include "base/cli/flags.h"
#include "base/text/json_out.h"
#include "base/text/redact.h"

/* Flags whose values are nobody's business. */
static bool is_secret(const struct flag *flag)
{
    return strcmp(flag->name, "token") == 0;
}

/* Where the flag was set, each place once: a list may have several of one file. */
static void put_source(const struct flags_given *given, const struct flag *flag, struct buf *out)
{
    struct buf text = {0};
    const char *last = NULL;
    for (size_t i = 0; i < given->count; i++) {
        const struct flag_given *one = &given->items[i];
        if (one->flag != flag) continue;
        /* The last value of a flag that takes one is in force. */
        if (flag->kind != FLAG_LIST) text.len = 0;
        if (flag->kind != FLAG_LIST || !last || strcmp(last, one->where) != 0)
            buf_printf(&text, "%s%s", text.len ? ", " : "", one->where);
        last = one->where;
    }
    json_text(out, "source", text.len ? buf_text(&text) : "default");
    buf_clear(&text);
}

static void put_value(const struct flag *flag, struct buf *out)
{
    struct buf text = {0};
    flag_text(flag, &text);
    redact(&text); /* values of secret parameters */
    json_text(out, "value", text.len && is_secret(flag) ? "(hidden)" : buf_text(&text));
    buf_clear(&text);
}

void admin_put_config(const struct admin_engine *admin, struct buf *out)
{
    json_open(out, "settings", '[');
    for (const struct flag *const *table = admin->flags; table && *table; table++)
        for (const struct flag *flag = *table; flag->name; flag++) {
            json_open(out, NULL, '{');
            json_text(out, "name", flag->name);
            put_value(flag, out);
            put_source(admin->given, flag, out);
            json_close(out, '}');
        }
    json_close(out, ']');
}
