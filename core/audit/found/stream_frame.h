/* The form of a frame: four bytes of length, the lowest first, one of the type, then numbers and texts
 * (wire.h). For the files of streams only. */
#pragma once

enum { FRAME_HEAD = 5 };

enum frame_type {
    FRAME_RULES,
    FRAME_FOUND,  /* counts, objects without rows, and why rules are not asked */
    FRAME_OBJECT, /* one that has rows, and some of them */
    FRAME_MORE,   /* further rows of that object */
    FRAME_TOTAL,
    FRAME_PRINT,
    FRAME_TROUBLE,
    FRAME_END,
    FRAME_TYPES
};

enum { FRAME_ROWS_ENOUGH = 1 << 20 }; /* bytes of rows, after which another frame begins */
