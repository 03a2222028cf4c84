/* Validity of labels; see label.h. */
#include "object/value/label.h"

enum { NAME_MAX_LENGTH = 63, PREFIX_MAX_LENGTH = 253 };

static bool is_lower_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alphanumeric(char c)
{
    return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

/* [A-Za-z0-9] at both ends; -, _ and . too between them. */
static bool is_name(struct str s)
{
    if (s.n == 0 || !is_alphanumeric(s.p[0]) || !is_alphanumeric(s.p[s.n - 1])) return false;
    for (size_t i = 0; i < s.n; i++) {
        if (!is_alphanumeric(s.p[i]) && s.p[i] != '-' && s.p[i] != '_' && s.p[i] != '.') return false;
    }
    return true;
}

static bool is_dns_label(struct str s)
{
    if (s.n == 0 || s.p[0] == '-' || s.p[s.n - 1] == '-') return false;
    for (size_t i = 0; i < s.n; i++) {
        if (!is_lower_or_digit(s.p[i]) && s.p[i] != '-') return false;
    }
    return true;
}

static const char *prefix_fault(struct str prefix)
{
    if (prefix.n == 0) return "the prefix before / is empty";
    if (prefix.n > PREFIX_MAX_LENGTH) return "the prefix before / exceeds 253 characters";
    struct str rest = prefix, part;
    while (str_cut(&rest, '.', &part)) {
        if (!is_dns_label(part))
            return "the prefix before / is not a DNS name (lower-case letters, digits, - and .)";
    }
    return NULL;
}

const char *label_key_fault(struct str key)
{
    struct str rest = key, prefix, name = key;
    str_cut(&rest, '/', &prefix);
    if (rest.p) {
        const char *fault = prefix_fault(prefix);
        if (fault) return fault;
        name = rest;
    }
    if (name.n == 0) return "the name is empty";
    if (name.n > NAME_MAX_LENGTH) return "the name exceeds 63 characters";
    if (is_name(name)) return NULL;
    return "a name must consist of letters, digits, -, _ or ., and start and end with a letter or digit";
}

const char *label_value_fault(struct str value)
{
    if (value.n == 0) return NULL;
    if (value.n > NAME_MAX_LENGTH) return "value must have at most 63 characters";
    if (is_name(value)) return NULL;
    return "a value must consist of letters, digits, -, _ or ., and start and end with a letter or digit";
}
