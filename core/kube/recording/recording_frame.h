/* The lines of one zstd frame of a recording, inflated as they are read: memory holds a window and a line.
 * All frames of a recording share a bound, as a small file may ask for many large windows.
 * Owner: the recording; on its thread. */
#pragma once
#include <stdbool.h>

#include <zstd.h>

#include "base/buf.h"
#include "base/err.h"

enum { RECORDING_MEMORY_MAX = 512 << 20 };

struct recording_frame {
    ZSTD_DStream *zstd; /* NULL: nothing more is inflated */
    ZSTD_inBuffer in;
    struct buf text; /* inflated; lines before `at` were read */
    size_t at;
    size_t line;    /* that was read last, from 1 on */
    size_t *total;  /* what all frames hold */
    size_t counted; /* of it */
};

/* `data` is borrowed: a frame, and whatever follows when that is cut off. */
void recording_frame_init(struct recording_frame *frame, const char *data, size_t size, size_t *total);
/* The next line, without its end; borrowed until the next one. False at the end of the frame, with ERR_NONE,
 * or with what is wrong, after which nothing comes; the text does not say where. */
bool recording_frame_line(struct recording_frame *frame, size_t max, struct str *line, struct err *err);
/* Nothing more comes of it; its memory is given back. */
void recording_frame_end(struct recording_frame *frame);
void recording_frame_clear(struct recording_frame *frame);
