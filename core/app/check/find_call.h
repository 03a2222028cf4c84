/* Whether the text of a script calls a function of k8s, by its tokens. On any thread; nothing is kept. */
#pragma once
#include <stdbool.h>

#include "base/str.h"

struct call_found {
    int line;     /* 0: nowhere */
    bool is_call; /* it is called there; else it is only named, as in pcall(k8s.get, ...) */
};

/* Where `k8s.NAME` stands as code, not in a comment or a string: the first call, else the first of all. */
struct call_found find_call(struct str source, const char *name);
