/* Strings in binary where that is exact; see strform.h. */
#include "object/value/strform.h"

#include "base/must.h"
#include "object/value/word.h"

enum {
    TIME_LENGTH = 20,
    MICROTIME_LENGTH = 27,
    UUID_LENGTH = 36,
    HEX_LENGTH = 64,
    DEC_DIGITS_MAX = 19,
    IPV4_LENGTH_MIN = 7,
    IPV4_LENGTH_MAX = 15,
    DAY = 86400,
};

#define BYTES(b) (0x0101010101010101u * (b))

/* Eight lower-case hex digits at once. */
static bool hex8(const char *p, uint32_t *out)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    uint64_t letter = v >> 6 & BYTES(1);
    uint64_t x = (v & BYTES(0x0f)) + letter * 9;
    if (v != x + BYTES('0') + letter * ('a' - '0' - 10)) return false; /* upper case, other characters */
    if ((x & BYTES(0xf0)) || ((x + BYTES(6)) >> 4 & BYTES(1)) != letter) return false; /* : ... ? ` g ... */
    x = (x | x >> 4) & 0x00ff00ff00ff00ffu;
    x = (x | x >> 8) & 0x0000ffff0000ffffu;
    *out = (uint32_t)(x | x >> 16);
    return true;
}

static inline void hex8_text(uint32_t word, char *p)
{
    uint64_t x = word;
    x = (x | x << 16) & 0x0000ffff0000ffffu;
    x = (x | x << 8) & 0x00ff00ff00ff00ffu;
    x = (x | x << 4) & BYTES(0x0f);
    uint64_t letter = (x + BYTES(6)) >> 4 & BYTES(1);
    x += BYTES('0') + letter * ('a' - '0' - 10);
    memcpy(p, &x, sizeof x);
}

/* Days between 1970-01-01 and a date of the Gregorian calendar (months from March, so that leap days come
 * last). */
static int64_t days_of(int year, int month, int day)
{
    int y = month <= 2 ? year - 1 : year;
    int era = y / 400, yoe = y - era * 400;
    int doy = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return (int64_t)era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static void date_of(int64_t days, int *year, int *month, int *day)
{
    days += 719468;
    int era = (int)(days / 146097), doe = (int)(days - (int64_t)era * 146097);
    int yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    *day = doy - (153 * mp + 2) / 5 + 1;
    *month = mp < 10 ? mp + 3 : mp - 9;
    *year = yoe + era * 400 + (*month <= 2);
}

static bool digits(const char *p, int count, int *out)
{
    int n = 0;
    for (int i = 0; i < count; i++) {
        if (p[i] < '0' || p[i] > '9') return false;
        n = n * 10 + (p[i] - '0');
    }
    *out = n;
    return true;
}

static void put_digits(char *p, int count, int n)
{
    for (int i = count - 1; i >= 0; i--, n /= 10) p[i] = (char)('0' + n % 10);
}

static bool day_exists(int year, int month, int day)
{
    static const uint8_t last[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (month < 1 || month > 12 || day < 1) return false;
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return day <= last[month - 1] + (month == 2 && leap);
}

static size_t encode_time(struct str t, uint32_t *blob)
{
    int year, month, day, hour, minute, second, micros = 0;
    const char *p = t.p;
    if (p[4] != '-' || p[7] != '-' || p[10] != 'T' || p[13] != ':' || p[16] != ':' || p[t.n - 1] != 'Z')
        return 0;
    if (!digits(p, 4, &year) || !digits(p + 5, 2, &month) || !digits(p + 8, 2, &day)) return 0;
    if (!digits(p + 11, 2, &hour) || !digits(p + 14, 2, &minute) || !digits(p + 17, 2, &second)) return 0;
    if (t.n == MICROTIME_LENGTH && (p[19] != '.' || !digits(p + 20, 6, &micros))) return 0;
    if (!day_exists(year, month, day) || hour > 23 || minute > 59 || second > 59) return 0;
    int64_t seconds = days_of(year, month, day) * DAY + hour * 3600 + minute * 60 + second;
    if (seconds < 0 || seconds > UINT32_MAX) return 0;
    blob[0] = blob_header(BLOB_TIME, t.n == MICROTIME_LENGTH ? (uint32_t)micros + 1 : 0);
    blob[1] = (uint32_t)seconds;
    return 2;
}

static struct str time_text(const uint32_t *blob, char *p)
{
    int year, month, day, second = (int)(blob[1] % DAY);
    date_of(blob[1] / DAY, &year, &month, &day);
    memcpy(p, "0000-00-00T00:00:00Z", TIME_LENGTH);
    put_digits(p, 4, year);
    put_digits(p + 5, 2, month);
    put_digits(p + 8, 2, day);
    put_digits(p + 11, 2, second / 3600);
    put_digits(p + 14, 2, second / 60 % 60);
    put_digits(p + 17, 2, second % 60);
    uint32_t fraction = blob_payload(blob[0]);
    if (fraction == 0) return (struct str){p, TIME_LENGTH};
    p[19] = '.';
    put_digits(p + 20, 6, (int)fraction - 1);
    p[26] = 'Z';
    return (struct str){p, MICROTIME_LENGTH};
}

/* Positions of the 32 digits of a UUID between the dashes. */
static const uint8_t uuid_parts[][2] = {{0, 8}, {9, 4}, {14, 4}, {19, 4}, {24, 12}};

static size_t encode_uuid(struct str t, uint32_t *blob)
{
    const char *p = t.p;
    if (p[8] != '-' || p[13] != '-' || p[18] != '-' || p[23] != '-') return 0;
    char hex[32], *to = hex;
    for (size_t i = 0; i < 5; i++) to = mempcpy(to, p + uuid_parts[i][0], uuid_parts[i][1]);
    for (size_t i = 0; i < 4; i++) {
        if (!hex8(hex + 8 * i, &blob[1 + i])) return 0;
    }
    blob[0] = blob_header(BLOB_UUID, 0);
    return 5;
}

static struct str uuid_text(const uint32_t *blob, char *p)
{
    char hex[32], *from = hex;
    for (size_t i = 0; i < 4; i++) hex8_text(blob[1 + i], hex + 8 * i);
    memset(p, '-', UUID_LENGTH);
    for (size_t i = 0; i < 5; i++) {
        memcpy(p + uuid_parts[i][0], from, uuid_parts[i][1]);
        from += uuid_parts[i][1];
    }
    return (struct str){p, UUID_LENGTH};
}

static size_t plain_words(size_t length)
{
    return 1 + words_for(length);
}

/* `length` bytes and zeros up to the next word. */
static void put_bytes(uint32_t *words, const char *p, size_t length)
{
    if (length == 0) return;
    words[words_for(length) - 1] = 0;
    memcpy(words, p, length);
}

static size_t encode_hex64(struct str t, uint32_t *blob)
{
    size_t prefix = t.n - HEX_LENGTH;
    uint32_t hex[8];
    for (size_t i = 8; i-- > 0;) {
        if (!hex8(t.p + prefix + 8 * i, &hex[i])) return 0;
    }
    blob[0] = blob_header(BLOB_HEX64, (uint32_t)prefix);
    memcpy(blob + 1, hex, sizeof hex);
    put_bytes(blob + 9, t.p, prefix);
    return 9 + words_for(prefix);
}

static struct str hex64_text(const uint32_t *blob, char *p)
{
    size_t prefix = blob_payload(blob[0]);
    memcpy(p, blob + 9, prefix);
    for (size_t i = 0; i < 8; i++) hex8_text(blob[1 + i], p + prefix + 8 * i);
    return (struct str){p, prefix + HEX_LENGTH};
}

static size_t encode_dec(struct str t, uint32_t *blob)
{
    uint64_t n;
    if (t.p[0] == '0' || !str_to_u64(t, &n) || n >> 60) return 0;
    blob[0] = blob_header(BLOB_DEC, (uint32_t)(n >> 32));
    blob[1] = (uint32_t)n;
    return 2;
}

static struct str dec_text(const uint32_t *blob, struct text *text)
{
    uint64_t n = (uint64_t)blob_payload(blob[0]) << 32 | blob[1];
    char *end = text->bytes + DEC_DIGITS_MAX, *p = end;
    do {
        *--p = (char)('0' + n % 10);
    } while ((n /= 10) != 0);
    return (struct str){p, (size_t)(end - p)};
}

/* Reads one number of an address, up to its dot or the end. */
static bool octet(struct str *rest, uint32_t *out)
{
    struct str part;
    uint64_t n;
    if (!str_cut(rest, '.', &part) || part.n > 3 || !str_to_u64(part, &n) || n > 255) return false;
    *out = (uint32_t)n;
    return part.n == (n < 10 ? 1u : n < 100 ? 2u : 3u); /* no leading zeros */
}

static size_t encode_ipv4(struct str t, uint32_t *blob)
{
    uint32_t a, b, c, d;
    if (t.n < IPV4_LENGTH_MIN || t.n > IPV4_LENGTH_MAX) return 0;
    if (!octet(&t, &a) || !octet(&t, &b) || !octet(&t, &c) || !octet(&t, &d) || t.p) return 0;
    blob[0] = blob_header(BLOB_IPV4, 0);
    blob[1] = a | b << 8 | c << 16 | d << 24;
    return 2;
}

static struct str ipv4_text(const uint32_t *blob, char *p)
{
    char *to = p;
    for (int i = 0; i < 4; i++) {
        uint32_t n = blob[1] >> (8 * i) & 255;
        int count = n < 10 ? 1 : n < 100 ? 2 : 3;
        if (i > 0) *to++ = '.';
        put_digits(to, count, (int)n);
        to += count;
    }
    return (struct str){p, (size_t)(to - p)};
}

size_t strform_room(size_t length)
{
    return plain_words(length) + 2;
}

size_t strform_encode(struct str text, uint32_t *blob)
{
    size_t words = 0;
    if (text.n == TIME_LENGTH || text.n == MICROTIME_LENGTH) {
        words = encode_time(text, blob);
    } else if (text.n <= DEC_DIGITS_MAX && text.p[0] >= '0' && text.p[0] <= '9') {
        words = encode_dec(text, blob);
        if (words == 0) words = encode_ipv4(text, blob);
    } else if (text.n == UUID_LENGTH) {
        words = encode_uuid(text, blob);
    } else if (text.n >= HEX_LENGTH && text.n <= HEX_LENGTH + STRFORM_PREFIX_MAX) {
        words = encode_hex64(text, blob);
    }
    if (words) return words;
    blob[0] = blob_header(BLOB_STR, (uint32_t)text.n);
    put_bytes(blob + 1, text.p, text.n);
    return plain_words(text.n);
}

struct str strform_text(const uint32_t *blob, struct text *text)
{
    switch (blob_kind(blob[0])) {
    case BLOB_STR: return (struct str){(const char *)(blob + 1), blob_payload(blob[0])};
    case BLOB_TIME: return time_text(blob, text->bytes);
    case BLOB_UUID: return uuid_text(blob, text->bytes);
    case BLOB_HEX64: return hex64_text(blob, text->bytes);
    case BLOB_DEC: return dec_text(blob, text);
    case BLOB_IPV4: return ipv4_text(blob, text->bytes);
    default: must(!"a string"); return (struct str){NULL, 0};
    }
}
