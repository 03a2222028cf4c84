/* A store of states in ConfigMaps, on a server of the spec's with one ConfigMap, which executes a request
 * when the spec says so. Owner: the spec. One thread. */
#pragma once
#include "base/fence.h"
#include "engine/state_maps.h"
#include "informer/live/live_client.h"
#include "net/loop.h"

enum { MAP_WALL_US = 7000000, MAP_VALUE_MAX = 32 };

/* The ConfigMap has the states "a" and "b", as Base64. */
struct map_server {
    int version; /* 0: there is no ConfigMap */
    char a[MAP_VALUE_MAX], b[MAP_VALUE_MAX], reader[64];
    unsigned takes;
};

struct map_bench {
    struct loop *loop;
    struct live_client *live;
    struct state_store *store;
    struct state_slot *a, *b;
    struct map_server server;
    /* Of the last operation. */
    unsigned ended;
    bool ok, found;
    struct err err;
    char text[MAP_VALUE_MAX], where[64];
};

int map_bench_setup(void **state);
int map_bench_teardown(void **state);

/* The request under way; fails the test if there is none. */
const struct object_request *under_way(void);
/* Executes a request as the server does; returns the status. A copy aside is taken, and not kept. */
int execute(struct map_server *server, const struct object_request *request);
/* The server executes the request under way, which has this verb, and answers. */
void serve(struct map_bench *b, enum object_verb verb);
/* The server executes it, and there is no answer. */
void lose(struct map_bench *b, enum object_verb verb);
/* The server refuses it; 0: there is no answer. */
void refuse(struct map_bench *b, enum object_verb verb, int status);
/* Somebody else sets a value of the ConfigMap. */
void change_from_outside(struct map_bench *b, char *value, const char *to);

/* Starts an operation; `text` of a write. */
void start(struct map_bench *b, enum state_op_kind kind, struct state_slot *slot, const char *text,
           struct fence *fence);
/* The operation has ended well, or with an error that has the reason; nothing is under way. */
void assert_ok(const struct map_bench *b);
void assert_refused(const struct map_bench *b, const char *reason);
/* Both states are stored, and have been read to be written. */
void take_both(struct map_bench *b);
