/* Optimal string alignment; see nearest.h. */
#include "base/text/nearest.h"

#include <ctype.h>
#include <string.h>

enum { LENGTH_MAX = 60, LETTERS_OF_A_SLIP = 3 };

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Capitals are no mistake. */
static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Computes the distance of two strings of at most LENGTH_MAX bytes. A row has the distances of a prefix of
 * `a` to each prefix of `b`. */
static size_t distance(struct str a, struct str b)
{
    size_t rows[3][LENGTH_MAX + 1], *earlier = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b.n; j++) row[j] = j;
    for (size_t i = 1; i <= a.n; i++) {
        size_t *free = earlier;
        earlier = last;
        last = row;
        row = free;
        row[0] = i;
        for (size_t j = 1; j <= b.n; j++) {
            bool same = same_letter(a.p[i - 1], b.p[j - 1]);
            row[j] = smallest(last[j] + 1, row[j - 1] + 1, last[j - 1] + !same);
            bool swapped =
                i > 1 && j > 1 && same_letter(a.p[i - 1], b.p[j - 2]) && same_letter(a.p[i - 2], b.p[j - 1]);
            if (swapped && earlier[j - 2] + 1 < row[j]) row[j] = earlier[j - 2] + 1;
        }
    }
    return row[b.n];
}

struct nearest nearest_to(struct str wanted)
{
    size_t slips = wanted.n < LETTERS_OF_A_SLIP ? 1 : wanted.n / LETTERS_OF_A_SLIP;
    size_t bound = wanted.n > LENGTH_MAX ? 0 : slips + 1;
    return (struct nearest){.wanted = wanted, .distance = bound < wanted.n ? bound : wanted.n};
}

void nearest_try(struct nearest *nearest, const char *name)
{
    struct str text = str_of(name);
    if (text.n > LENGTH_MAX || nearest->distance == 0) return;
    size_t d = distance(nearest->wanted, text);
    if (d >= nearest->distance) return;
    nearest->distance = d;
    nearest->name = name;
}
