/* Answers of a test; see inside_answers.h. */
#include "app/inside/inside_answers.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"

void spec_answers_add(struct spec_answers *answers, const struct spec_answer *answer)
{
    struct spec_answer *own = array_add(answers->items, answers->count);
    *own = *answer;
    own->path = xstrdup(answer->path);
    own->container = xstrdup(answer->container);
    own->body.p = xstrndup(answer->body.n ? answer->body.p : "", answer->body.n);
}

void spec_answers_clear(struct spec_answers *answers)
{
    for (size_t i = 0; i < answers->count; i++) {
        free((char *)answers->items[i].path);
        free((char *)answers->items[i].container);
        free((char *)answers->items[i].body.p);
    }
    free(answers->items);
    *answers = (struct spec_answers){0};
}

/* Returns a parameter of the query; names of containers need no escapes. `p` NULL: it is not there. */
static struct str query_value(const char *target, const char *key)
{
    struct str rest = str_of(strchr(target, '?')), part, name;
    if (rest.n) rest = (struct str){rest.p + 1, rest.n - 1};
    while (rest.p && str_cut(&rest, '&', &part)) {
        str_cut(&part, '=', &name);
        if (str_is(name, key)) return part.p ? part : STR("");
    }
    return (struct str){0};
}

static bool matches(const struct spec_answer *answer, const char *target)
{
    if (!str_is((struct str){target, strcspn(target, "?")}, answer->path)) return false;
    if (!answer->is_log) return true;
    struct str container = query_value(target, "container");
    if (str_is(query_value(target, "previous"), "true") != answer->is_previous) return false;
    return !answer->container || str_is(container, answer->container);
}

/* Returns the last lines of a log. */
static struct str tail_of(struct str text, struct str lines)
{
    uint64_t left;
    size_t at = text.n;
    if (!lines.p || !str_to_u64(lines, &left)) return text;
    if (left == 0) return (struct str){text.p, 0};
    if (at > 0 && text.p[at - 1] == '\n') at--;
    for (; at > 0; at--)
        if (text.p[at - 1] == '\n' && --left == 0) break;
    return (struct str){text.p + at, text.n - at};
}

bool spec_answers_meet(const struct spec_answers *answers, const struct sim_inside_request *request,
                       struct sim_inside_response *response)
{
    if (strcmp(request->method, "GET") != 0) return false;
    for (size_t i = answers->count; i-- > 0;) {
        const struct spec_answer *answer = &answers->items[i];
        if (!matches(answer, request->target)) continue;
        struct str body = answer->body;
        if (answer->is_log) body = tail_of(body, query_value(request->target, "tailLines"));
        response->code = answer->code;
        response->content_type = answer->is_json ? "application/json" : "text/plain";
        buf_str(&response->body, body);
        return true;
    }
    return false;
}
