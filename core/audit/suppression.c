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

/* False when it says `until=` and no date follows. */
static bool read_text(struct str text, struct suppressed *out, int64_t *day)
{
    const size_t mark = strlen("until=");
    *out = (struct suppressed){STR(""), str_trim(text)};
    *day = INT64_MAX;
    if (!str_starts(out->reason, STR("until="))) return true;
    struct str rest = out->reason;
    str_cut(&rest, ' ', &out->until);
    out->until = (struct str){out->until.p + mark, out->until.n - mark};
    out->reason = rest.p ? str_trim(rest) : STR("");
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
