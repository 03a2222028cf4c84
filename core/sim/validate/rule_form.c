/* Forms of texts; see rule_form.h. */
#include "sim/validate/rule_form.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "base/str.h"
#include "sim/lua/lua.h"
#include "sim/text/names.h"
#include "sim/text/tree.h"
#include "sim/validate/cause.h"

static bool add(struct buf *problems, const char *text)
{
    buf_printf(problems, "%s%s", problems->len ? "; " : "", text);
    return false;
}

static bool check_config_key(struct str key, struct buf *problems)
{
    static const char allowed[] = "-._abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    bool good = key.n && key.p[strspn(key.p, allowed)] == '\0';
    if (!good)
        buf_puts(problems,
                 "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
                 "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
                 "'[-._a-zA-Z0-9]+')");
    else if (str_is(key, ".") || str_is(key, ".."))
        buf_printf(problems, "must not be '%.*s'", STR_ARG(key));
    else if (str_starts(key, STR("..")))
        buf_puts(problems, "must not start with '..'");
    return problems->len == 0;
}

static bool is_address(const char *text)
{
    unsigned char address[sizeof(struct in6_addr)];
    return inet_pton(strchr(text, ':') ? AF_INET6 : AF_INET, text, address) == 1;
}

static bool check_address(struct str text, struct buf *problems)
{
    return is_address(text.p) ||
           add(problems, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
}

static bool check_endpoint(struct str text, struct buf *problems)
{
    return is_address(text.p) || (check_address(text, problems), add(problems, "must be a valid IP address"));
}

static bool check_cidr(struct str text, struct buf *problems)
{
    struct str rest = text, part;
    str_cut(&rest, '/', &part);
    char *address = strndup(part.p, part.n);
    bool good = rest.p && rest.n && rest.n <= 3 && isdigit((unsigned char)*rest.p) && is_address(address);
    free(address);
    return good || add(problems, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
}

static bool check_port_name(struct str text, struct buf *problems)
{
    enum { PORT_NAME_MAX = 15 };
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    bool dashes = strstr(text.p, "--") != NULL;
    if (text.n > PORT_NAME_MAX) add(problems, "must be no more than 15 characters");
    if (!text.n || text.p[strspn(text.p, allowed)])
        add(problems, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    if (!strpbrk(text.p, "abcdefghijklmnopqrstuvwxyz"))
        add(problems, "must contain at least one letter (a-z)");
    if (dashes) add(problems, "must not contain consecutive hyphens");
    if (text.n && (text.p[0] == '-' || text.p[text.n - 1] == '-'))
        add(problems, "must not begin or end with a hyphen");
    return problems->len == 0;
}

static bool check_host(struct str text, struct buf *problems)
{
    bool wild = str_starts(text, STR("*."));
    if (is_address(text.p)) return add(problems, "must be a DNS name, not an IP address");
    return sim_check_subdomain(wild ? (struct str){text.p + 2, text.n - 2} : text, problems);
}

/* Returns whether the text is one of the words between blanks. */
static bool is_word(const char *words, const char *text)
{
    struct str rest = str_of(words), word;
    while (str_cut(&rest, ' ', &word))
        if (str_is(word, text)) return true;
    return false;
}

static bool check_resource(struct str name, struct buf *problems)
{
    bool known =
        is_word("cpu memory ephemeral-storage storage", name.p) || str_starts(name, STR("hugepages-"));
    if (!sim_check_key(name, problems)) return false;
    return known || strchr(name.p, '/') ||
           add(problems, "must be a standard resource type or fully qualified");
}

static bool check_container_resource(struct str name, struct buf *problems)
{
    if (check_resource(name, problems) && !is_word("storage", name.p)) return true;
    return add(problems, "must be a standard resource for containers");
}

static bool check_limit_type(struct str type, struct buf *problems)
{
    if (!sim_check_key(type, problems)) return false;
    return strchr(type.p, '/') || is_word("Container Pod PersistentVolumeClaim", type.p) ||
           add(problems, "must be a standard limit type or fully qualified");
}

/* Capitals are valid in the prefix, too. */
static bool check_annotation(struct str key, struct buf *problems)
{
    char *lower = sim_lower(key.p);
    bool good = sim_check_key(str_of(lower), problems);
    free(lower);
    return good;
}

static bool check_known_finalizer(struct str name, struct buf *problems)
{
    return strchr(name.p, '/') || is_word("kubernetes orphan foregroundDeletion", name.p) ||
           add(problems, "name is neither a standard finalizer name nor is it fully qualified");
}

static bool check_1035(struct str text, struct buf *problems)
{
    static const char rule[] = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
                               "start with an alphabetic "
                               "character, and end with an alphanumeric character (e.g. 'my-name',  or "
                               "'abc-123', regex used for validation "
                               "is '[a-z]([-a-z0-9]*[a-z0-9])?')";
    struct buf as_label = {0};
    bool good = sim_check_label(text, &as_label) && text.p[0] >= 'a';
    buf_clear(&as_label);
    return good || add(problems, rule);
}

static bool check_json_path(struct str path, struct buf *problems)
{
    lua_State *L = sim_lua_take("sim.jsonpath", "valid");
    lua_pushlstring(L, path.p, path.n);
    bool good = sim_lua_is(L) && path.p[0] == '.';
    return good || add(problems, "must be a simple json path starting with .");
}

static bool check_domain(struct str group, struct buf *problems)
{
    if (!sim_check_subdomain(group, problems)) return false;
    return strchr(group.p, '.') || add(problems, "should be a domain with at least one dot");
}

void sim_rule_form(const struct rule_check *check, const char *form, const char *below, const char *text)
{
    static const struct {
        const char *name;
        bool (*check)(struct str text, struct buf *problems);
    } forms[] = {
        {"label", sim_check_label},
        {"subdomain", sim_check_subdomain},
        {"key", sim_check_key},
        {"value", sim_check_label_value},
        {"segment", sim_check_segment},
        {"endpoint", check_endpoint},
        {"cidr", check_cidr},
        {"config key", check_config_key},
        {"port name", check_port_name},
        {"host", check_host},
        {"resource", check_resource},
        {"container resource", check_container_resource},
        {"limit type", check_limit_type},
        {"annotation key", check_annotation},
        {"known finalizer", check_known_finalizer},
        {"DNS-1035 label", check_1035},
        {"json path", check_json_path},
        {"domain", check_domain},
    };
    struct buf problems = {0};
    size_t i = 0;
    while (strcmp(forms[i].name, form) != 0) must(++i < ARRAY_LEN(forms));
    forms[i].check(str_of(text), &problems);
    if (problems.len == 0) return;
    char *path = sim_rule_path(check, below);
    sim_add_problems(check->causes, path, text, &problems);
    free(path);
}

void sim_rule_forms(const struct rule_check *check, const json_t *value)
{
    const char *text = sim_text_at(value, ""), *empty = check->rule->argument;
    json_t *item;
    size_t i;
    json_array_foreach ((json_t *)value, i, item)
        sim_rule_form(check, *check->rule->words, "", sim_text_at(item, ""));
    bool wanted = *text || (*empty == 'p' && json_is_string(value)) || *empty == 'a';
    if (wanted && !json_is_array(value)) sim_rule_form(check, *check->rule->words, "", text);
}
