/* Syntax of names; see names.h. The regular expressions in the messages are the server's words, not our way
 * to check. */
#include "sim/text/names.h"

#include <string.h>

#define LABEL_RE "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define KEY_RE   "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"

enum { LABEL_MAX = 63, SUBDOMAIN_MAX = 253 };

static bool problem(struct buf *problems, const char *prefix, const char *text)
{
    if (problems->len) buf_puts(problems, "; ");
    buf_puts(problems, prefix);
    buf_puts(problems, text);
    return false;
}

/* Letters and digits, inside of it also those of `more`. */
static bool consists(struct str s, const char *letters, const char *more)
{
    bool good = s.n > 0;
    for (size_t i = 0; good && i < s.n; i++)
        good = s.p[i] && (strchr(letters, s.p[i]) || (i && i + 1 < s.n && strchr(more, s.p[i])));
    return good;
}

#define LOWER "abcdefghijklmnopqrstuvwxyz0123456789"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

static bool is_label(struct str s)
{
    return consists(s, LOWER, "-");
}

/* Returns whether it is labels joined by dots; the length of each is not checked. */
static bool is_subdomain(struct str s)
{
    struct str label;
    while (str_cut(&s, '.', &label))
        if (!is_label(label)) return false;
    return true;
}

static bool is_key_name(struct str s)
{
    return consists(s, LOWER UPPER, "-_.");
}

static bool check_subdomain(struct str name, const char *prefix, struct buf *problems)
{
    bool good = true;
    if (name.n > SUBDOMAIN_MAX)
        good = problem(problems, prefix,
                       *prefix ? "must be no more than 253 bytes" : "must be no more than 253 characters");
    if (!is_subdomain(name))
        good = problem(
            problems, prefix,
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
            "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
            "for validation is '" LABEL_RE "(\\." LABEL_RE ")*')");
    return good;
}

bool sim_check_subdomain(struct str name, struct buf *problems)
{
    return check_subdomain(name, "", problems);
}

bool sim_check_segment(struct str name, struct buf *problems)
{
    bool good = true;
    if (str_eq(name, STR("."))) return problem(problems, "", "may not be '.'");
    if (str_eq(name, STR(".."))) return problem(problems, "", "may not be '..'");
    if (memchr(name.p, '/', name.n)) good = problem(problems, "", "may not contain '/'");
    if (memchr(name.p, '%', name.n)) good = problem(problems, "", "may not contain '%'");
    return good;
}

bool sim_check_label(struct str name, struct buf *problems)
{
    bool good = true;
    if (name.n > LABEL_MAX) good = problem(problems, "", "must be no more than 63 characters");
    if (is_label(name)) return good;
    if (is_subdomain(name)) return problem(problems, "", "must not contain dots");
    return problem(
        problems, "",
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must "
        "start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
        "validation is '" LABEL_RE "')");
}

#define KEY_RULE                                                                                             \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric " \
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '" KEY_RE "')"

bool sim_check_key(struct str key, struct buf *problems)
{
    struct str rest = key, prefix = {0}, name;
    bool good = true;
    str_cut(&rest, '/', &name);
    if (rest.p) {
        prefix = name;
        str_cut(&rest, '/', &name);
        if (rest.p)
            return problem(problems, "",
                           "a valid label key " KEY_RULE
                           " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
        if (prefix.n == 0)
            good = problem(problems, "", "prefix part must be non-empty");
        else
            good = check_subdomain(prefix, "prefix part ", problems);
    }
    if (name.n == 0) good = problem(problems, "", "name part must be non-empty");
    if (name.n > LABEL_MAX) good = problem(problems, "", "name part must be no more than 63 bytes");
    if (!is_key_name(name)) good = problem(problems, "", "name part " KEY_RULE);
    return good;
}

bool sim_check_label_value(struct str value, struct buf *problems)
{
    bool good = true;
    if (value.n > LABEL_MAX) good = problem(problems, "", "must be no more than 63 bytes");
    if (value.n && !is_key_name(value))
        good = problem(
            problems, "",
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
            "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
            "'my_value',  or '12345', regex used for validation is '(" KEY_RE ")?')");
    return good;
}
