/* How long an error that comes again and again may be tried again at once (contract R-27): the first one
 * opens the window; it closes when it is over, or after a minute without errors. Owner: whoever embeds it;
 * zero-initialised is closed. May be used from any callback. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { ERROR_WINDOW_QUIET_MS = 60000 };

struct error_window {
    bool open;
    int64_t first_ms, last_ms;
};

/* There was such an error; gives whether it may be tried again at once. `length_ms` 0: never. */
static inline bool error_window_allows(struct error_window *window, int64_t now_ms, int64_t length_ms)
{
    if (window->open && now_ms - window->last_ms >= ERROR_WINDOW_QUIET_MS) window->open = false;
    if (!window->open) window->first_ms = now_ms;
    window->last_ms = now_ms;
    window->open = length_ms > 0 && now_ms - window->first_ms <= length_ms;
    return window->open;
}
