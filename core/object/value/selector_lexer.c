/* Tokens of label selectors; see selector_lexer.h. */
#include "object/value/selector_lexer.h"

#include <stdbool.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_special(char c)
{
    return c != '\0' && strchr("=!(),<>", c);
}

static enum selector_token name_or_word(struct str text)
{
    if (str_is(text, "in")) return TOKEN_IN;
    return str_is(text, "notin") ? TOKEN_NOT_IN : TOKEN_NAME;
}

static enum selector_token special(char first, char second, size_t *length)
{
    *length = second == '=' && (first == '=' || first == '!') ? 2 : 1;
    switch (first) {
    case '=': return *length == 2 ? TOKEN_DOUBLE_EQUALS : TOKEN_EQUALS;
    case '!': return *length == 2 ? TOKEN_NOT_EQUALS : TOKEN_NOT;
    case '(': return TOKEN_OPEN;
    case ')': return TOKEN_CLOSE;
    case ',': return TOKEN_COMMA;
    case '<': return TOKEN_LESS;
    default: return TOKEN_GREATER;
    }
}

void selector_lexer_step(struct selector_lexer *lexer)
{
    struct str rest = lexer->rest;
    while (rest.n > 0 && is_blank(*rest.p)) rest.p++, rest.n--;
    size_t length = 0;
    if (rest.n == 0) {
        lexer->token = TOKEN_END;
    } else if (is_special(*rest.p)) {
        lexer->token = special(rest.p[0], rest.n > 1 ? rest.p[1] : '\0', &length);
    } else {
        while (length < rest.n && !is_blank(rest.p[length]) && !is_special(rest.p[length])) length++;
        lexer->token = name_or_word((struct str){rest.p, length});
    }
    lexer->text = (struct str){rest.p, length};
    lexer->rest = (struct str){rest.p + length, rest.n - length};
}

void selector_lexer_start(struct selector_lexer *lexer, struct str text)
{
    lexer->rest = text;
    selector_lexer_step(lexer);
}
