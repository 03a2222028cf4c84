/* What the first rule of a script says of a pod, as one text: "fail no limit at spec = 5; warn w".
 * Owner: the spec; what was said lasts until the next question. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/script/support/cluster.h"
#include "script/rules/rule.h"

#define HEAD "local k8s = require 'k8s'\n"
#define RULE(body)                                                                                       \
    HEAD "k8s.rule { id = 'one', title = 'One', kinds = { 'pods' }, check = function(obj, r, use) " body \
         " end }"
#define SKIP(fn) \
    HEAD "k8s.rule { id = 'one', kinds = { 'pods' }, skip = function(o) " fn " end, check = error }"

extern struct buf said;

/* "rules.lua:2: ..." of "/tmp/x/rules.lua:2: ...": the folder is another one each time. */
struct str without_folder(struct str text);
enum verdict ask(struct script *script, size_t rule, struct root *object);

#define assert_said(script, rule, object, verdict, text)      \
    do {                                                      \
        assert_int_equal(ask(script, rule, object), verdict); \
        assert_string_equal(buf_text(&said), text);           \
    } while (0)

/* Loads the script and asks its first rule of the pod shop/web. */
void assert_rule_says(struct cluster *c, const char *lua, enum verdict verdict, const char *text);
