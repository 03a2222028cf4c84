/* A cluster of Kafka in memory, of librdkafka, for specs: prints its brokers, which have a topic `events`,
 * then obeys lines of stdin. "down N", "up N": a broker; "lose": the next requests to produce fail, some
 * after they were stored. */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BROKERS = 3, PARTITIONS = 4, PRODUCE = 0 };

static rd_kafka_t *make(void)
{
    char text[256];
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), text, sizeof text);
    if (client) return client;
    fprintf(stderr, "kafka_mock: %s\n", text);
    exit(1);
}

static void lose(rd_kafka_mock_cluster_t *cluster)
{
    rd_kafka_mock_push_request_errors(cluster, PRODUCE, 4, RD_KAFKA_RESP_ERR__TRANSPORT,
                                      RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
                                      RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, RD_KAFKA_RESP_ERR__TRANSPORT);
}

int main(void)
{
    char line[100];
    setvbuf(stdout, NULL, _IOLBF, 0);
    rd_kafka_t *owner = make();
    rd_kafka_mock_cluster_t *cluster = rd_kafka_mock_cluster_new(owner, BROKERS);
    const char *brokers = rd_kafka_mock_cluster_bootstraps(cluster);
    rd_kafka_mock_topic_create(cluster, "events", PARTITIONS, BROKERS);
    printf("brokers %s\n", brokers);
    while (fgets(line, sizeof line, stdin)) {
        if (strncmp(line, "down ", 5) == 0)
            rd_kafka_mock_broker_set_down(cluster, (int)strtol(line + 5, NULL, 10));
        if (strncmp(line, "up ", 3) == 0)
            rd_kafka_mock_broker_set_up(cluster, (int)strtol(line + 3, NULL, 10));
        if (strncmp(line, "lose", 4) == 0) lose(cluster);
    }
    rd_kafka_mock_cluster_destroy(cluster);
    rd_kafka_destroy(owner);
    return 0;
}
