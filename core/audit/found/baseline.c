/* Known findings; see baseline.h. */
#include "audit/found/baseline.h"

#include <stdlib.h>
#include <string.h>

#include "audit/found/finding_key.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/number_map.h"
#include "kube/kinds/resource.h"
#include "object/parse/tape.h"

enum { FILE_MAX = 1 << 30 };

/* Findings of one key. `taken` counts since `round` began. */
struct baseline_key {
    uint64_t hash;
    uint32_t count, taken, round;
};

/* Keys by their hashes. Two of 2^64 that are equal by chance would hide one finding. */
struct baseline {
    struct number_map known;
    size_t old;     /* findings without a fingerprint */
    uint32_t round; /* the current round */
};

static bool take(const struct baseline *baseline, uint64_t hash)
{
    struct baseline_key *known = number_map_find(&baseline->known, hash, sizeof *known);
    if (!known) return false;
    if (known->round != baseline->round) known->taken = 0;
    known->round = baseline->round;
    if (known->taken == known->count) return false;
    known->taken++;
    return true;
}

/* --- keys */

/* Key of findings in reports from before fingerprints. */
struct old_key {
    struct str rule, api_version, kind, ns, name, path;
};

static uint64_t hash_of_old(const struct old_key *key)
{
    struct buf text = {0};
    struct str group, version;
    api_version_cut(key->api_version, &group, &version);
    const struct str parts[] = {key->rule, group, key->kind, key->ns, key->name, key->path};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        buf_str(&text, parts[i]);
        buf_putc(&text, '\0');
    }
    uint64_t hash = hash_key(buf_slice(&text));
    buf_clear(&text);
    return hash;
}

static struct str field(const struct tape *tape, size_t at, const char *name)
{
    struct str text = tape_str(tape, tape_field(tape, at, str_of(name)));
    return text.p ? text : STR("");
}

static bool add_result(struct baseline *baseline, const struct tape *tape, size_t at)
{
    if (tape_type(tape, at) != '{') return false;
    const struct old_key key = {
        .rule = field(tape, at, "rule"),
        .api_version = field(tape, at, "apiVersion"),
        .kind = field(tape, at, "kind"),
        .ns = field(tape, at, "namespace"),
        .name = field(tape, at, "name"),
        .path = field(tape, at, "path"),
    };
    struct str result = field(tape, at, "result"), fingerprint = field(tape, at, "fingerprint");
    if (!key.rule.n || !key.kind.n || !result.n) return false;
    if (!str_is(result, "fail") && !str_is(result, "warn")) return true;
    struct baseline_key *known = number_map_add(
        &baseline->known, fingerprint.n ? hash_key(fingerprint) : hash_of_old(&key), sizeof *known);
    known->count++;
    baseline->old += fingerprint.n == 0;
    return true;
}

static bool add_results(struct baseline *baseline, const char *path, const struct tape *tape, struct err *err)
{
    size_t root = tape_root(tape), results = tape_field(tape, root, STR("results")), n = 0;
    if (tape_type(tape, results) != '[')
        return err_set(err, ERR_INVALID, "%s: contains no results; create it with kubelua audit -o json",
                       path);
    for (size_t at = tape_first(tape, results, NULL); at; at = tape_next(tape, results, at, NULL), n++)
        if (!add_result(baseline, tape, at))
            return err_set(err, ERR_INVALID, "%s: results[%zu] has no rule, kind or result", path, n);
    return true;
}

struct baseline *baseline_read(const char *path, struct err *err)
{
    struct baseline *baseline = NEW(struct baseline);
    struct tape_parser *parser = tape_parser_new();
    struct buf text = {0};
    struct tape tape;
    bool ok = file_read(path, FILE_MAX, &text, err);
    if (ok) {
        memset(buf_reserve(&text, TAPE_PADDING), 0, TAPE_PADDING);
        ok = tape_parse(parser, text.data, text.len, &tape, err) || err_wrap(err, "%s", path);
    }
    ok = ok && add_results(baseline, path, &tape, err);
    buf_clear(&text);
    tape_parser_free(parser);
    if (ok) return baseline;
    baseline_free(baseline);
    return NULL;
}

void baseline_free(struct baseline *baseline)
{
    if (!baseline) return;
    number_map_clear(&baseline->known);
    free(baseline);
}

size_t baseline_old_count(const struct baseline *baseline)
{
    return baseline->old;
}

void baseline_begin(struct baseline *baseline)
{
    baseline->round++;
}

bool baseline_takes(struct baseline *baseline, const struct audit_rule *rule,
                    const struct audit_object *object, const struct audit_row *row)
{
    char fingerprint[FINDING_KEY_SIZE];
    finding_key(rule, object, row, fingerprint);
    if (take(baseline, hash_key(str_of(fingerprint)))) return true;
    const struct old_key old = {.rule = str_of(rule->id),
                                .api_version = object->api_version,
                                .kind = object->kind,
                                .ns = object->ns,
                                .name = object->name,
                                .path = row->path};
    return baseline->old && take(baseline, hash_of_old(&old));
}

static bool is_known(void *ctx, const struct audit_rule *rule, const struct audit_object *object,
                     const struct audit_row *row)
{
    return baseline_takes(ctx, rule, object, row);
}

void baseline_hide(struct baseline *baseline, struct audit_table *table)
{
    baseline_begin(baseline);
    audit_table_hide(table, is_known, baseline);
}
