/* As much of a server of NATS as its client needs to connect, and to be sent what a spec says. Owner: the
 * spec. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct fake_nats {
    /* Answers to requests on subjects that begin so; the last has no subject. */
    const struct fake_answer {
        const char *subject, *json;
    } * answers;
    int fd, port;
    pthread_t thread;
    /* Of the connection; the subject of the last subscription, which is not one of answers. */
    pthread_mutex_t lock;
    int client;
    char inbox[256], inbox_sid[32], replies_sid[32];
    atomic_int pongs; /* of the client */
};

void fake_nats_start(struct fake_nats *fake);
/* "127.0.0.1:PORT" */
void fake_nats_address(const struct fake_nats *fake, char out[32]);
/* Sends a message of heads alone to the last subscription. */
void fake_nats_send_heads(struct fake_nats *fake, const char *heads);
/* Sends an error; the client has taken it when this returns. */
void fake_nats_send_error(struct fake_nats *fake, const char *error);
void fake_nats_end(struct fake_nats *fake);
