/* Base64; see base64.h. */
#include "base/text/base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(struct str bytes, struct buf *out)
{
    const unsigned char *p = (const unsigned char *)bytes.p;
    buf_reserve(out,
                (bytes.n + 2) / 3 * 4 + 1); /* at once, and for the NUL of buf_text: it may be a secret */
    for (size_t i = 0; i < bytes.n; i += 3) {
        size_t n = bytes.n - i < 3 ? bytes.n - i : 3;
        uint32_t group =
            (uint32_t)p[i] << 16 | (n > 1 ? (uint32_t)p[i + 1] << 8 : 0) | (n > 2 ? p[i + 2] : 0);
        buf_putc(out, alphabet[group >> 18]);
        buf_putc(out, alphabet[group >> 12 & 63]);
        buf_putc(out, n > 1 ? alphabet[group >> 6 & 63] : '=');
        buf_putc(out, n > 2 ? alphabet[group & 63] : '=');
    }
}

static int digit(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool base64_decode(struct str text, struct buf *out)
{
    buf_reserve(out, text.n / 4 * 3 + 4); /* as above */
    uint32_t group = 0;
    int digits = 0, padding = 0;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') continue;
        int value = c == '=' ? 0 : digit(c);
        if (value < 0 || (padding > 0 && c != '=')) return false;
        if (c == '=' && (++padding > 2 || digits + padding > 4 || digits < 2)) return false;
        if (c == '=') continue;
        group = group << 6 | (uint32_t)value;
        if (++digits < 4) continue;
        buf_putc(out, (char)(group >> 16));
        buf_putc(out, (char)(group >> 8));
        buf_putc(out, (char)group);
        group = 0;
        digits = 0;
    }
    if (digits == 0) return padding == 0;
    if (digits + padding != 4) return false;
    buf_putc(out, (char)(digits == 3 ? group >> 10 : group >> 4));
    if (digits == 3) buf_putc(out, (char)(group >> 2));
    return true;
}
