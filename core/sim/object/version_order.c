/* Kube-like versions: v<major>, or v<major>alpha<minor>, or v<major>beta<minor>. */
#include "sim/object/version_order.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

struct version {
    int stage; /* 3 stable, 2 beta, 1 alpha, 0 nothing of the sort */
    long major, minor;
};

static bool number(const char **at, long *out)
{
    char *end;
    if (!isdigit((unsigned char)**at) || **at == '0') return false;
    *out = strtol(*at, &end, 10);
    *at = end;
    return true;
}

static struct version parse(const char *text)
{
    static const struct {
        struct str word;
        int stage;
    } stages[] = {{{"beta", 4}, 2}, {{"alpha", 5}, 1}};
    struct version v = {0}, other = {0};
    if (*text++ != 'v' || !number(&text, &v.major)) return other;
    v.stage = 3;
    if (!*text) return v;
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        if (!str_starts(str_of(text), stages[i].word)) continue;
        text += stages[i].word.n;
        v.stage = stages[i].stage;
        return number(&text, &v.minor) && !*text ? v : other;
    }
    return other;
}

int sim_compare_versions(const char *a, const char *b)
{
    struct version va = parse(a), vb = parse(b);
    if (va.stage != vb.stage) return vb.stage - va.stage;
    if (va.stage == 0) return strcmp(a, b);
    if (va.major != vb.major) return va.major > vb.major ? -1 : 1;
    return (va.minor < vb.minor) - (va.minor > vb.minor);
}
