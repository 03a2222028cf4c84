/* What reads from a source played by hand; see reader_fixture.h. */
#include "core/informer/support/reader_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/informer/support/objects.h"

struct scripted_source reader_source;
struct virtual_clock reader_clock;
struct buf reader_told;

void reader_open(void)
{
    objects_open();
    virtual_clock_init(&reader_clock);
    reader_source = (struct scripted_source){0};
}

void reader_close(void)
{
    scripted_source_clear(&reader_source);
    assert_int_equal(clock_next_due_ms(&reader_clock.clock), INT64_MAX);
    virtual_clock_clear(&reader_clock);
    buf_clear(&reader_told);
    objects_close();
}

void assert_reader_told(const char *expected)
{
    assert_string_equal(buf_text(&reader_told), expected);
    reader_told.len = 0;
}

void assert_reader_asked(const char *expected)
{
    assert_string_equal(source_asked(&reader_source), expected);
}

void assert_reader_asked_after(int64_t ms, const char *expected)
{
    virtual_clock_advance(&reader_clock, ms - 1);
    assert_reader_asked("");
    virtual_clock_advance(&reader_clock, 1);
    assert_reader_asked(expected);
}
