/* Warning headers: 299 <agent> "<text>", as RFC 7234 writes them; see warning.h. */
#include "kube/api/warning.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"

enum { SEEN_MAX = 1000, TEXT_MAX = 512, OF_RESPONSE_MAX = 100 };

struct warnings {
    uint64_t seen[SEEN_MAX]; /* hashes of logged warnings; once full, no more are logged */
    size_t count;
};

struct warnings *warnings_new(void)
{
    return NEW(struct warnings);
}

void warnings_free(struct warnings *warnings)
{
    free(warnings);
}

static bool take_word(struct str *rest, struct str *word)
{
    while (rest->n && (*rest->p == ' ' || *rest->p == ',' || *rest->p == '\t')) {
        rest->p++;
        rest->n--;
    }
    *word = (struct str){rest->p, 0};
    while (rest->n && *rest->p != ' ') {
        rest->p++;
        rest->n--;
        word->n++;
    }
    return word->n > 0;
}

/* Takes the quoted string at the beginning of `*rest`. */
static bool take_quoted(struct str *rest, char *out, size_t size)
{
    size_t n = 0, i = 1;
    if (!rest->n || *rest->p != '"') return false;
    for (; i < rest->n && rest->p[i] != '"'; i++) {
        if (rest->p[i] == '\\' && i + 1 < rest->n) i++;
        unsigned char c = (unsigned char)rest->p[i];
        if (n + 1 < size) out[n++] = c < ' ' ? ' ' : (char)c;
    }
    if (i >= rest->n) return false;
    out[n] = '\0';
    rest->p += i + 1;
    rest->n -= i + 1;
    return true;
}

bool warning_next(struct str *rest, char *out, size_t size)
{
    struct str code, agent;
    char date[64];
    while (take_word(rest, &code) && take_word(rest, &agent)) {
        while (rest->n && *rest->p == ' ') {
            rest->p++;
            rest->n--;
        }
        if (!take_quoted(rest, out, size)) return false;
        struct str behind = *rest; /* a date may follow, in quotes too */
        while (behind.n && *behind.p == ' ') {
            behind.p++;
            behind.n--;
        }
        if (take_quoted(&behind, date, sizeof date)) *rest = behind;
        if (str_is(code, "299")) return true;
    }
    return false;
}

size_t warnings_log(struct warnings *warnings, struct str header, const char *request)
{
    char text[TEXT_MAX];
    size_t before = warnings->count;
    for (int n = 0; n < OF_RESPONSE_MAX && warning_next(&header, text, sizeof text); n++) {
        uint64_t hash = hash_str(str_of(text));
        size_t i = 0;
        while (i < warnings->count && warnings->seen[i] != hash) i++;
        if (i < warnings->count || warnings->count == SEEN_MAX) continue;
        warnings->seen[warnings->count++] = hash;
        log_warn("Warning from server", F("text", text), F("request", request));
    }
    return warnings->count - before;
}
