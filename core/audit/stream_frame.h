/* The form of a frame: four bytes of length, the lowest first, one of the type, then numbers and texts
 * (wire.h). For the files of streams only. */
#pragma once

enum { FRAME_HEAD = 5 };

enum frame_type { FRAME_RULES, FRAME_FOUND, FRAME_PRINT, FRAME_TROUBLE, FRAME_END, FRAME_TYPES };
