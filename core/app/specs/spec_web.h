/* All servers except the API server, for http.request of a script under test: they respond as its spec says.
 * Owner: the test's engine, on its thread. The observer is called from inside the loop, and may not call
 * back. */
#pragma once
#include "net/http_local.h"

struct spec_web;

/* A request and its response. Everything is borrowed for the call. */
struct spec_web_request {
    const char *method, *url;
    const struct http_header *headers; /* ends with a NULL name */
    struct str body;
    int status; /* 0: no server responded */
};

struct spec_web_options {
    struct loop *loop;
    void (*on_request)(void *ctx, const struct spec_web_request *request);
    void *ctx;
};

/* Response that a spec defines. Everything is copied. */
struct spec_web_response {
    const char *method; /* NULL: any */
    const char *url;    /* complete, or its beginning followed by "*" */
    int status;
    const struct http_header *headers; /* ends with a NULL name; NULL: none */
    struct str body;
    int64_t delay_ms;
    int times; /* 0: always */
};

struct spec_web *spec_web_new(const struct spec_web_options *options);
/* Call after the transport was freed. */
void spec_web_free(struct spec_web *web);
struct http_local *spec_web_server(struct spec_web *web);
/* Adds a response; newer ones come first. */
void spec_web_add(struct spec_web *web, const struct spec_web_response *response);
