/* What is in quarantine; see quarantined.h. */
#include "quarantined.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/series/series.h"

static void show(void *ctx, const struct script_quarantine_status *status)
{
    struct shown *shown = ctx;
    shown->count++;
    snprintf(shown->id, sizeof shown->id, "%s", status->id);
    snprintf(shown->why, sizeof shown->why, "%s", status->why);
    shown->skipped = status->skipped;
}

struct shown shown_of(const struct script *script)
{
    struct shown shown = {0};
    script_each_quarantine(script, show, &shown);
    return shown;
}

void assert_series(const char *line)
{
    struct buf page = {0};
    series_render(&page);
    if (!strstr(buf_text(&page), line)) fail_msg("%s is not there", line);
    buf_clear(&page);
}
