/* Protocol of `kubelua audit --engine` and an engine in a session of the admin socket: lines as in
 * admin_protocol.h, responses under "result"; an "error" is the engine's last message.
 *
 *     audit                                                    engine
 *     {"method":"audit","params":{"children":2}}               {"server":"https://...","pid":7}
 *     "a", with the descriptor of an audit job
 *     (audit_job.h)                                          {"pids":[8,9],"pauseNs":3100000}, with a
 *                                                              descriptor for each child, where its stream
 *                                                              (audit/found/stream.h) is read
 *                                                              {"child":0,"status":0} for each that ended,
 *                                                              as waitpid gives it; then the end
 *
 * A connection that the audit closes ends its children, as does one whose job does not come. Owner: nobody.
 */
#pragma once

enum { AUDIT_CHILDREN_MAX = 8 };
/* The order comes within that time. */
enum { AUDIT_JOB_TIMEOUT_MS = 5000 };
#define AUDIT_JOB_TIMEOUT_TEXT "5 s"
