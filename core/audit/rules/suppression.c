/* Annotations that accept a finding; see suppression.h. */
#include "audit/rules/suppression.h"

#include "base/buf.h"
#include "base/civil.h"
#include "base/must.h"
#include "base/text/nearest.h"

enum { DATE_LEN = 10, KEY_MAX = 128 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "2027-01-31", as it is on the calendar. */
static bool to_day(struct str text, int64_t *day)
{
    uint64_t year, month, date;
    bool shaped = text.n == DATE_LEN && text.p[4] == '-' && text.p[7] == '-' &&
                  str_to_u64((struct str){text.p, 4}, &year) &&
                  str_to_u64((struct str){text.p + 5, 2}, &month) &&
                  str_to_u64((struct str){text.p + 8, 2}, &date);
    if (!shaped || month < 1 || month > 12 || date < 1) return false;
    if (date > (uint64_t)civil_month_length((int64_t)year, (int)month)) return false;
    *day = civil_days((int64_t)year, (int)month, (int64_t)date);
    return true;
}

/* "until", "Until", "UNTIL" as the beginning of a word. */
static bool begins_like_until(struct str word)
{
    static const char until[] = "until";
    if (word.n < sizeof until - 1) return false;
    for (size_t i = 0; i < sizeof until - 1; i++)
        if ((word.p[i] | 0x20) != until[i]) return false;
    return true;
}

/* "untill=2027-01-31", "util=soon", and a day by whatever name, "expires=2027-01-31". */
static bool is_misspelt(struct str word)
{
    struct str name;
    if (!str_cut(&word, '=', &name) || !word.p) return false;
    int64_t day;
    struct nearest near = nearest_to(name);
    nearest_try(&near, "until");
    return near.name || to_day(word, &day);
}

/* Behind an "until" that stands alone: a day, "= 2027-01-31", "=2027-01-31". The words then end there. */
static bool find_day(struct str text, struct str *words)
{
    struct str next = STR(""), rest = text.p ? str_trim(text) : STR("");
    if (!str_cut(&rest, ' ', &next) || !next.n) return false;
    bool is_mark = str_eq(next, STR("=")) || str_eq(next, STR(":"));
    if (!is_mark && !is_digit(*next.p) && *next.p != '=') return false;
    if (is_mark && rest.p) {
        rest = str_trim(rest);
        str_cut(&rest, ' ', &next);
    }
    words->n = (size_t)(next.p + next.n - words->p);
    return true;
}

/* The words that stand for a day: "until=2027-01-31", and what people write in its place, "Until:
 * 2027-01-31". "until" before other words is a reason. False: there are none. */
static bool find_until(struct str text, struct str *words)
{
    const size_t mark = strlen("until");
    struct str word;
    while (str_cut(&text, ' ', &word)) {
        *words = word;
        if (begins_like_until(word)) {
            bool is_marked = word.n > mark && (word.p[mark] == '=' || word.p[mark] == ':');
            if (word.n > mark + 1 && (is_marked || is_digit(word.p[mark]))) return true;
            if (word.n <= mark + 1 && (find_day(text, words) || is_marked)) return true;
        }
        if (is_misspelt(word)) return true;
    }
    return false;
}

/* False when a day is meant and none is there. The reason is what else there is; all of it, when that stands
 * before and behind. */
static bool read_text(struct str text, struct suppressed *out)
{
    const size_t mark = strlen("until=");
    struct str words;
    *out = (struct suppressed){STR(""), str_trim(text), INT64_MAX};
    if (!find_until(out->reason, &words)) return true;
    struct str before = {out->reason.p, (size_t)(words.p - out->reason.p)};
    struct str behind = {words.p + words.n, out->reason.n - before.n - words.n};
    if (before.n == 0)
        out->reason = str_trim(behind);
    else if (behind.n == 0)
        out->reason = str_trim(before);
    out->until = words;
    if (!str_starts(words, STR("until="))) return false;
    struct str date = {words.p + mark, words.n - mark};
    if (!to_day(date, &out->day)) return false;
    out->until = date;
    return true;
}

enum suppression suppression_of(const struct root *object, struct str rule, int64_t now_s, struct text *text,
                                struct suppressed *out)
{
    char key[KEY_MAX];
    struct value annotations = root_annotations(object);
    if (value_type(annotations) != VALUE_MAP || rule.n > SUPPRESSION_RULE_MAX) return SUPPRESSION_NONE;
    size_t prefix = sizeof SUPPRESSION_PREFIX - 1;
    must(prefix + rule.n <= sizeof key);
    memcpy(key, SUPPRESSION_PREFIX, prefix);
    memcpy(key + prefix, rule.p, rule.n);
    struct value found = value_field(annotations, (struct str){key, prefix + rule.n});
    if (value_type(found) != VALUE_STRING) return SUPPRESSION_NONE;
    if (!read_text(value_str(found, text), out)) return SUPPRESSION_BAD_DATE;
    if (out->reason.n == 0) return SUPPRESSION_NO_REASON;
    return floor_div(now_s, DAY_S) <= out->day ? SUPPRESSION_VALID : SUPPRESSION_EXPIRED;
}

struct str suppression_misspelt(const struct root *object, const char *rule,
                                bool (*is_rule)(void *ctx, struct str id), void *ctx, struct text *text)
{
    struct value annotations = root_annotations(object);
    size_t prefix = sizeof SUPPRESSION_PREFIX - 1;
    if (value_type(annotations) != VALUE_MAP) return STR("");
    for (size_t i = 0; i < value_count(annotations); i++) {
        struct str key;
        value_entry(annotations, i, &key, text);
        if (!str_starts(key, STR(SUPPRESSION_PREFIX))) continue;
        struct str id = {key.p + prefix, key.n - prefix};
        struct nearest near = nearest_to(id);
        nearest_try(&near, rule);
        if (near.name && !is_rule(ctx, id)) return id;
    }
    return STR("");
}
