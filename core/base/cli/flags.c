/* Flags from tables; see flags.h. getopt_long is not used: it cannot name the nearest flag nor read the
 * environment. */
#include "base/cli/flags.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/cli/flags_internal.h"
#include "base/log.h"
#include "base/must.h"
#include "base/text/nearest.h"
#include "base/text/size.h"
#include "base/text/terminal.h"
#include "base/time/duration.h"

const struct flag *flags_fill(struct flag *table, size_t room, const struct flag *flags, size_t count)
{
    must(count < room);
    memcpy(table, flags, count * sizeof *flags);
    return table;
}

static bool choice_has(const char *values, const char *value)
{
    if (!values) return true;
    struct str rest = str_of(values), one;
    while (str_cut(&rest, '|', &one))
        if (str_is(one, value)) return true;
    return false;
}

static bool parse_bool(const char *value, bool *out)
{
    *out = strcmp(value, "true") == 0;
    return *out || strcmp(value, "false") == 0;
}

static bool parse_int(const char *value, int *out)
{
    char *end;
    errno = 0;
    long n = strtol(value, &end, 10);
    if (end == value || *end || errno || n < 0 || n > INT32_MAX) return false;
    *out = (int)n;
    return true;
}

static bool parse_number(const char *value, double *out)
{
    char *end;
    if (strspn(value, "0123456789.") != strlen(value)) return false;
    *out = strtod(value, &end);
    return end != value && !*end && *out < 1e9;
}

static void list_add(struct flag_list *list, const char *item)
{
    *array_add(list->items, list->count) = item;
}

char *flag_list_text(const struct flag_list *list)
{
    struct buf text = {0};
    for (size_t i = 0; i < list->count; i++) buf_printf(&text, "%s%s", i ? ", " : "", list->items[i]);
    char *copy = xstrdup(buf_text(&text));
    buf_clear(&text);
    return copy;
}

void flag_list_clear(struct flag_list *list)
{
    free(list->items);
    *list = (struct flag_list){0};
}

void flags_clear(const struct flag *const *tables)
{
    for (; *tables; tables++)
        for (const struct flag *flag = *tables; flag->name; flag++)
            if (flag->kind == FLAG_LIST) flag_list_clear(flag->into);
}

static const char *expected(const struct flag *flag)
{
    switch (flag->kind) {
    case FLAG_BOOL: return "true or false";
    case FLAG_INT:
    case FLAG_COUNT: return "a whole number";
    case FLAG_NUMBER: return "a number";
    case FLAG_DURATION_MS: return "a duration such as 90s, 500ms or 1h30m";
    case FLAG_SIZE: return "a size such as 64Mi";
    case FLAG_CHOICE:
    case FLAG_MODE: return flag->values ? flag->values : "a string";
    default: return "a string";
    }
}

static bool assign(const struct flag *flag, const char *value)
{
    switch (flag->kind) {
    case FLAG_STRING: *(const char **)flag->into = value; return true;
    case FLAG_BOOL: return parse_bool(value, flag->into);
    case FLAG_INT: return parse_int(value, flag->into);
    case FLAG_COUNT: return parse_int(value, flag->into) && *(int *)flag->into > 0;
    case FLAG_NUMBER: return parse_number(value, flag->into);
    case FLAG_DURATION_MS: return duration_parse_ms(str_of(value), flag->into);
    case FLAG_SIZE: return size_parse(value, flag->into);
    case FLAG_CHOICE:
    case FLAG_MODE: *(const char **)flag->into = value; return choice_has(flag->values, value);
    case FLAG_LIST: list_add(flag->into, value); return true;
    }
    return false;
}

static bool is_negative(const char *value)
{
    double n;
    return *value == '-' && parse_number(value + 1, &n);
}

/* Returns the upper bound; NULL if a value has none. */
static const char *most(const struct flag *flag)
{
    switch (flag->kind) {
    case FLAG_INT:
    case FLAG_COUNT: return "2147483647";
    case FLAG_NUMBER: return "999999999";
    case FLAG_DURATION_MS: return "277777777h";
    case FLAG_SIZE: return "1000000G";
    default: return NULL;
    }
}

/* Returns whether a refused value would be valid with smaller numbers in it. */
static bool is_too_large(const struct flag *flag, const char *value)
{
    union {
        int whole;
        double number;
        int64_t ms;
        size_t size;
    } unused;
    struct flag same = *flag;
    char small[64];
    size_t n = 0;
    if (!most(flag)) return false;
    for (; *value && n < sizeof small - 1; value++) {
        bool digit = isdigit((unsigned char)*value);
        if (!digit || n == 0 || small[n - 1] != '1') small[n++] = digit ? '1' : *value;
    }
    small[n] = '\0';
    same.into = &unused;
    return *value == '\0' && assign(&same, small);
}

static void note(struct flags_given *given, const struct flag *flag, const char *value, const char *where)
{
    if (given)
        *array_add(given->items, given->count) = (struct flag_given){flag, value, xstrdup(where), false};
}

bool flag_set(const struct flag *flag, const char *value, const char *where, struct flags_given *given,
              struct err *err)
{
    if (assign(flag, value)) {
        note(given, flag, value, where);
        return true;
    }
    if (flag->kind == FLAG_COUNT && *value && (is_negative(value) || strspn(value, "0") == strlen(value)))
        return err_set(err, ERR_INVALID, "%s must be 1 or more, not %s", where, value);
    if (is_too_large(flag, value))
        return err_set(err, ERR_INVALID, "%s: %s is too large, the maximum is %s", where, value, most(flag));
    if ((flag->kind == FLAG_INT || flag->kind == FLAG_NUMBER) && is_negative(value))
        return err_set(err, ERR_INVALID, "%s must be 0 or more, not %s", where, value);
    return err_set(err, ERR_INVALID, "%s: \"%s\" is not %s", where, value, expected(flag));
}

const struct flag *flag_find(const struct flag *const *tables, struct str name, char letter)
{
    for (; *tables; tables++)
        for (const struct flag *flag = *tables; flag->name; flag++)
            if (letter ? flag->letter == letter : str_is(name, flag->name)) return flag;
    return NULL;
}

bool flag_unknown(const struct flag *const *tables, struct str name, const char *prefix, struct err *err)
{
    struct nearest nearest = nearest_to(name);
    for (; *tables; tables++)
        for (const struct flag *flag = *tables; flag->name; flag++) nearest_try(&nearest, flag->name);
    if (nearest.name)
        return err_set(err, ERR_INVALID, "unknown flag %s%.*s; did you mean %s%s?", prefix, STR_ARG(name),
                       prefix, nearest.name);
    return err_set(err, ERR_INVALID, "unknown flag %s%.*s", prefix, STR_ARG(name));
}

/* Returns whether the kubelet set the variable, for a Service that is called kubelua:
 * KUBELUA_PORT=tcp://10.0.0.7:80.
 */
static bool is_service_link(const char *name, const char *value)
{
    struct str text = str_of(value);
    return str_ends(str_of(name), STR("_PORT")) &&
           (str_starts(text, STR("tcp://")) || str_starts(text, STR("udp://")) ||
            str_starts(text, STR("sctp://")));
}

static bool set_from_environment(const struct flag *flag, const char *name, struct flags_given *given,
                                 struct err *err)
{
    const char *value = getenv(name);
    if (!value || !*value) return true;
    if (!is_service_link(name, value)) return flag_set(flag, value, name, given, err);
    log_warn("Ignoring a variable that Kubernetes sets for a Service; use enableServiceLinks: false in the "
             "pod spec",
             F("name", name), F("value", value));
    return true;
}

/* KUBELUA_LOG_FORMAT=json is --log-format=json. */
static bool from_environment(const struct flag *const *tables, struct flags_given *given, struct err *err)
{
    for (; *tables; tables++)
        for (const struct flag *flag = *tables; flag->name; flag++) {
            char name[64] = "KUBELUA_";
            size_t n = strlen(name);
            for (const char *c = flag->name; *c && n < sizeof name - 1; c++)
                name[n++] = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
            name[n] = '\0';
            if (!set_from_environment(flag, name, given, err)) return false;
        }
    return true;
}

/* Takes argv[*i], and argv[*i + 1] when that is its value. */
static bool long_flag(const struct flag *const *tables, int argc, char **argv, int *i,
                      struct flags_given *given, struct err *err)
{
    const char *text = argv[*i] + 2, *equals = strchr(text, '=');
    struct str name = {text, equals ? (size_t)(equals - text) : strlen(text)};
    const struct flag *flag = flag_find(tables, name, 0);
    char where[80];
    if (!flag) return flag_unknown(tables, name, "--", err);
    snprintf(where, sizeof where, "--%s", flag->name);
    if (equals) return flag_set(flag, equals + 1, where, given, err);
    if (flag->kind == FLAG_BOOL) return flag_set(flag, "true", where, given, err);
    if (flag->kind == FLAG_MODE) {
        const char *next = *i + 1 < argc ? argv[*i + 1] : "";
        if (flag->values && choice_has(flag->values, next))
            return err_set(err, ERR_INVALID, "%s takes its value after =: %s=%s", where, where, next);
        *(const char **)flag->into = "";
        note(given, flag, "", where);
        return true;
    }
    if (*i + 1 >= argc) return err_set(err, ERR_INVALID, "%s needs %s", where, flag->arg);
    return flag_set(flag, argv[++*i], where, given, err);
}

static bool short_flag(const struct flag *const *tables, int argc, char **argv, int *i,
                       struct flags_given *given, struct err *err)
{
    const char *text = argv[*i];
    const struct flag *flag = flag_find(tables, (struct str){0}, text[1]);
    char where[80];
    if (!flag) return err_set(err, ERR_INVALID, "unknown flag -%c", text[1]);
    snprintf(where, sizeof where, "-%c/--%s", flag->letter, flag->name);
    if (flag->kind == FLAG_BOOL) {
        if (text[2]) return err_set(err, ERR_INVALID, "%s does not take a value: \"%s\"", where, text);
        return flag_set(flag, "true", where, given, err);
    }
    if (text[2]) return flag_set(flag, text[2] == '=' ? text + 3 : text + 2, where, given, err);
    if (*i + 1 >= argc) return err_set(err, ERR_INVALID, "%s needs %s", where, flag->arg);
    return flag_set(flag, argv[++*i], where, given, err);
}

bool flags_parse(const struct flag *const *tables, int argc, char **argv, struct flag_list *rest,
                 struct flags_given *given, struct err *err)
{
    bool all = from_environment(tables, given, err);
    for (int i = 1; i < argc; i++) {
        const char *text = argv[i];
        struct err later, *to = all ? err : &later;
        bool ok = true;
        if (strcmp(text, "--") == 0) {
            while (++i < argc) list_add(rest, argv[i]);
            break;
        }
        if (text[0] != '-' || text[1] == '\0')
            list_add(rest, text);
        else if (text[1] == '-')
            ok = long_flag(tables, argc, argv, &i, given, to);
        else
            ok = short_flag(tables, argc, argv, &i, given, to);
        all = all && ok;
    }
    return all;
}

enum { COLUMN = 38, WIDTH = 80, WIDTH_MIN = 60 };

static size_t help_columns(void)
{
    struct winsize size;
    bool terminal = isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col;
    int width = terminal ? size.ws_col : WIDTH;
    return (size_t)((width < WIDTH_MIN ? WIDTH_MIN : width) - COLUMN - 1);
}

static void print_help(const char *help, size_t columns)
{
    struct str rest = str_of(help), line;
    for (int indent = 0; terminal_wrap(&rest, columns, &line); indent = COLUMN)
        printf("%*s %.*s\n", indent, "", STR_ARG(line));
}

void flags_print(const struct flag *table)
{
    size_t columns = help_columns();
    for (const struct flag *flag = table; flag->name; flag++) {
        char left[80];
        const char *before = !flag->arg ? "" : flag->kind == FLAG_MODE ? "[=" : " ";
        snprintf(left, sizeof left, "  %c%c%s --%s%s%s%s", flag->letter ? '-' : ' ',
                 flag->letter ? flag->letter : ' ', flag->letter ? "," : " ", flag->name, before,
                 flag->arg ? flag->arg : "", flag->kind == FLAG_MODE ? "]" : "");
        if (strlen(left) > COLUMN) /* its help stands in the next line, under the others' */
            printf("%s\n%-*s", left, COLUMN, "");
        else
            printf("%-*s", COLUMN, left);
        print_help(flag->help, columns);
    }
}
