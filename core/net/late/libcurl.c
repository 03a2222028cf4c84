/* Functions of libcurl; see late.h. */
#include <curl/curl.h>
#include <openssl/ssl.h>
#include <stdarg.h>

#include "net/late/late.h"

#define CURL_CALL(count, ...) LATE_##count(KUBELUA_LIBCURL, __VA_ARGS__)

CURL_CALL(1, void, curl_easy_cleanup, CURL *)
CURL_CALL(6, CURLHcode, curl_easy_header, CURL *, const char *, size_t, unsigned, int, struct curl_header **)
CURL_CALL(0, CURL *, curl_easy_init)
CURL_CALL(4, struct curl_header *, curl_easy_nextheader, CURL *, unsigned, int, struct curl_header *)
CURL_CALL(2, CURLcode, curl_easy_pause, CURL *, int)
CURL_CALL(1, CURLcode, curl_easy_perform, CURL *)
CURL_CALL(1, const char *, curl_easy_strerror, CURLcode)
CURL_CALL(1, void, curl_free, void *)
CURL_CALL(2, time_t, curl_getdate, const char *, const time_t *)
CURL_CALL(1, CURLcode, curl_global_init, long)
CURL_CALL(2, CURLMcode, curl_multi_add_handle, CURLM *, CURL *)
CURL_CALL(3, CURLMcode, curl_multi_assign, CURLM *, curl_socket_t, void *)
CURL_CALL(1, CURLMcode, curl_multi_cleanup, CURLM *)
CURL_CALL(2, CURLMsg *, curl_multi_info_read, CURLM *, int *)
CURL_CALL(0, CURLM *, curl_multi_init)
CURL_CALL(2, CURLMcode, curl_multi_remove_handle, CURLM *, CURL *)
CURL_CALL(4, CURLMcode, curl_multi_socket_action, CURLM *, curl_socket_t, int, int *)
CURL_CALL(2, struct curl_slist *, curl_slist_append, struct curl_slist *, const char *)
CURL_CALL(1, void, curl_slist_free_all, struct curl_slist *)
CURL_CALL(0, CURLU *, curl_url)
CURL_CALL(1, void, curl_url_cleanup, CURLU *)
CURL_CALL(4, CURLUcode, curl_url_get, CURLU *, CURLUPart, char **, unsigned)
CURL_CALL(4, CURLUcode, curl_url_set, CURLU *, CURLUPart, const char *, unsigned)
CURL_CALL(1, const char *, curl_url_strerror, CURLUcode)

/* Of the libssl that libcurl has loaded, whose contexts it hands out. */
typedef int (*verify_callback)(X509_STORE_CTX *store, void *ctx);
CURL_CALL(3, void, SSL_CTX_set_cert_verify_callback, SSL_CTX *, verify_callback, void *)

/* The last argument is a long, a curl_off_t or a pointer, which are passed alike. */
_Static_assert(sizeof(long) == sizeof(void *) && sizeof(curl_off_t) == sizeof(void *), "of one size");

#define CURL_CALL_ANY(type, name, handle, kind)                       \
    type(name)(handle of, kind what, ...)                             \
    {                                                                 \
        va_list rest;                                                 \
        va_start(rest, what);                                         \
        void *value = va_arg(rest, void *);                           \
        va_end(rest);                                                 \
        return LATE_FUNCTION(KUBELUA_LIBCURL, name)(of, what, value); \
    }

CURL_CALL_ANY(CURLcode, curl_easy_getinfo, CURL *, CURLINFO)
CURL_CALL_ANY(CURLcode, curl_easy_setopt, CURL *, CURLoption)
CURL_CALL_ANY(CURLMcode, curl_multi_setopt, CURLM *, CURLMoption)
