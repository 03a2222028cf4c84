/* Functions of libmicrohttpd; see late.h. */
#include <microhttpd.h>
#include <stdarg.h>

#include "net/late/late.h"

#define MHD_CALL(count, ...) LATE_##count(KUBELUA_LIBMICROHTTPD, __VA_ARGS__)

MHD_CALL(4, enum MHD_Result, MHD_add_connection, struct MHD_Daemon *, MHD_socket, const struct sockaddr *,
         socklen_t)
MHD_CALL(3, enum MHD_Result, MHD_add_response_header, struct MHD_Response *, const char *, const char *)
MHD_CALL(3, struct MHD_Response *, MHD_create_response_from_buffer_with_free_callback, size_t, void *,
         MHD_ContentReaderFreeCallback)
MHD_CALL(5, struct MHD_Response *, MHD_create_response_from_callback, uint64_t, size_t,
         MHD_ContentReaderCallback, void *, MHD_ContentReaderFreeCallback)
MHD_CALL(1, void, MHD_destroy_response, struct MHD_Response *)
MHD_CALL(4, int, MHD_get_connection_values, struct MHD_Connection *, enum MHD_ValueKind, MHD_KeyValueIterator,
         void *)
MHD_CALL(3, const char *, MHD_lookup_connection_value, struct MHD_Connection *, enum MHD_ValueKind,
         const char *)
MHD_CALL(6, enum MHD_Result, MHD_lookup_connection_value_n, struct MHD_Connection *, enum MHD_ValueKind,
         const char *, size_t, const char **, size_t *)
MHD_CALL(3, enum MHD_Result, MHD_queue_response, struct MHD_Connection *, unsigned, struct MHD_Response *)
MHD_CALL(1, MHD_socket, MHD_quiesce_daemon, struct MHD_Daemon *)
MHD_CALL(1, void, MHD_resume_connection, struct MHD_Connection *)
MHD_CALL(1, void, MHD_stop_daemon, struct MHD_Daemon *)
MHD_CALL(1, void, MHD_suspend_connection, struct MHD_Connection *)

/* No kind of information takes a further argument. */
const union MHD_ConnectionInfo *MHD_get_connection_info(struct MHD_Connection *connection,
                                                        enum MHD_ConnectionInfoType type, ...)
{
    return LATE_FUNCTION(KUBELUA_LIBMICROHTTPD, MHD_get_connection_info)(connection, type);
}

struct MHD_Daemon *MHD_start_daemon(unsigned flags, uint16_t port, MHD_AcceptPolicyCallback accept,
                                    void *accept_ctx, MHD_AccessHandlerCallback handler, void *handler_ctx,
                                    ...)
{
    va_list options;
    va_start(options, handler_ctx);
    struct MHD_Daemon *daemon = LATE_FUNCTION(KUBELUA_LIBMICROHTTPD, MHD_start_daemon_va)(
        flags, port, accept, accept_ctx, handler, handler_ctx, options);
    va_end(options);
    return daemon;
}
