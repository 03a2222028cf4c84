/* See fixture.h. */
#include "core/audit/support/fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"

const struct report_options fixture_options = {.took_ms = 1234, .time_s = 1795374000, .source = "dump.json"};

static const struct audit_rule rules[] = {
    {.id = "image-tag",
     .title = "Images have a tag",
     .severity = SEVERITY_MEDIUM,
     .category = "images",
     .why = "Without one nobody knows what runs.",
     .how = "Name a version.",
     .file = "rules.lua",
     .line = 3},
    {.id = "privileged",
     .title = "No container is privileged",
     .severity = SEVERITY_CRITICAL,
     .category = "security",
     .why = "It is root on the node.",
     .how = "",
     .file = "rules.lua",
     .line = 14},
    {.id = "quiet",
     .title = "",
     .severity = SEVERITY_INFO,
     .category = "",
     .why = "",
     .how = "",
     .file = "rules.lua",
     .line = 25},
    {.id = "broken",
     .title = "A rule with a mistake",
     .severity = SEVERITY_LOW,
     .category = "tests",
     .why = "",
     .how = "",
     .file = "rules.lua",
     .line = 31},
};
enum { IMAGE_TAG, PRIVILEGED, QUIET, BROKEN };

static void say(struct audit_table *table, uint32_t rule, enum verdict verdict, const char *message,
                const char *path, const char *value)
{
    audit_table_add(table, &(const struct audit_row){.rule = rule,
                                                     .verdict = verdict,
                                                     .message = str_of(message),
                                                     .path = str_of(path),
                                                     .place = str_of(*path ? "spec.named" : ""),
                                                     .value = str_of(value)});
}

static void web(struct audit_table *table)
{
    static const struct audit_object pod = {.api_version = {"v1", 2},
                                            .kind = {"Pod", 3},
                                            .ns = {"shop", 4},
                                            .name = {"web-1", 5},
                                            .uid = {"6c1b7e55-0000-4000-8000-000000000001", 36},
                                            .file = {"manifests/web pod.yaml", 22},
                                            .line = 12};
    audit_table_begin_object(table, &pod);
    say(table, IMAGE_TAG, VERDICT_FAIL, "image \"nginx\" has no tag", "spec.containers[0].image",
        "\"nginx\"");
    say(table, IMAGE_TAG, VERDICT_FAIL, "image \"busybox\" has no tag", "spec.initContainers[0].image",
        "\"busybox\"");
    audit_table_count(table, IMAGE_TAG, VERDICT_FAIL);
    say(table, PRIVILEGED, VERDICT_FAIL, "container \"web\" is privileged",
        "spec.containers[0].securityContext", "{\"privileged\":true,\"runAsUser\":0}");
    audit_table_count(table, PRIVILEGED, VERDICT_FAIL);
    audit_table_count(table, QUIET, VERDICT_PASS);
    say(table, BROKEN, VERDICT_ERROR, "rules.lua:33: attempt to index a nil value", "", "");
    audit_table_count(table, BROKEN, VERDICT_ERROR);
}

/* What a text may hold that a format must not: markup, quotes, an escape of a terminal, what XML forbids,
 * bytes that are no UTF-8, and a line end. */
#define NASTY \
    "<b>&\"' ]]> \033[31m \x01 \xff \xef\xbf\xbe \xc2\x9b \x7f \xe2\x80\xae \xf0\x9f\x98\x80\nsecond"

static void nasty(struct audit_table *table)
{
    static const struct audit_object pod = {.api_version = {"v1", 2},
                                            .kind = {"Pod", 3},
                                            .ns = {"shop", 4},
                                            .name = {"</script>\033[2J", 13},
                                            .file = {"a/../b\n.json", 12},
                                            .line = 7};
    audit_table_begin_object(table, &pod);
    say(table, IMAGE_TAG, VERDICT_WARN, NASTY, "spec[\"<i>\"]", "\"<script>alert(1)</script>\"");
    audit_table_count(table, IMAGE_TAG, VERDICT_WARN);
    audit_table_add(table, &(const struct audit_row){.rule = PRIVILEGED,
                                                     .verdict = VERDICT_SKIP,
                                                     .message = STR("it is privileged"),
                                                     .path = STR("spec.x"),
                                                     .reason = STR("ours, until 2027-01-31"),
                                                     .accepted = true});
    audit_table_count(table, PRIVILEGED, VERDICT_SKIP);
    say(table, QUIET, VERDICT_SKIP, "not of ours", "", "");
    audit_table_count(table, QUIET, VERDICT_SKIP);
    audit_table_count(table, BROKEN, VERDICT_PASS);
}

static void node(struct audit_table *table)
{
    static const struct audit_object object = {
        .api_version = {"v1", 2}, .kind = {"Node", 4}, .name = {"node-1", 6}};
    audit_table_begin_object(table, &object);
    say(table, QUIET, VERDICT_WARN, "it is old", "", "");
    audit_table_count(table, QUIET, VERDICT_WARN);
}

struct audit_table *fixture_unsorted(bool keep_passes)
{
    struct audit_table *table = audit_table_new(keep_passes);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) audit_table_add_rule(table, &rules[i]);
    web(table);
    nasty(table);
    node(table);
    return table;
}

struct audit_table *fixture_table(bool keep_passes)
{
    struct audit_table *table = fixture_unsorted(keep_passes);
    audit_table_sort(table);
    return table;
}

struct audit_table *fixture_large(size_t rows, size_t rule_count)
{
    enum { NAMESPACES = 50 };
    struct audit_table *table = audit_table_new(false);
    char id[32], name[32], ns[16];
    for (size_t i = 0; i < rule_count; i++) {
        struct audit_rule rule = rules[i % 3];
        snprintf(id, sizeof id, "rule-%zu", i);
        rule.id = id;
        audit_table_add_rule(table, &rule);
    }
    for (size_t i = 0; i * rule_count < rows; i++) {
        snprintf(name, sizeof name, "web-%zu", i);
        snprintf(ns, sizeof ns, "team-%zu", i % NAMESPACES);
        const struct audit_object pod = {.api_version = STR("v1"),
                                         .kind = STR("Pod"),
                                         .ns = str_of(ns),
                                         .name = str_of(name),
                                         .file = STR("dump.json"),
                                         .line = i * 210 + 5};
        audit_table_begin_object(table, &pod);
        for (uint32_t r = 0; r < rule_count; r++) {
            say(table, r, VERDICT_FAIL, "image \"registry.example/shop/web\" has no tag",
                "spec.containers[0].image", "\"registry.example/shop/web\"");
            audit_table_count(table, r, VERDICT_FAIL);
        }
    }
    audit_table_sort(table);
    return table;
}

char *fixture_print(report_writer *write, const struct audit_table *table,
                    const struct report_options *options)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    write(table, options, out);
    fclose(out);
    return text;
}
