/* Label selectors in words. Signs are read as long as they make a longer sign, so "!==" is "!=" and "=". */
#include "sim/object/selector_lexer.h"

#include "base/mem.h"

static const struct {
    const char *text;
    enum sim_token_kind kind;
} signs[] = {
    {"!=", SIM_TOKEN_NOT_EQUALS}, {"==", SIM_TOKEN_DOUBLE_EQUALS}, {"=", SIM_TOKEN_EQUALS},
    {"!", SIM_TOKEN_NOT},         {"(", SIM_TOKEN_OPEN},           {")", SIM_TOKEN_CLOSE},
    {",", SIM_TOKEN_COMMA},       {">", SIM_TOKEN_GREATER},        {"<", SIM_TOKEN_LESS},
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_sign(char c)
{
    return c && strchr("=!(),><", c);
}

static struct sim_token take(struct str *rest, enum sim_token_kind kind, size_t n)
{
    struct sim_token token = {kind, {rest->p, n}};
    rest->p += n;
    rest->n -= n;
    return token;
}

struct sim_token sim_next_token(struct str *rest)
{
    while (rest->n && is_blank(rest->p[0])) rest->p++, rest->n--;
    if (rest->n == 0) return (struct sim_token){SIM_TOKEN_END, STR("")};
    for (size_t i = 0; i < ARRAY_LEN(signs); i++)
        if (str_starts(*rest, str_of(signs[i].text))) return take(rest, signs[i].kind, strlen(signs[i].text));
    size_t n = 0;
    while (n < rest->n && !is_blank(rest->p[n]) && !is_sign(rest->p[n])) n++;
    struct sim_token token = take(rest, SIM_TOKEN_WORD, n);
    if (str_is(token.text, "in")) token.kind = SIM_TOKEN_IN;
    if (str_is(token.text, "notin")) token.kind = SIM_TOKEN_NOT_IN;
    return token;
}
