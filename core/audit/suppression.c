/* Annotations that accept a finding; see suppression.h. */
#include "audit/suppression.h"

#include "base/buf.h"
#include "base/civil.h"
#include "base/must.h"

enum { DATE_LEN = 10, KEY_MAX = 128 };

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

/* The word that begins with `until=`, wherever it stands; false: there is none. */
static bool find_until(struct str text, struct str *word)
{
    while (str_cut(&text, ' ', word))
        if (str_starts(*word, STR("until="))) return true;
    return false;
}

/* False when it says `until=` and no date follows. The reason is what else there is; all of it, when that
 * stands before and behind. */
static bool read_text(struct str text, struct suppressed *out, int64_t *day)
{
    const size_t mark = strlen("until=");
    struct str word;
    *out = (struct suppressed){STR(""), str_trim(text)};
    *day = INT64_MAX;
    if (!find_until(out->reason, &word)) return true;
    out->until = (struct str){word.p + mark, word.n - mark};
    struct str before = {out->reason.p, (size_t)(word.p - out->reason.p)};
    struct str behind = {word.p + word.n, out->reason.n - before.n - word.n};
    if (before.n == 0)
        out->reason = str_trim(behind);
    else if (behind.n == 0)
        out->reason = str_trim(before);
    return to_day(out->until, day);
}

enum suppression suppression_of(const struct root *object, struct str rule, int64_t now_s, struct text *text,
                                struct suppressed *out)
{
    char key[KEY_MAX];
    int64_t day;
    struct value annotations = root_annotations(object);
    if (value_type(annotations) != VALUE_MAP || rule.n > SUPPRESSION_RULE_MAX) return SUPPRESSION_NONE;
    size_t prefix = sizeof SUPPRESSION_PREFIX - 1;
    must(prefix + rule.n <= sizeof key);
    memcpy(key, SUPPRESSION_PREFIX, prefix);
    memcpy(key + prefix, rule.p, rule.n);
    struct value found = value_field(annotations, (struct str){key, prefix + rule.n});
    if (value_type(found) != VALUE_STRING) return SUPPRESSION_NONE;
    if (!read_text(value_str(found, text), out, &day)) return SUPPRESSION_BAD_DATE;
    return floor_div(now_s, DAY_S) <= day ? SUPPRESSION_VALID : SUPPRESSION_EXPIRED;
}
