/* What a framer asks in specs: whether a text is one JSON value. Owner: the test. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Of a group of tests: the parser that is_one_object uses. */
int one_object_open(void **state);
int one_object_close(void **state);
/* As `is_one` of struct frame_sink. */
bool is_one_object(void *ctx, const char *text, size_t len);
