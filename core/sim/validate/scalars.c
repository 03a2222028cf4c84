/* Quantities, times, durations and bytes; see scalars.h. */
#include "sim/validate/scalars.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/civil.h"
#include "base/mem.h"
#include "base/str.h"
#include "sim/lua/lua.h"
#include "sim/text/tree.h"

#define DIGITS "0123456789"

enum { EXACT_DIGITS = 18, POWER_MAX = 10000 };

/* Of "e-3": -3, at most POWER_MAX to either side, so that it can be added to. Errno is ERANGE beyond 64 bits.
 */
static long power_of(const char *suffix)
{
    long power = strtol(suffix + 1, NULL, 10);
    return power > POWER_MAX ? POWER_MAX : power < -POWER_MAX ? -POWER_MAX : power;
}

static bool known_suffix(const char *suffix)
{
    static const char *const suffixes[] = {"",  "n", "u",  "m",  "k",  "M",  "G",  "T",
                                           "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
        if (strcmp(suffix, suffixes[i]) == 0) return true;
    if (*suffix != 'e' && *suffix != 'E') return false;
    errno = 0;
    power_of(suffix++);
    if (*suffix == '-' || *suffix == '+') suffix++;
    return *suffix && strspn(suffix, DIGITS) == strlen(suffix) && !errno;
}

char *sim_check_quantity(const char *text)
{
    const char *at = text;
    if (*at == '-' || *at == '+') at++;
    at += strspn(at, DIGITS);
    if (*at == '.') at += 1 + strspn(at + 1, DIGITS);
    const char *suffix = at;
    at += strspn(at, "eEinumkKMGTP");
    if (*at == '-' || *at == '+') at++;
    at += strspn(at, DIGITS);
    if (!*text || *at)
        return xstrdup("quantities must match the regular expression "
                       "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
    return known_suffix(suffix) ? NULL : xstrdup("unable to parse quantity's suffix");
}

/* With an exponent of ten that is a multiple of three; NULL if it has no suffix for that. What is less than
 * 10^least is rounded up. */
static json_t *decimal_quantity(__int128 n, int exponent, bool e, int least)
{
    static const char suffixes[] = "num\0kMGTPE";
    for (; exponent < least; exponent++) n = n / 10 + (n % 10 > 0) - (n % 10 < 0);
    for (; n && n % 10 == 0; exponent++) n /= 10;
    for (; exponent % 3; exponent--) n *= 10;
    int at = exponent / 3 + 3;
    if (n == 0) return json_string("0");
    if (n > INT64_MAX || n < INT64_MIN || (!e && (at < 0 || at >= (int)sizeof suffixes - 1))) return NULL;
    if (e && exponent) return sim_textf("%llde%d", (long long)n, exponent);
    return sim_textf("%lld%.1s", (long long)n, &suffixes[at]);
}

/* Binary suffixes are for whole numbers from 1024 on. */
static json_t *binary_quantity(__int128 n, int power, int exponent, int least)
{
    static const char suffixes[] = "KMGTPE";
    __int128 scale = 1;
    for (; power; power--) n *= 1 << 10;
    for (int i = exponent; i < 0; i++) scale *= 10;
    __int128 whole = n / scale;
    if ((whole > -(1 << 10) && whole < 1 << 10) || n % scale)
        return decimal_quantity(n, exponent, false, least);
    for (; whole % (1 << 10) == 0 && power < 6; power++) whole /= 1 << 10;
    if (whole > INT64_MAX || whole < INT64_MIN) return NULL;
    return power ? sim_textf("%lld%ci", (long long)whole, suffixes[power - 1])
                 : sim_textf("%lld", (long long)whole);
}

bool sim_quantity_stays(const char *text, int least)
{
    static const char powers[] = "KMGTPE", thousands[] = "num kMGTPE";
    const char *first = text + strspn(text, "+-"), *at, *found;
    first += strspn(first, "0");
    int digits = (int)strspn(first, DIGITS), places = 0;
    at = first + digits;
    if (*at == '.') places = (int)strspn(++at, DIGITS);
    at += places;
    unsigned long long n = 0;
    for (const char *c = first; c < at; c++) n = *c == '.' ? n : n * 10 + (unsigned)(*c - '0');
    if (!digits || digits + places > EXACT_DIGITS) return false;
    if (*at && at[1] == 'i' && (found = strchr(powers, *at)))
        return !places && n % 8 && digits + 3 * (int)(found - powers) <= 11;
    bool e = (*at == 'e' || *at == 'E') && at[1];
    if (!e && !(found = strchr(thousands, *at ? *at : ' '))) return false;
    long scale = (e ? power_of(at) : 3 * (found - thousands) - 9) - places;
    return scale >= least && scale % 3 == 0 && n % 1000;
}

json_t *sim_quantity(const char *text, int least)
{
    static const char powers[] = "KMGTPE", thousands[] = "num kMGTPE";
    const char *at = text + (*text == '-' || *text == '+'), *found;
    __int128 n = 0;
    int digits = 0, exponent = 0;
    for (bool point = false; isdigit((unsigned char)*at) || *at == '.'; at++) {
        point = point || *at == '.';
        if (*at == '.') continue;
        n = digits++ < EXACT_DIGITS ? n * 10 + (*at - '0') : n;
        exponent -= point;
    }
    if (*text == '-') n = -n;
    bool e = (*at == 'e' || *at == 'E') && at[1];
    json_t *quantity = NULL;
    if (digits <= EXACT_DIGITS && at[0] && at[1] == 'i' && (found = strchr(powers, *at)))
        quantity = binary_quantity(n, (int)(found - powers) + 1, exponent, least);
    else if (digits <= EXACT_DIGITS && e && labs(power_of(at)) < POWER_MAX)
        quantity = decimal_quantity(n, exponent + (int)power_of(at), true, least);
    else if (digits <= EXACT_DIGITS && !e && (found = strchr(thousands, *at ? *at : ' ')))
        quantity = decimal_quantity(n, exponent + 3 * (int)(found - thousands) - 9, false, least);
    return quantity ? quantity : json_string(text);
}

/* --- Times and durations: those that are as Go writes them, and lua/sim/times.lua reads all others */

static char *read_text(const char *function, const char *text, bool micro, json_t **canonical)
{
    lua_State *L = sim_lua_take("sim.times", function);
    lua_pushstring(L, text);
    lua_pushboolean(L, micro);
    json_t *found = sim_lua_found(L);
    char *problem = json_is_array(found) ? xstrdup(sim_text_at(json_array_get(found, 0), "")) : NULL;
    *canonical = problem ? NULL : json_incref(found);
    json_decref(found);
    return problem;
}

char *sim_check_time(const char *text, bool micro, json_t **canonical)
{
    static const char form[] = "2006-01-02T15:04:05Z";
    int64_t seconds;
    bool usual = !micro && strlen(text) == sizeof form - 1 && text[10] == 'T' && text[17] < '6' &&
                 text[19] == 'Z' && civil_read_utc(str_of(text), &seconds);
    if (!usual) return read_text("time", text, micro, canonical);
    *canonical = json_string(text);
    return NULL;
}

char *sim_check_duration(const char *text)
{
    json_t *same;
    char *problem = read_text("duration", text, false, &same);
    json_decref(same);
    return problem;
}

/* --- Bytes */

char *sim_check_base64(const char *text)
{
    size_t good = 0, n = strlen(text);
    while (good < n && (isalnum((unsigned char)text[good]) || strchr("+/", text[good]))) good++;
    size_t padding = strspn(text + good, "=");
    if (good + padding == n && n % 4 == 0 && padding <= 2) return NULL;
    if (good == n) good = n; /* too short */
    return xasprintf("illegal base64 data at input byte %zu", good == n ? n & ~(size_t)3 : good);
}
