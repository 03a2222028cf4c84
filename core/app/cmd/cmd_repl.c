/* `kubelua repl`: a Lua prompt over the caches of a cluster, of a dump or of a running engine. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "app/cmd/cmd.h"
#include "app/options/options.h"
#include "app/repl/prompt.h"
#include "app/repl/repl_backend.h"
#include "base/mem.h"
#include "kube/kinds/resource.h"

struct prompt_session {
    struct repl_backend *backend;
    struct prompt *prompt;
    struct buf text; /* of the lines that belong together */
    bool failed;     /* an evaluation has */
};

static struct {
    struct flag_list from;
    bool engine, show_secrets;
    const char *socket; /* NULL: the default one */
} own;
static struct options options;

static const struct flag flags[] = {
    {"from", 0, FLAG_LIST, &own.from, "FILE|DIR", NULL,
     "Load objects from a file or directory instead of a cluster: manifests or output of kubectl get -o "
     "json|yaml, "
     "also with --watch (repeatable)"},
    {"engine", 0, FLAG_BOOL, &own.engine, NULL, NULL,
     "Use the caches of a running engine instead of a cluster"},
    {"show-secrets", 0, FLAG_BOOL, &own.show_secrets, NULL, NULL, "With --engine: permit reading Secrets"},
    {"admin-socket", 0, FLAG_STRING, &own.socket, "PATH", NULL,
     "Unix socket of the running engine, for --engine (default $XDG_RUNTIME_DIR/kubelua.sock; "
     "/run/kubelua.sock for root)"},
    {NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL},
};

static const struct flag_group *groups(void)
{
    static struct flag_group all[2];
    all[0] = (struct flag_group){"Connection:", connection_flags(&options)};
    return all;
}

/* --- what the prompt calls */

static bool on_wait(void *ctx)
{
    struct repl_backend *backend = ((struct prompt_session *)ctx)->backend;
    if (backend->lost.code == ERR_NONE) backend->wait(backend);
    return backend->lost.code == ERR_NONE;
}

static void on_complete(void *ctx, struct str text, size_t *start, struct buf *names)
{
    struct repl_backend *backend = ((struct prompt_session *)ctx)->backend;
    backend->complete(backend, text, start, names);
}

/* In a signal handler. */
static void on_interrupt(void *ctx)
{
    struct repl_backend *backend = ((struct prompt_session *)ctx)->backend;
    backend->interrupt(backend);
}

/* --- lines */

static struct repl_style style_of(const struct prompt_session *s)
{
    const char *no_colour = getenv("NO_COLOR");
    struct winsize size;
    struct repl_style style = {.colours = prompt_is_terminal(s->prompt) && !(no_colour && *no_colour),
                               .hides_secrets = own.engine && !own.show_secrets};
    if (prompt_is_terminal(s->prompt) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        style.width = size.ws_col;
    return style;
}

static void show(struct prompt_session *s, enum repl_end end, struct str text)
{
    if (end == REPL_DONE && text.n) printf("%.*s\n", STR_ARG(text));
    fflush(stdout);
    if (end != REPL_FAILED) return;
    if (text.n) fprintf(stderr, "%.*s\n", STR_ARG(text));
    s->failed = true;
}

static void eval(struct prompt_session *s)
{
    struct repl_style style = style_of(s);
    struct buf result = {0};
    enum repl_end end = s->backend->eval(s->backend, buf_slice(&s->text), &style, &result);
    show(s, end, buf_slice(&result));
    buf_clear(&result);
    if (end == REPL_INCOMPLETE) return;
    prompt_remember(s->prompt, buf_text(&s->text));
    s->text.len = 0;
}

static void take_line(struct prompt_session *s, const struct buf *line)
{
    if (s->text.len) buf_putc(&s->text, '\n');
    buf_str(&s->text, buf_slice(line));
    if (str_trim(buf_slice(&s->text)).n)
        eval(s);
    else
        s->text.len = 0;
}

static void print_incomplete(struct prompt_session *s)
{
    int line = 1;
    for (size_t i = 0; i < s->text.len; i++) line += s->text.data[i] == '\n';
    fprintf(stderr, "repl:%d: unexpected end of input\n", line);
    s->failed = true;
}

static int read_all(struct prompt_session *s)
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
    if (s->text.len && s->backend->lost.code == ERR_NONE) print_incomplete(s);
    if (result == PROMPT_INTERRUPTED) return EXIT_INTERRUPTED;
    return s->failed && !prompt_is_terminal(s->prompt) ? EXIT_INCOMPLETE : EXIT_OK;
}

/* --- start and stop */

/* Takes the backend; NULL: it could not be had. */
static int run_session(struct repl_backend *backend, const char *where)
{
    struct prompt_session s = {.backend = backend};
    if (!backend) return EXIT_USAGE;
    s.prompt = prompt_new(&(struct prompt_ops){
        .wait = on_wait, .complete = on_complete, .interrupted = on_interrupt, .ctx = &s});
    if (prompt_is_terminal(s.prompt))
        printf("%s. Type help for help, or the name of a kind, such as pods\n", where);
    int code = read_all(&s);
    prompt_free(s.prompt);
    if (backend->lost.code != ERR_NONE) {
        fprintf(stderr, "kubelua repl: %s\n", backend->lost.text);
        code = EXIT_INCOMPLETE;
    }
    backend->free(backend);
    buf_clear(&s.text);
    return code;
}

static int run_cluster(const char *ns, struct err *err)
{
    struct cluster_config config = {0};
    options.cluster.as_groups = options.as_groups.items;
    options.cluster.as_group_count = options.as_groups.count;
    if (!cluster_config_load(&options.cluster, &config, err)) return EXIT_USAGE;
    const struct repl_engine_options engine = {
        .config = &config, .request_timeout_ms = options.request_timeout_ms, .namespace_ = ns};
    char *where = xasprintf("%s (%s)", config.server, config.source);
    int code = run_session(repl_local_new(&engine, err), where);
    free(where);
    cluster_config_clear(&config);
    return code;
}

static int run_dump(const struct flag_list *from, const char *ns, struct err *err)
{
    const struct repl_engine_options engine = {
        .files = from->items, .file_count = from->count, .namespace_ = ns};
    return run_session(repl_local_new(&engine, err), from->items[0]);
}

static int run_engine(const char *path, struct err *err)
{
    struct buf where = {0};
    struct repl_backend *backend = repl_remote_new(path, &where, err);
    int code = run_session(backend, buf_text(&where));
    buf_clear(&where);
    return code;
}

/* A flag of a connection would do nothing beside --engine, and its user would read another cluster than the
 * one that was named. The environment's may be there: an engine's container has them. */
static bool takes_only_own(const struct command_line *line, struct err *err)
{
    struct flag_list rest = {0};
    flag_list_clear(&own.from);
    bool ok =
        flags_parse((const struct flag *const[]){flags, NULL}, line->argc, line->argv, &rest, NULL, err);
    flag_list_clear(&rest);
    return ok || err_wrap(err, "with --engine, which uses the connection of the engine");
}

static bool reads_stdin(const struct flag_list *files)
{
    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->items[i], "-") == 0) return true;
    return false;
}

static int run_with(const struct command_line *line, struct err *err)
{
    const char *ns = options.cluster.namespace_ && !options.all_namespaces ? options.cluster.namespace_ : "";
    if (own.engine && !takes_only_own(line, err)) return EXIT_USAGE;
    if (reads_stdin(&own.from)) {
        err_set(err, ERR_INVALID, "--from: stdin is the prompt's; write the objects to a file");
        return EXIT_USAGE;
    }
    if (own.show_secrets && !own.engine) {
        err_set(err, ERR_INVALID, "--show-secrets requires --engine; other prompts hide nothing");
        return EXIT_USAGE;
    }
    if (own.engine && own.from.count) {
        err_set(err, ERR_INVALID, "--from and --engine are mutually exclusive");
        return EXIT_USAGE;
    }
    if (own.engine) return run_engine(own.socket, err);
    if (*ns && !namespace_name_check(str_of(ns), err)) {
        err_wrap(err, "--namespace");
        return EXIT_USAGE;
    }
    return own.from.count ? run_dump(&own.from, ns, err) : run_cluster(ns, err);
}

static int run(struct command_line *line)
{
    struct err err = {0};
    signal(SIGPIPE, SIG_IGN);
    int code = run_with(line, &err);
    if (err.text[0] && code == EXIT_USAGE) command_fail(line, err.text);
    return code;
}

const struct command cmd_repl = {
    .name = "repl",
    .summary = "Query caches from an interactive Lua prompt",
    .no_arguments = "; use --from for files",
    .flags = flags,
    .groups = groups,
    .run = run,
};
