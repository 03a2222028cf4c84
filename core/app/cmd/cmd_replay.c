/* `kubelua replay`: scripts on a recorded stream. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/cmd/cmd.h"
#include "app/cmd/cmd_run.h"
#include "app/options/options.h"
#include "app/specs/replay.h"
#include "app/specs/replay_kinds.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/writer.h"

enum { FLUSH_MS = 2000, SLEEP_MS = 200 };

static struct replay_run {
    struct options options;
    const char *speed;
    struct script_files files;
    const char *recording;
    double pace; /* of real time; 0: as fast as it goes */
    int64_t begun_ms;
    struct replay_counts counts;
    bool played; /* perhaps not to its end */
} given = {.speed = "1"};

static volatile sig_atomic_t interrupted;

static const struct flag_group *groups(void)
{
    static struct flag table[6];
    static struct flag_group all_groups[3];
    struct options *o = &given.options;
    const struct flag all[] = {
        FLAG_SCRIPT_FILES(&o->files),
        FLAG_RECURSIVE(&o->recursive),
        {"speed", 0, FLAG_STRING, &given.speed, "N|max", "max",
         "Playback speed: N times the recorded speed, or max for no delays (default 1)"},
        flag_log_format(o),
        flag_verbosity(o),
    };
    all_groups[0].flags = flags_fill(table, ARRAY_LEN(table), all, ARRAY_LEN(all));
    all_groups[1] = (struct flag_group){"Script flags (as for kubelua run):", script_flags(o)};
    return all_groups;
}

static void on_interrupt(int signum)
{
    interrupted = 1;
}

/* Until the real time is as far as that of the recording. A signal that comes right before a sleep is seen
 * after it, so none is long. */
static bool wait_until(void *ctx, int64_t at_ms)
{
    const struct replay_run *run = ctx;
    while (!interrupted && run->pace > 0) {
        double ahead_ms = (double)at_ms / run->pace - (double)(clock_now_ms(clock_real()) - run->begun_ms);
        int64_t left_ms = ahead_ms < SLEEP_MS ? (int64_t)ahead_ms : SLEEP_MS;
        if (left_ms <= 0) break;
        struct timespec ts = {.tv_sec = left_ms / 1000, .tv_nsec = left_ms % 1000 * 1000000};
        nanosleep(&ts, NULL);
    }
    return !interrupted;
}

static bool load_scripts(struct spec_engine *engine, const struct script_files *files, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < files->count; i++) {
        ok = spec_engine_load(engine, files->paths[i], files->names[i], err);
        if (!ok && !strstr(err->text, files->paths[i])) err_wrap(err, "%s", files->paths[i]); /* a kind */
    }
    return ok;
}

static int code_of(bool ok, const struct err *err, int otherwise)
{
    return ok ? EXIT_OK : err->code == ERR_CANCELLED ? EXIT_INTERRUPTED : otherwise;
}

static int play_on(struct replay_run *run, struct spec_engine *engine, struct spec_replay *replay,
                   struct err *err)
{
    const struct spec_replay_options options = {.wait = wait_until, .ctx = run};
    run->begun_ms = clock_now_ms(clock_real());
    if (!spec_replay_begin(replay, &options, err) || !load_scripts(engine, &run->files, err) ||
        !replay_kinds_check(engine, replay, run->recording, err))
        return code_of(false, err, EXIT_USAGE);
    run->begun_ms = clock_now_ms(clock_real());
    bool ok = spec_replay_play(replay, &options, err);
    spec_replay_get_counts(replay, &run->counts);
    run->played = true;
    return code_of(ok, err, EXIT_INCOMPLETE);
}

/* The exit code; `err` is told unless that is 0. */
static int play(struct replay_run *run, struct err *err)
{
    const struct options *o = &run->options;
    struct spec_engine_options options = {.namespace_ = "",
                                          .live = true,
                                          .limits = &o->script_limits,
                                          .trusted = o->trusted.items,
                                          .trusted_count = o->trusted.count,
                                          .lua_path = o->lua_path.items,
                                          .lua_path_count = o->lua_path.count};
    if (!spec_replay_begin_us(run->recording, &options.wall_us, err)) return EXIT_USAGE;
    struct spec_engine *engine = spec_engine_open(&options, err);
    struct spec_replay *replay = engine ? spec_replay_open(engine, run->recording, err) : NULL;
    int exit_code = replay ? play_on(run, engine, replay, err) : EXIT_USAGE;
    spec_replay_close(replay);
    spec_engine_free(engine);
    return exit_code;
}

/* Behind all that scripts printed. */
static void print_counts(const struct replay_run *run)
{
    unsigned long long objects = run->counts.objects, changes = run->counts.changes;
    fprintf(stderr, "Played %s: %llu object%s listed, %llu change%s\n", run->recording, objects,
            objects == 1 ? "" : "s", changes, changes == 1 ? "" : "s");
}

static bool parse_speed(struct replay_run *run, struct err *err)
{
    char *end;
    if (strcmp(run->speed, "max") == 0) return true;
    run->pace = strtod(run->speed, &end);
    if (*end || !(run->pace > 0 && run->pace <= 1e6))
        return err_set(err, ERR_INVALID,
                       "--speed: \"%s\" must be a number greater than 0 and at most 1000000, or max",
                       run->speed);
    return true;
}

static bool check(struct replay_run *run, const struct flag_list *files, struct err *err)
{
    struct options *o = &run->options;
    if (files->count != 1)
        return err_set(err, ERR_INVALID,
                       files->count ? "unexpected argument \"%s\""
                                    : "no recording given; usage: kubelua replay FILE%s",
                       files->count ? files->items[1] : "");
    run->recording = files->items[0];
    log_setup(strcmp(o->log_format, "json") == 0 ? LOG_JSON : LOG_TEXT, o->verbosity);
    return parse_speed(run, err) && options_complete(o, true, &run->files, err);
}

static void watch_interrupt(void)
{
    const struct sigaction action = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

static int run(struct command_line *line)
{
    struct replay_run *r = &given;
    struct err err;
    int exit_code = EXIT_USAGE;
    bool ok = check(r, &line->arguments, &err);
    if (ok) {
        watch_interrupt();
        writer_end_with_reader();
        writer_start(WRITER_BUFFER_DEFAULT, clock_real());
        exit_code = play(r, &err);
        writer_stop(FLUSH_MS);
        if (r->played) print_counts(r);
    }
    if (!ok || (exit_code != EXIT_OK && exit_code != EXIT_INTERRUPTED)) command_fail(line, err.text);
    if (ok) exit_code = launch_check_output(line->argv[0], exit_code);
    script_files_clear(&r->files);
    return exit_code;
}

const struct command cmd_replay = {
    .name = "replay",
    .summary = "Run scripts against a recording",
    .groups = groups,
    .run = run,
};
