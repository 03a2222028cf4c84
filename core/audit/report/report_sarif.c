/* The report as SARIF 2.1.0 for code hosts and editors: a rule's `why` and `how` are its help, an accepted
 * finding is a suppressed result, and an error of a rule is a notification of the run. */
#include <unistd.h>

#include "audit/found/finding_key.h"
#include "audit/report/report_parts.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/text/json_out.h"

static const char *const levels[] = {"note", "note", "warning", "error", "error"};
/* Scores by which code hosts rank: above 9 is critical, from 7 up high, from 4 up medium. */
static const char *const scores[] = {"0.0", "3.0", "5.5", "8.0", "9.5"};

static void put_message(struct buf *out, const char *key, struct str text)
{
    json_open(out, key, '{');
    json_str(out, "text", text);
    json_close(out, '}');
}

/* --- rules */

/* Appends "ImageTag" for "image-tag". */
static void put_rule_name(struct buf *out, const char *id)
{
    struct buf name = {0};
    bool upper = true;
    for (const char *p = id; *p; p++) {
        bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9');
        if (letter) buf_putc(&name, upper && *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p);
        upper = !letter;
    }
    json_str(out, "name", buf_slice(&name));
    buf_clear(&name);
}

static void put_help(struct buf *out, const struct audit_rule *rule)
{
    struct buf text = {0}, markdown = {0};
    const char *title = nonempty(rule->title) ? rule->title : rule->id;
    buf_puts(&text, title);
    buf_printf(&markdown, "# %s\n", title);
    if (*rule->why) {
        buf_printf(&text, "\n\nWhy: %s", rule->why);
        buf_printf(&markdown, "\n## Why it matters\n\n%s\n", rule->why);
    }
    if (*rule->how) {
        buf_printf(&text, "\n\nWhat to do: %s", rule->how);
        buf_printf(&markdown, "\n## What to do\n\n%s\n", rule->how);
    }
    json_open(out, "help", '{');
    json_str(out, "text", buf_slice(&text));
    json_str(out, "markdown", buf_slice(&markdown));
    json_close(out, '}');
    buf_clear(&text);
    buf_clear(&markdown);
}

static void put_rule(struct buf *out, const struct audit_rule *rule)
{
    const char *title = nonempty(rule->title) ? rule->title : rule->id;
    json_open(out, NULL, '{');
    json_text(out, "id", rule->id);
    put_rule_name(out, rule->id);
    put_message(out, "shortDescription", str_of(title));
    put_message(out, "fullDescription", str_of(nonempty(rule->why) ? rule->why : title));
    put_help(out, rule);
    json_open(out, "defaultConfiguration", '{');
    json_text(out, "level", levels[rule->severity]);
    json_close(out, '}');
    json_open(out, "properties", '{');
    json_text(out, "severity", severity_name(rule->severity));
    json_text(out, "security-severity", scores[rule->severity]);
    json_open(out, "tags", '[');
    if (*rule->category) json_text(out, NULL, rule->category);
    json_close(out, ']');
    json_close(out, '}');
    json_close(out, '}');
}

/* --- locations */

/* Appends a path as a URI reference: relative if it is below the working directory. */
static void put_uri(struct buf *out, struct str file)
{
    struct buf uri = {0};
    char here[4096];
    if (file.n && *file.p == '/') {
        struct str folder = str_of(getcwd(here, sizeof here));
        if (folder.n > 1 && str_starts(file, folder) && file.n > folder.n + 1 && file.p[folder.n] == '/')
            file = (struct str){file.p + folder.n + 1, file.n - folder.n - 1};
        else
            buf_puts(&uri, "file://");
    }
    while (str_starts(file, STR("./"))) file = (struct str){file.p + 2, file.n - 2};
    for (size_t i = 0; i < file.n; i++) {
        unsigned char c = (unsigned char)file.p[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     (c && strchr("-._~/", c));
        buf_printf(&uri, plain ? "%c" : "%%%02X", c);
    }
    json_str(out, "uri", buf_slice(&uri));
    buf_clear(&uri);
}

static void put_physical(struct buf *out, const struct audit_object *object)
{
    if (!object->file.n) return;
    json_open(out, "physicalLocation", '{');
    json_open(out, "artifactLocation", '{');
    put_uri(out, object->file);
    json_close(out, '}');
    if (object->line) {
        json_open(out, "region", '{');
        json_int(out, "startLine", (int64_t)object->line);
        json_close(out, '}');
    }
    json_close(out, '}');
}

static void put_locations(struct buf *out, const struct audit_object *object, struct str path)
{
    struct buf name = {0};
    report_put_object(&name, object, '/');
    if (path.n) {
        buf_putc(&name, '/');
        buf_str(&name, path);
    }
    json_open(out, "locations", '[');
    json_open(out, NULL, '{');
    put_physical(out, object);
    json_open(out, "logicalLocations", '[');
    json_open(out, NULL, '{');
    json_str(out, "name", path.n ? path : object->name);
    json_str(out, "fullyQualifiedName", buf_slice(&name));
    json_text(out, "kind", path.n ? "property" : "resource");
    json_close(out, '}');
    json_close(out, ']');
    json_close(out, '}');
    json_close(out, ']');
    buf_clear(&name);
}

/* --- results */

static bool is_result(const struct audit_row *row)
{
    return row->verdict == VERDICT_FAIL || row->verdict == VERDICT_WARN || row->accepted;
}

static void put_suppression(struct buf *out, const struct audit_object *object, const struct audit_row *row)
{
    json_open(out, "suppressions", '[');
    json_open(out, NULL, '{');
    json_text(out, "kind", object->file.n ? "inSource" : "external");
    json_text(out, "status", "accepted");
    json_str_unless_empty(out, "justification", row->reason);
    json_close(out, '}');
    json_close(out, ']');
}

/* Returns the level of a row; a warning is never an error. */
static const char *level_of(const struct audit_rule *rule, const struct audit_row *row)
{
    enum severity severity = rule->severity;
    if (row->verdict == VERDICT_WARN && severity > SEVERITY_MEDIUM) severity = SEVERITY_MEDIUM;
    return levels[severity];
}

/* Appends the text of a result. The reason of an acceptance is in the suppression; the reason why it ended is
 * here. */
static void put_text(struct buf *out, const struct audit_row *row, struct str title)
{
    struct buf message = {0};
    if (row->accepted)
        buf_str(&message, row->message);
    else
        audit_row_put_message(&message, row);
    put_message(out, "message", message.len ? buf_slice(&message) : title);
    buf_clear(&message);
}

static void put_result(struct buf *out, const struct audit_table *table, const struct audit_row *row)
{
    const struct audit_rule *rule = audit_table_rule(table, row->rule);
    const struct audit_object *object = audit_table_object(table, row->object);
    char fingerprint[FINDING_KEY_SIZE];
    struct str title = str_of(nonempty(rule->title) ? rule->title : rule->id);
    json_open(out, NULL, '{');
    json_text(out, "ruleId", rule->id);
    json_int(out, "ruleIndex", row->rule);
    json_text(out, "level", level_of(rule, row));
    put_text(out, row, title);
    put_locations(out, object, row->path);
    finding_key(rule, object, row, fingerprint);
    json_open(out, "partialFingerprints", '{');
    json_text(out, "kubeluaFinding/v1", fingerprint);
    json_close(out, '}');
    if (row->accepted) put_suppression(out, object, row);
    if (row->value.n) {
        json_open(out, "properties", '{');
        report_put_json(out, "value", row->value);
        json_close(out, '}');
    }
    json_close(out, '}');
}

/* --- the run */

static void put_notification(struct buf *out, const struct audit_table *table, const struct audit_row *row)
{
    const struct audit_rule *rule = audit_table_rule(table, row->rule);
    json_open(out, NULL, '{');
    put_message(out, "message", row->message);
    json_text(out, "level", "error");
    json_open(out, "associatedRule", '{');
    json_text(out, "id", rule->id);
    json_int(out, "index", row->rule);
    json_close(out, '}');
    put_locations(out, audit_table_object(table, row->object), STR(""));
    json_close(out, '}');
}

static void put_invocation(struct buf *text, const struct audit_table *table,
                           const struct report_options *options, FILE *out)
{
    size_t count = audit_table_count_rows(table), errors = 0;
    json_open(text, "invocations", '[');
    json_open(text, NULL, '{');
    json_bool(text, "executionSuccessful",
              !options->incomplete && audit_table_totals(table).verdicts[VERDICT_ERROR] == 0);
    json_time(text, "startTimeUtc", options->time_s * 1000000);
    json_time(text, "endTimeUtc", (options->time_s + options->took_ms / 1000) * 1000000);
    json_open(text, "toolExecutionNotifications", '[');
    if (options->incomplete) {
        report_begin_item(text, errors++);
        json_open(text, NULL, '{');
        json_text(text, "level", "error");
        json_open(text, "message", '{');
        json_text(text, "text", options->incomplete);
        json_close(text, '}');
        json_close(text, '}');
    }
    for (size_t i = 0; i < count; i++) {
        const struct audit_row *row = audit_table_row(table, i);
        if (row->verdict != VERDICT_ERROR) continue;
        report_begin_item(text, errors++);
        put_notification(text, table, row);
        report_write(text, out);
    }
    json_close(text, ']');
    json_close(text, '}');
    json_close(text, ']');
}

static void put_tool(struct buf *text, const struct audit_table *table, FILE *out)
{
    json_open(text, "tool", '{');
    json_open(text, "driver", '{');
    json_text(text, "name", "kubelua");
    json_text(text, "semanticVersion", KUBELUA_VERSION);
    json_open(text, "rules", '[');
    for (uint32_t i = 0; i < audit_table_rule_count(table); i++) {
        report_begin_item(text, i);
        put_rule(text, audit_table_rule(table, i));
        report_write(text, out);
    }
    json_close(text, ']');
    json_close(text, '}');
    json_close(text, '}');
}

static void put_results(struct buf *text, const struct audit_table *table, FILE *out)
{
    size_t count = audit_table_count_rows(table), results = 0;
    json_open(text, "results", '[');
    for (size_t i = 0; i < count; i++) {
        const struct audit_row *row = audit_table_row(table, i);
        if (!is_result(row)) continue;
        report_begin_item(text, results++);
        put_result(text, table, row);
        report_write(text, out);
    }
    json_close(text, ']');
}

void report_sarif(const struct audit_table *table, const struct report_options *options, FILE *out)
{
    struct buf text = {0};
    json_open(&text, NULL, '{');
    json_text(&text, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json_text(&text, "version", "2.1.0");
    json_open(&text, "runs", '[');
    json_open(&text, NULL, '{');
    put_tool(&text, table, out);
    put_invocation(&text, table, options, out);
    put_results(&text, table, out);
    buf_puts(&text, "}]}\n");
    report_finish(&text, out);
}
