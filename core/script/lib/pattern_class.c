/* The tables of classes; see pattern_class.h. */
#include "script/lib/pattern_class.h"

const uint8_t pattern_bytes[256] = {
    [0 ... 8] = BYTE_CONTROL,
    [9 ... 13] = BYTE_CONTROL | BYTE_SPACE,
    [14 ... 31] = BYTE_CONTROL,
    [' '] = BYTE_SPACE,
    ['!' ... '/'] = BYTE_PUNCT,
    ['0' ... '9'] = BYTE_DIGIT | BYTE_HEX,
    [':' ... '@'] = BYTE_PUNCT,
    ['A' ... 'F'] = BYTE_ALPHA | BYTE_UPPER | BYTE_HEX,
    ['G' ... 'Z'] = BYTE_ALPHA | BYTE_UPPER,
    ['[' ... '`'] = BYTE_PUNCT,
    ['a' ... 'f'] = BYTE_ALPHA | BYTE_LOWER | BYTE_HEX,
    ['g' ... 'z'] = BYTE_ALPHA | BYTE_LOWER,
    ['{' ... '~'] = BYTE_PUNCT,
    [127] = BYTE_CONTROL,
};

#define BOTH(letter, bits) [letter] = (bits), [(letter) - 'a' + 'A'] = (bits)

const uint8_t pattern_classes[256] = {
    BOTH('a', BYTE_ALPHA),
    BOTH('c', BYTE_CONTROL),
    BOTH('d', BYTE_DIGIT),
    BOTH('g', BYTE_ALPHA | BYTE_DIGIT | BYTE_PUNCT),
    BOTH('l', BYTE_LOWER),
    BOTH('p', BYTE_PUNCT),
    BOTH('s', BYTE_SPACE),
    BOTH('u', BYTE_UPPER),
    BOTH('w', BYTE_ALPHA | BYTE_DIGIT),
    BOTH('x', BYTE_HEX),
};
