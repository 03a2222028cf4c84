/* `kubelua repl`: a Lua prompt over the caches of a cluster or of a dump. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "app/cmd.h"
#include "app/options.h"
#include "app/prompt.h"
#include "app/repl_engine.h"
#include "base/mem.h"
#include "kube/namespace_name.h"

struct session {
    struct repl_engine *engine;
    struct prompt *prompt;
    struct buf text; /* of the lines that belong together */
    bool failed;     /* an evaluation has */
    enum repl_end end;
};

static const struct flag *repl_flags(struct flag_list *from)
{
    static struct flag table[2];
    const struct flag all[] = {{"from", 0, FLAG_LIST, from, "FILE", NULL,
                                "objects of a file instead of a cluster: JSON or YAML, as `kubectl get -o` "
                                "writes it, or manifests (repeatable)"}};
    return flags_fill(table, ARRAY_LEN(table), all, ARRAY_LEN(all));
}

static void help(void)
{
    struct options options = {0};
    struct flag_list from = {0};
    puts("A Lua prompt over the caches of a cluster, or over a dump. Each kind is there by its name:\n"
         "pods[\"shop/web\"], pods \"app=web\", pods:query():group(\"status.phase\"):count(). It changes "
         "nothing.\n\n"
         "Usage:\n"
         "  kubelua repl [flags]\n"
         "  kubelua repl --from FILE ... [flags]\n\n"
         "Examples:\n"
         "  kubelua repl --context staging -n shop\n"
         "  kubectl get pods,services -A -o json > dump.json; kubelua repl --from dump.json\n"
         "  echo 'print(pods:count())' | kubelua repl\n\n"
         "Tab completes kinds, fields and methods; ^C interrupts, ^D ends. `help` at the prompt tells "
         "more.\n\n"
         "Exit codes:\n"
         "  0    the end of the input\n"
         "  2    usage, no connection, or a file that cannot be read\n"
         "  3    stdin is no terminal, and an evaluation failed\n\n"
         "Flags:");
    flags_print(repl_flags(&from));
    puts("\nConnection:");
    flags_print(connection_flags(&options));
}

/* --- what the engine and the prompt call */

static void on_print(void *ctx, struct str line)
{
    fwrite(line.p, 1, line.n, stdout);
    putchar('\n');
}

static void on_end(void *ctx, enum repl_end end, struct str text)
{
    struct session *s = ctx;
    s->end = end;
    if (end == REPL_DONE && text.n) printf("%.*s\n", STR_ARG(text));
    if (end == REPL_FAILED) {
        fflush(stdout);
        fprintf(stderr, "%.*s\n", STR_ARG(text));
        s->failed = true;
    }
    fflush(stdout);
}

static void on_wait(void *ctx)
{
    struct session *s = ctx;
    repl_engine_await_input(s->engine, STDIN_FILENO);
}

static void on_complete(void *ctx, struct str text, size_t *start, struct buf *names)
{
    const struct session *s = ctx;
    repl_complete(s->engine->repl, text, start, names);
}

/* In a signal handler. */
static void on_interrupt(void *ctx)
{
    const struct session *s = ctx;
    repl_interrupt(s->engine->repl);
    repl_engine_wake(s->engine);
}

/* --- lines */

static struct repl_style style_of(const struct session *s)
{
    const char *no_colour = getenv("NO_COLOR");
    struct winsize size;
    struct repl_style style = {.colours = prompt_is_terminal(s->prompt) && !(no_colour && *no_colour)};
    if (prompt_is_terminal(s->prompt) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        style.width = size.ws_col;
    return style;
}

static void eval(struct session *s)
{
    struct repl_style style = style_of(s);
    repl_eval(s->engine->repl, buf_slice(&s->text), &style);
    while (repl_is_busy(s->engine->repl)) {
        repl_engine_turn(s->engine, true);
        if (repl_was_interrupted(s->engine->repl)) repl_cancel(s->engine->repl);
    }
    if (s->end == REPL_INCOMPLETE) return;
    prompt_remember(s->prompt, buf_text(&s->text));
    s->text.len = 0;
}

static void take_line(struct session *s, const struct buf *line)
{
    if (s->text.len) buf_putc(&s->text, '\n');
    buf_str(&s->text, buf_slice(line));
    if (str_trim(buf_slice(&s->text)).n)
        eval(s);
    else
        s->text.len = 0;
}

static int read_all(struct session *s)
{
    struct buf line = {0};
    enum prompt_result result;
    while ((result = prompt_read(s->prompt, s->text.len > 0, &line)) != PROMPT_END) {
        if (result == PROMPT_LINE)
            take_line(s, &line);
        else if (prompt_is_terminal(s->prompt))
            s->text.len = 0;
        else
            break;
    }
    buf_clear(&line);
    if (s->text.len) {
        fputs("the last line is not complete\n", stderr);
        s->failed = true;
    }
    if (result == PROMPT_INTERRUPTED) return EXIT_INTERRUPTED;
    return s->failed && !prompt_is_terminal(s->prompt) ? EXIT_INCOMPLETE : EXIT_OK;
}

/* --- start and stop */

static int run_session(const struct repl_engine_options *options, const char *where, struct err *err)
{
    struct session s = {0};
    struct repl_engine_options own = *options;
    own.ops = (struct repl_ops){.printed = on_print, .ended = on_end, .ctx = &s};
    s.engine = repl_engine_new(&own, err);
    if (!s.engine) return EXIT_USAGE;
    s.prompt = prompt_new(&(struct prompt_ops){
        .wait = on_wait, .complete = on_complete, .interrupted = on_interrupt, .ctx = &s});
    if (prompt_is_terminal(s.prompt)) printf("%s. Type help, or a kind: pods\n", where);
    int code = read_all(&s);
    prompt_free(s.prompt);
    repl_engine_free(s.engine);
    buf_clear(&s.text);
    return code;
}

static int run_cluster(struct options *options, const char *ns, struct err *err)
{
    struct cluster_config config = {0};
    options->cluster.as_groups = options->as_groups.items;
    options->cluster.as_group_count = options->as_groups.count;
    if (!cluster_config_load(&options->cluster, &config, err)) return EXIT_USAGE;
    const struct kube_client_options client = {.config = &config,
                                               .request_timeout_ms = options->request_timeout_ms};
    char *where = xasprintf("%s (%s)", config.server, config.source);
    int code = run_session(
        &(struct repl_engine_options){.config = &config, .client = &client, .namespace_ = ns}, where, err);
    free(where);
    cluster_config_clear(&config);
    return code;
}

static int run_with(struct options *options, const struct flag_list *from, struct err *err)
{
    const char *ns =
        options->cluster.namespace_ && !options->all_namespaces ? options->cluster.namespace_ : "";
    if (*ns && !namespace_name_check(str_of(ns), err)) {
        err_wrap(err, "--namespace");
        return EXIT_USAGE;
    }
    if (!from->count) return run_cluster(options, ns, err);
    return run_session(
        &(struct repl_engine_options){.files = from->items, .file_count = from->count, .namespace_ = ns},
        from->items[0], err);
}

static int run(int argc, char **argv)
{
    struct options options = {0};
    struct flag_list from = {0}, rest = {0};
    struct err err = {0};
    int code = EXIT_USAGE;
    const struct flag *const tables[] = {repl_flags(&from), connection_flags(&options), NULL};
    signal(SIGPIPE, SIG_IGN);
    if (flags_parse(tables, argc, argv, &rest, &err)) {
        if (rest.count)
            err_set(&err, ERR_INVALID, "unexpected argument \"%s\"; files are named by --from",
                    rest.items[0]);
        else
            code = run_with(&options, &from, &err);
    }
    if (err.text[0] && code == EXIT_USAGE) fprintf(stderr, "kubelua repl: %s\n", err.text);
    flag_list_clear(&from);
    flag_list_clear(&rest);
    options_clear(&options);
    return code;
}

const struct command cmd_repl = {"repl", "A Lua prompt over the caches of a cluster or a dump", run, help};
