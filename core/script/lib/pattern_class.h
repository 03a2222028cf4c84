/* Classes of bytes, as %a and its like name them in patterns. They depend on no locale.
 * Owner: nobody. May be used anywhere. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum {
    BYTE_ALPHA = 1,
    BYTE_CONTROL = 2,
    BYTE_DIGIT = 4,
    BYTE_LOWER = 8,
    BYTE_PUNCT = 16,
    BYTE_SPACE = 32,
    BYTE_UPPER = 64,
    BYTE_HEX = 128,
};

extern const uint8_t pattern_bytes[256];   /* what each byte is */
extern const uint8_t pattern_classes[256]; /* the bits that a letter such as 'a' stands for; 0 for none */

/* `c` is what the letter `name` behind a % stands for: small letters are classes, capitals their opposites,
 * and all other bytes themselves. */
static inline bool pattern_class(unsigned char c, unsigned char name)
{
    uint8_t bits = pattern_classes[name];
    if (bits != 0) return ((pattern_bytes[c] & bits) != 0) == ((name & 0x20) != 0);
    if (name == 'z') return c == 0;
    if (name == 'Z') return c != 0;
    return c == name;
}
