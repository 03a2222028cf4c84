/* Reading lines; see prompt.h. */
#include "app/repl/prompt.h"

#include <errno.h>
#include <histedit.h>
#include <locale.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include "base/mem.h"

enum { HISTORY_MAX = 1000, NAMES_SHOWN_MAX = 200, WIDTH = 80 };

struct prompt {
    struct prompt_ops ops;
    bool terminal, more;
    EditLine *edit; /* NULL: no terminal */
    History *history;
    char *path;      /* of the history; NULL: nowhere */
    struct buf rest; /* of stdin that is no terminal, behind the last line */
    bool ended;
};

static struct prompt *the_prompt; /* for the signal handler */
static volatile sig_atomic_t interrupted, reading;
static sigjmp_buf end_of_reading;

static void on_interrupt(int signum)
{
    interrupted = 1;
    the_prompt->ops.interrupted(the_prompt->ops.ctx);
    if (reading) siglongjmp(end_of_reading, 1);
}

/* Reads available input. A terminal drops its input when ^C is pressed, perhaps between poll and read, and
 * the signal may come before read begins, which would then block: so the handler jumps out. Returns -1 with
 * EINTR for ^C. */
static ssize_t read_input(void *out, size_t n)
{
    if (sigsetjmp(end_of_reading, 1) == 0) {
        reading = 1;
        ssize_t got = interrupted ? 0 : read(STDIN_FILENO, out, n);
        reading = 0;
        if (!interrupted) return got;
    }
    reading = 0;
    errno = EINTR;
    return -1;
}

/* --- history */

static bool make_folder(const char *path)
{
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* NULL when there is no place for it. */
static char *history_path(void)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char *base = NULL, *folder = NULL, *path = NULL;
    if (state && *state == '/')
        base = xstrdup(state);
    else if (home && *home == '/') {
        char *local = xasprintf("%s/.local", home);
        make_folder(local);
        base = xasprintf("%s/state", local);
        free(local);
    }
    if (base) folder = xasprintf("%s/kubelua", base);
    if (folder && make_folder(base) && make_folder(folder)) path = xasprintf("%s/history", folder);
    free(folder);
    free(base);
    return path;
}

static void open_history(struct prompt *p)
{
    HistEvent event;
    p->history = history_init();
    history(p->history, &event, H_SETSIZE, HISTORY_MAX);
    history(p->history, &event, H_SETUNIQUE, 1);
    p->path = history_path();
    if (p->path) history(p->history, &event, H_LOAD, p->path);
    el_set(p->edit, EL_HIST, history, p->history);
}

static void close_history(struct prompt *p)
{
    HistEvent event;
    mode_t mask = umask(0077); /* what somebody looked at is nobody else's business */
    if (p->path) history(p->history, &event, H_SAVE, p->path);
    umask(mask);
    history_end(p->history);
    free(p->path);
}

void prompt_remember(struct prompt *p, const char *text)
{
    HistEvent event;
    if (p->history && *text) history(p->history, &event, H_ENTER, text);
}

/* --- the terminal */

static struct prompt *prompt_of(EditLine *edit)
{
    struct prompt *p = NULL;
    el_get(edit, EL_CLIENTDATA, &p);
    return p;
}

static char *show_prompt(EditLine *edit)
{
    static char first[] = "kubelua> ", more[] = "     ... ";
    return prompt_of(edit)->more ? more : first;
}

/* -1 with EINTR for ^C; 0 at the end. */
static int read_byte(struct prompt *p, char *out)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    for (;;) {
        if (!interrupted && !p->ops.wait(p->ops.ctx)) return 0;
        if (interrupted) {
            errno = EINTR;
            return -1;
        }
        if (poll(&input, 1, 0) <= 0) continue;
        ssize_t n = read_input(out, 1);
        if (n >= 0 || errno != EINTR) return (int)n;
    }
}

static int read_character(EditLine *edit, wchar_t *out)
{
    struct prompt *p = prompt_of(edit);
    mbstate_t state = {0};
    char byte;
    for (;;) {
        int n = read_byte(p, &byte);
        if (n <= 0) return n;
        size_t used = mbrtowc(out, &byte, 1, &state);
        if (used == (size_t)-2) continue; /* more of the same character */
        if (used != (size_t)-1) return 1;
        memset(&state, 0, sizeof state);
    }
}

/* Returns the length of the prefix, from `at` on, that all names share. */
static size_t common_length(const struct buf *names)
{
    size_t len = strlen(names->data);
    for (size_t at = len + 1; at < names->len; at += strlen(names->data + at) + 1) {
        size_t same = 0;
        while (same < len && names->data[at + same] == names->data[same]) same++;
        len = same;
    }
    return len;
}

static size_t count_names(const struct buf *names)
{
    size_t count = 0;
    for (size_t at = 0; at < names->len; at++) count += names->data[at] == '\0';
    return count;
}

static void list_names(const struct buf *names)
{
    size_t widest = 1, shown = 0, count = count_names(names);
    for (size_t at = 0; at < names->len; at += strlen(names->data + at) + 1)
        if (strlen(names->data + at) > widest) widest = strlen(names->data + at);
    size_t columns = WIDTH / (widest + 2) ? WIDTH / (widest + 2) : 1;
    putchar('\n');
    for (size_t at = 0; at < names->len && shown < NAMES_SHOWN_MAX; at += strlen(names->data + at) + 1) {
        shown++;
        printf("%-*s%s", (int)widest + 2, names->data + at, shown % columns == 0 ? "\n" : "");
    }
    if (shown % columns) putchar('\n');
    if (count > shown) printf("and %zu more\n", count - shown);
    fflush(stdout);
}

/* Tab. */
static unsigned char on_complete(EditLine *edit, int character)
{
    struct prompt *p = prompt_of(edit);
    const LineInfo *line = el_line(edit);
    struct str text = {line->buffer, (size_t)(line->cursor - line->buffer)};
    struct buf names = {0};
    size_t start;
    unsigned char result = CC_REFRESH_BEEP;
    p->ops.complete(p->ops.ctx, text, &start, &names);
    if (names.len) {
        size_t typed = text.n - start, len = common_length(&names);
        if (len > typed) {
            char *more = xstrndup(names.data + typed, len - typed);
            el_insertstr(edit, more);
            free(more);
            result = CC_REFRESH;
        } else if (count_names(&names) > 1) {
            list_names(&names);
            result = CC_REDISPLAY;
        }
    }
    buf_clear(&names);
    return result;
}

static void open_terminal(struct prompt *p)
{
    setlocale(LC_CTYPE, "");
    p->edit = el_init("kubelua", stdin, stdout, stderr);
    if (!p->edit) return;
    el_set(p->edit, EL_CLIENTDATA, p);
    el_set(p->edit, EL_PROMPT, show_prompt);
    el_set(p->edit, EL_EDITOR, "emacs");
    el_set(p->edit, EL_GETCFN, read_character);
    el_wset(p->edit, EL_ADDFN, L"complete", L"Complete", on_complete); /* el_set leaks the names */
    el_set(p->edit, EL_BIND, "^I", "complete", NULL);
    el_set(p->edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
    el_source(p->edit, NULL);
    open_history(p);
}

static enum prompt_result read_terminal(struct prompt *p, struct buf *line)
{
    int count = 0;
    el_set(p->edit, EL_PREP_TERM, 1); /* before the prompt is seen: what is typed then is for it */
    const char *text = el_gets(p->edit, &count);
    if (interrupted) {
        el_reset(p->edit);
        puts("^C");
        return PROMPT_INTERRUPTED;
    }
    if (!text || count <= 0) {
        putchar('\n');
        return PROMPT_END;
    }
    buf_str(line, str_trim((struct str){text, (size_t)count}));
    return PROMPT_LINE;
}

/* --- anything else */

static bool take_line(struct prompt *p, struct buf *line)
{
    const char *end = p->rest.len ? memchr(p->rest.data, '\n', p->rest.len) : NULL;
    if (!end && !(p->ended && p->rest.len)) return false;
    size_t len = end ? (size_t)(end - p->rest.data) : p->rest.len;
    buf_append(line, p->rest.data, len);
    buf_consume(&p->rest, end ? len + 1 : len);
    return true;
}

static enum prompt_result read_plain(struct prompt *p, struct buf *line)
{
    enum { BLOCK = 4096 };
    while (!take_line(p, line)) {
        if (p->ended) return PROMPT_END;
        if (!p->ops.wait(p->ops.ctx)) return PROMPT_END;
        if (interrupted) return PROMPT_INTERRUPTED;
        ssize_t n = read_input(buf_reserve(&p->rest, BLOCK), BLOCK);
        if (n > 0) p->rest.len += (size_t)n;
        if (n == 0 || (n < 0 && errno != EINTR)) p->ended = true;
    }
    return PROMPT_LINE;
}

/* --- both */

struct prompt *prompt_new(const struct prompt_ops *ops)
{
    struct prompt *p = NEW(struct prompt);
    p->ops = *ops;
    p->terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    if (p->terminal) open_terminal(p);
    the_prompt = p;
    interrupted = 0;
    sigaction(SIGINT, &(const struct sigaction){.sa_handler = on_interrupt}, NULL);
    return p;
}

void prompt_free(struct prompt *p)
{
    if (!p) return;
    if (p->edit) {
        close_history(p);
        el_end(p->edit);
    }
    signal(SIGINT, SIG_DFL); /* not before what was typed is kept */
    buf_clear(&p->rest);
    free(p);
}

bool prompt_is_terminal(const struct prompt *p)
{
    return p->terminal;
}

enum prompt_result prompt_read(struct prompt *p, bool more, struct buf *line)
{
    p->more = more;
    interrupted = 0;
    line->len = 0;
    return p->edit ? read_terminal(p, line) : read_plain(p, line);
}
