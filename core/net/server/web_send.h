/* Sends responses of the server (web_server.h), in pieces when they are long. Owner: nothing is kept but by
 * the library. On the server's thread. */
#pragma once
#include <microhttpd.h>

#include "net/server/web_server.h"

/* Takes the body of the response. */
enum MHD_Result web_send(struct MHD_Connection *connection, struct web_response *response);
