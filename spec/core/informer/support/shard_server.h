/* A server with the Leases and the table of one sharded group, and replicas that are far from it: requests
 * and watch events take a while, get lost, wait for a frozen replica. It counts what it is asked, and the
 * bytes. Owner: the spec. */
#pragma once
#include "base/time/backoff.h"
#include "informer/shard/member.h"

enum { TRAFFIC_LINES = 2, LEASE_BYTES = 700, TABLE_BYTES = 400, HEAD_BYTES = 300 };

/* Requests and bytes, in both directions, of one replica. */
struct shard_traffic {
    size_t requests, renewals, lists, looks, writes, watch_events;
    uint64_t bytes;
};

struct shard_server {
    struct virtual_clock world;
    struct shard_lease *leases; /* sorted by name */
    size_t count;
    struct buf table;    /* empty: there is none */
    struct buf previous; /* the table before, which a server that is behind still shows */
    int table_version, version;
    /* How bad the network is: in a thousand requests so many are lost, before or after they were served. */
    int lost_per_mille, latency_ms, slow_ms;
    struct jitter chance;
    void (*table_changed)(void *ctx);
    void *ctx;
};

/* The state of one line of a replica: at most one request. */
struct shard_wire {
    struct shard_server *server;
    struct shard_traffic *traffic;
    struct timer timer;
    const int64_t *frozen_until_ms; /* of the replica: nothing is delivered before */
    const bool *is_cut;             /* it reaches nobody */
    bool open, served, lost;
    int64_t answer_at_ms, timeout_at_ms;
    struct shard_request request;
    struct buf table;
    char version[SHARD_VERSION_MAX];
    int status; /* of the response */
    struct shard_lease *leases;
    size_t count;
    struct buf answer;
    char answer_version[SHARD_VERSION_MAX];
    shard_done *done;
    void *done_ctx;
};

void shard_server_init(struct shard_server *server, uint64_t seed);
void shard_server_clear(struct shard_server *server);
/* As a person with kubectl would. */
void shard_server_delete_lease(struct shard_server *server, const char *name);
void shard_server_delete_table(struct shard_server *server);
bool shard_server_one_in(struct shard_server *server, int64_t n);
int64_t shard_server_latency_ms(struct shard_server *server);

void shard_wire_send(struct shard_wire *wire, const struct shard_request *request, shard_done *done,
                     void *done_ctx);
void shard_wire_cancel(struct shard_wire *wire);
void shard_wire_clear(struct shard_wire *wire);
