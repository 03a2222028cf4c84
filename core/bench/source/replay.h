/* The replay source, `kubelua sim --replay`: pods and nothing else, rendered once and then only written, so
 * that whoever is measured against it is never measured waiting for it. Owner: its creator. Everything
 * belongs to the loop's thread; requests are served on threads of their own. */
#pragma once
#include <stddef.h>

#include "base/err.h"
#include "net/loop.h"

struct replay;

struct replay_options {
    const char *listen;
    int port; /* 0: any */
    size_t pods, replicas;
    const char *encodings; /* a folder with the pods as protobuf; NULL without */
};

/* NULL with an error that names what is wrong. Ready for requests when it returns. */
struct replay *replay_new(struct loop *loop, const struct replay_options *options, struct err *err);
int replay_port(const struct replay *replay);
/* Ends all streams, storms and connections. */
void replay_free(struct replay *replay);
