/* Lines of subjects; see bench_event.h. */
#include "bench/run/bench_event.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "object/parse/tape.h"

/* Text of a line that an error shows. */
enum { SHOWN = 80 };

static double number(const struct tape *tape, size_t at)
{
    double value;
    if (tape_type(tape, at) != 'd') {
        int64_t n = tape_int(tape, at, -1);
        return n < 0 ? NAN : (double)n;
    }
    memcpy(&value, &tape->words[at + 1], sizeof value);
    return value;
}

static bool read_latency(const struct tape *tape, size_t list, struct bench_event *event, struct err *err)
{
    size_t i = 0, at = tape_first(tape, list, NULL);
    for (; at && i < BENCH_PERCENTILES; at = tape_next(tape, list, at, NULL))
        event->latency_us[i++] = number(tape, at);
    event->has_latency = i == BENCH_PERCENTILES && !at;
    for (i = 0; event->has_latency && i < BENCH_PERCENTILES; i++)
        if (isnan(event->latency_us[i])) event->has_latency = false;
    return event->has_latency || err_set(err, ERR_PARSE, "latency_us takes null or four numbers");
}

static bool read_marker(const struct tape *tape, size_t root, struct bench_event *event, struct err *err)
{
    struct str name = tape_str(tape, tape_field(tape, root, STR("name")));
    size_t latency = tape_field(tape, root, STR("latency_us"));
    event->kind = BENCH_MARKER;
    event->updates = tape_int(tape, tape_field(tape, root, STR("updates")), -1);
    if (!name.n || event->updates < 0) return err_set(err, ERR_PARSE, "a marker has a name and its updates");
    snprintf(event->name, sizeof event->name, "%.*s", STR_ARG(name));
    return tape_type(tape, latency) != '[' || read_latency(tape, latency, event, err);
}

static bool read_measurements(const struct tape *tape, size_t list, struct bench_event *event,
                              struct err *err)
{
    event->measurements = list ? 0 : BENCH_ALL;
    for (size_t at = list ? tape_first(tape, list, NULL) : 0; at; at = tape_next(tape, list, at, NULL)) {
        struct str name = tape_str(tape, at);
        unsigned bit = bench_measurement_bit(name);
        if (!bit) return err_set(err, ERR_PARSE, "there is no measurement \"%.*s\"", STR_ARG(name));
        event->measurements |= bit;
    }
    return true;
}

static bool read_synced(const struct tape *tape, size_t root, struct bench_event *event, struct err *err)
{
    struct str version = tape_str(tape, tape_field(tape, root, STR("version")));
    event->kind = BENCH_SYNCED;
    snprintf(event->version, sizeof event->version, "%.*s", STR_ARG(version));
    for (size_t i = 0; i < BENCH_METRICS; i++) {
        size_t at = tape_field(tape, root, str_of(bench_metric_name(i)));
        event->figures[i] = at ? number(tape, at) : NAN;
    }
    return read_measurements(tape, tape_field(tape, root, STR("measurements")), event, err);
}

static bool read_event(const struct tape *tape, struct bench_event *event, struct err *err)
{
    size_t root = tape_root(tape);
    if (tape_type(tape, root) != '{') return err_set(err, ERR_PARSE, "it is no object");
    struct str kind = tape_str(tape, tape_field(tape, root, STR("event")));
    event->objects = tape_int(tape, tape_field(tape, root, STR("objects")), -1);
    if (event->objects < 0) return err_set(err, ERR_PARSE, "it has no \"objects\"");
    if (str_is(kind, "synced")) return read_synced(tape, root, event, err);
    if (str_is(kind, "marker")) return read_marker(tape, root, event, err);
    return err_set(err, ERR_PARSE, "there is no event \"%.*s\"", STR_ARG(kind));
}

bool bench_event_parse(struct str line, struct bench_event *event, struct err *err)
{
    struct tape tape;
    struct buf padded = {0};
    struct tape_parser *parser = tape_parser_new();
    buf_str(&padded, line);
    memset(buf_reserve(&padded, TAPE_PADDING), 0, TAPE_PADDING);
    *event = (struct bench_event){.measurements = BENCH_ALL};
    bool ok = tape_parse(parser, padded.data, line.n, &tape, err) && read_event(&tape, event, err);
    if (!ok)
        err_wrap(err, "it printed \"%.*s%s\"", line.n > SHOWN ? SHOWN : (int)line.n, line.p ? line.p : "",
                 line.n > SHOWN ? "..." : "");
    tape_parser_free(parser);
    buf_clear(&padded);
    return ok;
}
