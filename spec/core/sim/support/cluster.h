/* A store with its api and requests to it, without a socket.
 * Owner: the spec; sim_cluster_clear frees all of it. */
#pragma once
#include "sim/store/api.h"
#include "sim/store/request.h"

struct sim_cluster {
    struct sim_api api;
    const char *accept; /* of its requests; NULL: any */
    int fd;             /* the connection of its requests; 0: there is none */
};

/* With the namespaces that every cluster has, at version 1000000000000000. A history of so many events; 0:
 * many. */
void sim_cluster_init(struct sim_cluster *cluster, size_t history_events);
void sim_cluster_clear(struct sim_cluster *cluster);

/* Serves "METHOD PATH?QUERY" (nothing in it is escaped) with a body, NULL without. */
void sim_cluster_call(struct sim_cluster *cluster, const char *request, const char *content_type,
                      const char *body, struct sim_reply *reply);
/* The same, with the JSON of the answer, a new reference, and the code that is expected. */
json_t *sim_cluster_json(struct sim_cluster *cluster, const char *request, const char *body, int code);
/* Makes ConfigMap default/NAME. */
void sim_cluster_make(struct sim_cluster *cluster, const char *name);
/* Reads a stream in stretches of `room` bytes, until it ends (`*end`) or `max` bytes came; a new text. */
char *sim_cluster_read(struct sim_stream *stream, size_t room, size_t max, ssize_t *end);
