/* Protocol of a prompt and an engine in a session of the admin socket: lines as in admin_protocol.h, both
 * ways at any time.
 *
 *     prompt                                                   engine
 *     {"method":"repl"}                                        {"server":"https://...","pid":7}
 *     {"method":"eval","params":{"id":1,"text":"pods",
 *                      "width":80,"colours":true}}             {"print":"a line"} ...
 *                                                              {"id":1,"end":"done","text":"..."}
 *     {"method":"cancel"}
 *     {"method":"complete","params":{"id":2,"text":"pods."}}   {"id":2,"start":5,"names":["count"]}
 *
 * Responses are under "result"; an "error" is the engine's last message. Owner: nobody. */
#pragma once
#include "script/prompt/repl.h"

enum {
    REPL_SESSIONS_MAX = 8,
    REPL_OUTPUT_MAX = 16 << 20, /* bytes that wait for a prompt that does not read */
};

/* As `end` has them. */
static const char *const repl_end_names[] = {
    [REPL_DONE] = "done", [REPL_INCOMPLETE] = "incomplete", [REPL_FAILED] = "failed"};
