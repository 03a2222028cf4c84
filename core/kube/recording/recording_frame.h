/* Lines of one zstd frame of a recording, inflated as they are read: memory holds a window and a line. All
 * frames of a recording share a limit, as a small file may need many large windows. Owner: the recording; on
 * its thread. */
#pragma once
#include <stdbool.h>

#include <zstd.h>

#include "base/buf.h"
#include "base/err.h"

enum { RECORDING_MEMORY_MAX = 512 << 20 };

struct recording_frame {
    ZSTD_DStream *zstd; /* NULL: ended */
    ZSTD_inBuffer in;
    struct buf text; /* inflated text; lines before `at` were read */
    size_t at;
    size_t line;    /* number of the last line read, from 1 */
    size_t *total;  /* memory of all frames */
    size_t counted; /* this frame's part of it */
};

/* Borrows `data`: a frame, with the bytes after it if the frame is truncated. */
void recording_frame_init(struct recording_frame *frame, const char *data, size_t size, size_t *total);
/* Returns the next line, without its end, borrowed until the next one. Returns false at the end of the frame,
 * with ERR_NONE, or on failure, after which nothing comes; the error does not name the place. */
bool recording_frame_line(struct recording_frame *frame, size_t max, struct str *line, struct err *err);
/* Ends the frame and frees its memory. */
void recording_frame_end(struct recording_frame *frame);
void recording_frame_clear(struct recording_frame *frame);
