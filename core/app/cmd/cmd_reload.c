/* `kubelua reload` and `kubelua rollback`: ask a running engine for a reload, wait for its end, and report
 * what came of it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/admin/admin_client.h"
#include "app/cmd/cmd.h"
#include "base/cli/flags.h"
#include "base/mem.h"
#include "object/parse/document.h"

/* --- Asking an engine for a reload, waiting for its end, telling what came of it */

enum { LOOK_MS = 50, ANSWER_MS = 10000 };

struct arguments {
    const char *method;
    const char *path, *output;
    struct flag_list scripts;
};

static const struct flag *flags_of(struct arguments *a)
{
    static struct flag table[3];
    a->output = "text";
    const struct flag flags[] = {
        {"output", 'o', FLAG_CHOICE, &a->output, "text|json", "text|json", "Output format (default text)"},
        FLAG_ADMIN_SOCKET(&a->path),
    };
    return flags_fill(table, ARRAY_LEN(table), flags, ARRAY_LEN(flags));
}

static struct admin_client *list(const struct arguments *a, struct err *err)
{
    return admin_client_request(a->path, "reloads", err);
}

static struct admin_client *begin(const struct arguments *a, struct err *err)
{
    struct buf scripts = {0};
    buf_putc(&scripts, '[');
    for (size_t i = 0; i < a->scripts.count; i++) {
        buf_puts(&scripts, i ? "," : "");
        buf_json_string(&scripts, str_of(a->scripts.items[i]));
    }
    buf_putc(&scripts, ']');
    struct admin_client *client = admin_client_call(a->path, a->method, buf_text(&scripts), ANSWER_MS, err);
    buf_clear(&scripts);
    return client;
}

/* --- one script of an answer */

static struct str text_of(const struct tape *tape, size_t script, const char *field)
{
    return tape_str(tape, tape_field(tape, script, str_of(field)));
}

static int64_t number_of(const struct tape *tape, size_t script, const char *field)
{
    return tape_int(tape, tape_field(tape, script, str_of(field)), 0);
}

static size_t first(const struct admin_client *client)
{
    const struct tape *tape = admin_client_tape(client);
    return tape_first(tape, tape_field(tape, admin_client_result(client), STR("scripts")), NULL);
}

static size_t next(const struct admin_client *client, size_t script)
{
    const struct tape *tape = admin_client_tape(client);
    return tape_next(tape, tape_field(tape, admin_client_result(client), STR("scripts")), script, NULL);
}

static size_t find(const struct admin_client *client, struct str name)
{
    size_t script = first(client);
    while (script && !str_eq(text_of(admin_client_tape(client), script, "name"), name))
        script = next(client, script);
    return script;
}

/* One of those that were begun. */
static bool is_waiting(const struct admin_client *begun, const struct admin_client *now)
{
    for (size_t script = first(begun); script; script = next(begun, script)) {
        size_t same = find(now, text_of(admin_client_tape(begun), script, "name"));
        if (same && tape_field(admin_client_tape(now), same, STR("candidate"))) return true;
    }
    return false;
}

/* --- what came of it */

/* "  it is what generation 1 (since 2026-11-22T15:04:05Z, 3fa2c1d40b12) was": of what was before the script.
 */
static void print_before(const char *begin, const struct tape *tape, size_t script, const char *end)
{
    size_t at = tape_field(tape, script, STR("before"));
    if (!at) return;
    struct str since = text_of(tape, at, "takenOver");
    if (!since.n) since = STR("engine start");
    printf("  %s generation %" PRId64 " (since %.*s, %.*s)%s\n", begin, number_of(tape, at, "generation"),
           STR_ARG(since), STR_ARG(text_of(tape, at, "hash")), end);
}

/* Which generations a rollback exchanged, and what becomes of the next edit. */
static void print_return(const struct tape *old_tape, size_t old, const struct tape *tape, size_t script)
{
    bool is_file = tape_bool(tape, tape_field(tape, script, STR("fileIsRunning")), false);
    print_before("it is what", old_tape, old, " was");
    print_before("it replaces", tape, script, " (a second rollback returns to it)");
    printf("  %.*s contains %s; its next change will be loaded%s\n", STR_ARG(text_of(tape, script, "path")),
           is_file ? "the same" : "a different version",
           is_file ? "" : ", and kubelua reload loads it as it is");
}

/* Prints what became of the script, unless that is left out; gives whether it runs as was asked for. */
static bool report(const struct arguments *a, const struct admin_client *before,
                   const struct admin_client *after, size_t script)
{
    const struct tape *tape = admin_client_tape(after), *old_tape = admin_client_tape(before);
    struct str name = text_of(tape, script, "name"), error = text_of(tape, script, "reloadError");
    size_t old = find(before, name);
    int64_t generation = number_of(tape, script, "generation");
    bool tried = !old || number_of(old_tape, old, "tried") != number_of(tape, script, "tried");
    bool taken_over = generation && (!old || number_of(old_tape, old, "generation") != generation);
    bool good = taken_over || !error.n || (!tried && generation);
    if (strcmp(a->output, "json") == 0) return good;
    printf("%.*s: ", STR_ARG(name));
    if (taken_over)
        printf("generation %" PRId64 " runs, after a pause of %.2f ms\n", generation,
               (double)number_of(tape, script, "pauseMicroseconds") / 1000);
    else if (error.n && !generation)
        printf("refused, not running: %.*s\n", STR_ARG(error));
    else if (tried && error.n)
        printf("refused, generation %" PRId64 " runs on: %.*s\n", generation, STR_ARG(error));
    else
        printf("unchanged, generation %" PRId64 " runs\n", generation);
    if (taken_over && old && strcmp(a->method, "rollback") == 0) print_return(old_tape, old, tape, script);
    return good;
}

/* What was asked, and how it was before, at first and now. */
struct course {
    struct admin_client *before, *begun, *now;
};

static void print_json(const struct admin_client *client)
{
    struct buf text = {0};
    document_json(admin_client_tape(client), admin_client_result(client), &text);
    fwrite(text.data, 1, text.len, stdout);
    buf_clear(&text);
}

static int print_all(const struct arguments *a, const struct course *course)
{
    bool good = true;
    if (strcmp(a->output, "json") == 0) print_json(course->now);
    for (size_t script = first(course->begun); script; script = next(course->begun, script)) {
        size_t same = find(course->now, text_of(admin_client_tape(course->begun), script, "name"));
        if (same) good &= report(a, course->before, course->now, same);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) fputs("kubelua: stdout: cannot be written\n", stderr);
    return good ? EXIT_OK : EXIT_INCOMPLETE;
}

static void rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000L}, NULL);
}

static int carry_out(const struct arguments *a, struct err *err)
{
    int code = EXIT_USAGE;
    struct course course = {.before = list(a, err)};
    if (course.before) course.begun = begin(a, err);
    if (course.begun) course.now = list(a, err);
    while (course.now && is_waiting(course.begun, course.now)) {
        rest();
        admin_client_free(course.now);
        course.now = list(a, err);
    }
    if (course.now)
        code = print_all(a, &course);
    else
        fprintf(stderr, "kubelua %s: %s\n", a->method, err->text);
    admin_client_free(course.before);
    admin_client_free(course.begun);
    admin_client_free(course.now);
    return code;
}

static int run(const char *method, int argc, char **argv)
{
    struct arguments arguments = {.method = method}, *a = &arguments;
    struct err err;
    bool one = strcmp(a->method, "rollback") == 0;
    bool ok = flags_parse((const struct flag *const[]){flags_of(a), NULL}, argc, argv, &a->scripts, &err);
    if (ok && one && a->scripts.count != 1)
        ok = err_set(&err, ERR_INVALID, "missing script; usage: kubelua rollback SCRIPT");
    int code = EXIT_USAGE;
    if (ok)
        code = carry_out(a, &err);
    else
        fprintf(stderr, "kubelua %s: %s\n", a->method, err.text);
    flag_list_clear(&a->scripts);
    return code;
}

static void print_flags(void)
{
    struct arguments arguments;
    flags_print(flags_of(&arguments));
}

/* --- the two commands */

static int run_reload(int argc, char **argv)
{
    return run("reload", argc, argv);
}

static void help_reload(void)
{
    puts("Reload changed scripts of a running engine and wait until they run.\n\n"
         "The engine also reloads by itself when a file changes. This command reports the result, and "
         "retries\n"
         "reloads that were refused. Without arguments, it checks all scripts and looks for new ones.\n"
         "Exit code 3: a reload was refused; the previous version keeps running.\n\n"
         "Usage:\n"
         "  kubelua reload [SCRIPT ...] [flags]\n\n"
         "Flags:");
    print_flags();
}

const struct command cmd_reload = {"reload", "Reload changed scripts", run_reload, help_reload};

static int run_rollback(int argc, char **argv)
{
    return run("rollback", argc, argv);
}

static void help_rollback(void)
{
    puts("Roll a script of a running engine back to its previous generation.\n\n"
         "The rollback is a reload: it creates a new generation, and a second rollback undoes it. The file "
         "on\n"
         "disk is not loaded again until it changes or you run kubelua reload.\n\n"
         "Usage:\n"
         "  kubelua rollback SCRIPT [flags]\n\n"
         "Flags:");
    print_flags();
}

const struct command cmd_rollback = {"rollback", "Roll a script back to its previous version", run_rollback,
                                     help_rollback};
