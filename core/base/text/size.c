/* Sizes as users write them; see size.h. */
#include "base/text/size.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

bool size_parse(const char *text, size_t *out)
{
    static const struct {
        const char *suffix;
        double factor;
    } suffixes[] = {{"", 1},      {"k", 1e3},        {"M", 1e6},          {"G", 1e9},
                    {"Ki", 1024}, {"Mi", 1048576.0}, {"Gi", 1073741824.0}};
    char *end;
    if (!isdigit((unsigned char)*text)) return false;
    double n = strtod(text, &end);
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
        if (strcmp(end, suffixes[i].suffix) != 0) continue;
        if (n * suffixes[i].factor > 1e15) return false;
        *out = (size_t)(n * suffixes[i].factor);
        return true;
    }
    return false;
}

void size_text(uint64_t bytes, struct buf *out)
{
    static const char *const units[] = {"", "Ki", "Mi", "Gi"};
    size_t unit = 0;
    for (; bytes > 0 && bytes % 1024 == 0 && unit + 1 < ARRAY_LEN(units); unit++) bytes /= 1024;
    buf_printf(out, "%llu%s", (unsigned long long)bytes, units[unit]);
}
