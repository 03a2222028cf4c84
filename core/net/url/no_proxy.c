/* Lists of servers that are reached without a proxy; see no_proxy.h. */
#include "net/url/no_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"

/* Address; IPv4 is stored as IPv6 (::ffff:a.b.c.d). */
struct address {
    _Alignas(4) uint8_t bytes[16];
    bool is_v4;
};

static bool read_address(struct str text, struct address *out)
{
    char copy[INET6_ADDRSTRLEN];
    if (text.n >= sizeof copy || !text.n) return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    memset(out->bytes, 0, sizeof out->bytes);
    out->bytes[10] = out->bytes[11] = 0xff;
    out->is_v4 = inet_pton(AF_INET, copy, out->bytes + 12) == 1;
    if (out->is_v4) return true;
    if (inet_pton(AF_INET6, copy, out->bytes) != 1) return false;
    out->is_v4 = IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)out->bytes);
    return true;
}

static bool same_bits(const uint8_t *a, const uint8_t *b, unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;
    uint8_t mask = (uint8_t)(0xff << (8 - rest));
    return memcmp(a, b, whole) == 0 && (rest == 0 || ((a[whole] ^ b[whole]) & mask) == 0);
}

/* Returns whether the address is in "10.0.0.0/8"; sets *is_cidr if the entry is a CIDR. */
static bool in_cidr(struct str entry, const struct address *address, bool *is_cidr)
{
    struct str rest = entry, net;
    struct address base;
    uint64_t bits;
    str_cut(&rest, '/', &net);
    *is_cidr =
        rest.p && read_address(net, &base) && str_to_u64(rest, &bits) && bits <= (base.is_v4 ? 32 : 128);
    if (!*is_cidr || !address || address->is_v4 != base.is_v4) return false;
    return same_bits(base.bytes, address->bytes, (unsigned)bits + (base.is_v4 ? 96 : 0));
}

/* Takes ":443" from the end of "name:443", "1.2.3.4:443" and "[::1]:443", and the brackets. */
static void cut_port(struct str *entry, struct str *port)
{
    const char *colon = memrchr(entry->p, ':', entry->n);
    bool brackets = *entry->p == '[';
    bool bare_v6 = !brackets && colon && memchr(entry->p, ':', (size_t)(colon - entry->p));
    *port = (struct str){0};
    if (colon && !bare_v6 && (!brackets || colon[-1] == ']')) {
        *port = (struct str){colon + 1, entry->n - (size_t)(colon + 1 - entry->p)};
        entry->n = (size_t)(colon - entry->p);
    }
    if (brackets && entry->n >= 2 && entry->p[entry->n - 1] == ']')
        *entry = (struct str){entry->p + 1, entry->n - 2};
}

static bool ends_with(struct str host, struct str suffix)
{
    return host.n >= suffix.n && strncasecmp(host.p + host.n - suffix.n, suffix.p, suffix.n) == 0;
}

/* "example.com" is the name and all below it, ".example.com" and "*.example.com" only what is below. */
static bool name_fits(struct str entry, struct str host)
{
    if (str_starts(entry, STR("*."))) entry = (struct str){entry.p + 1, entry.n - 1};
    if (!entry.n || !ends_with(host, entry)) return false;
    return *entry.p == '.' ? host.n > entry.n : host.n == entry.n || host.p[host.n - entry.n - 1] == '.';
}

static bool entry_fits(struct str entry, struct str host, const struct address *address, int port)
{
    struct str port_text;
    struct address own;
    uint64_t wanted;
    bool is_cidr;
    if (str_is(entry, "*")) return true;
    if (in_cidr(entry, address, &is_cidr)) return true;
    if (is_cidr) return false;
    cut_port(&entry, &port_text);
    if (port_text.p && (!str_to_u64(port_text, &wanted) || wanted != (uint64_t)port)) return false;
    if (read_address(entry, &own)) return address && memcmp(own.bytes, address->bytes, sizeof own.bytes) == 0;
    return name_fits(entry, host);
}

bool no_proxy_has(const char *list, const char *host, int port)
{
    struct str rest = str_of(list), entry, name = str_of(host);
    struct address address;
    bool is_address = read_address(name, &address);
    if (ends_with(name, STR("."))) name.n--;
    while (str_cut(&rest, ',', &entry)) {
        entry = str_trim(entry);
        if (entry.n && entry_fits(entry, name, is_address ? &address : NULL, port)) return true;
    }
    return false;
}

bool no_proxy_is_local(const char *host)
{
    return strcasecmp(host, "localhost") == 0 || no_proxy_has("127.0.0.0/8,::1", host, 0);
}
