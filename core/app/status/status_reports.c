/* What `kubelua status` shows of reports in the cluster; see status_viewer.h. */
#include <inttypes.h>

#include "app/status/status_viewer.h"

static void put_count(struct viewer *v, size_t at, const char *member, const char *what, struct buf *out)
{
    int64_t count = viewer_int(v, at, member);
    if (count) buf_printf(out, ", %" PRId64 " %s", count, what);
}

static void put_cause(struct viewer *v, size_t at, const char *member, struct buf *out)
{
    struct str cause = viewer_text(v, at, member);
    if (cause.n) buf_printf(out, "; %.*s", STR_ARG(cause));
}

/* "reports: 12 PolicyReports, 2 to be written"; under a dry run nothing of that is in the cluster. */
void status_reports_print(struct viewer *v, size_t reports)
{
    struct buf line = {0};
    if (!reports) return;
    int64_t count = viewer_int(v, reports, "reports");
    buf_printf(&line, "%" PRId64 " %.*s%s", count, STR_ARG(viewer_text(v, reports, "kind")),
               count == 1 ? "" : "s");
    if (viewer_bool(v, reports, "dryRun")) buf_puts(&line, " if they were kept (--dry-run=server)");
    put_count(v, reports, "waiting", "to be written", &line);
    put_count(v, reports, "failed", "writes failed", &line);
    put_count(v, reports, "namespacesLeftOut", "namespaces without room", &line);
    if (!viewer_bool(v, reports, "begun")) buf_puts(&line, "; nothing is written before all was asked once");
    put_cause(v, reports, "incomplete", &line);
    put_cause(v, reports, "error", &line);
    viewer_print_line(v, "reports", &line);
    buf_clear(&line);
}
