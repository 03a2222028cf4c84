/* A cluster of Kafka in memory, of librdkafka, for specs: prints its brokers, then obeys lines of stdin.
 * "down N", "up N": a broker; "lose": the next requests to produce fail, some after they were stored; "dump":
 * prints "PARTITION KEY VALUE" for all messages of the topic `events`, in the order of each partition, and
 * "end". */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BROKERS = 3, PARTITIONS = 4, PRODUCE = 0 };

static rd_kafka_t *make(rd_kafka_type_t type, const char *brokers)
{
    char text[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    if (brokers) {
        rd_kafka_conf_set(conf, "bootstrap.servers", brokers, text, sizeof text);
        rd_kafka_conf_set(conf, "group.id", "dump", text, sizeof text);
        rd_kafka_conf_set(conf, "enable.partition.eof", "true", text, sizeof text);
    }
    rd_kafka_t *client = rd_kafka_new(type, conf, text, sizeof text);
    if (client) return client;
    fprintf(stderr, "kafka_mock: %s\n", text);
    exit(1);
}

static void dump(const char *brokers)
{
    rd_kafka_t *consumer = make(RD_KAFKA_CONSUMER, brokers);
    rd_kafka_topic_partition_list_t *all = rd_kafka_topic_partition_list_new(PARTITIONS);
    for (int i = 0; i < PARTITIONS; i++)
        rd_kafka_topic_partition_list_add(all, "events", i)->offset = RD_KAFKA_OFFSET_BEGINNING;
    rd_kafka_assign(consumer, all);
    for (int ends = 0; ends < PARTITIONS;) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(consumer, 1000);
        if (!m) continue;
        if (m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF)
            ends++;
        else if (!m->err)
            printf("%d %.*s %.*s\n", m->partition, (int)m->key_len, (const char *)m->key, (int)m->len,
                   (const char *)m->payload);
        rd_kafka_message_destroy(m);
    }
    puts("end");
    rd_kafka_topic_partition_list_destroy(all);
    rd_kafka_destroy(consumer);
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
    rd_kafka_t *owner = make(RD_KAFKA_PRODUCER, NULL);
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
        if (strncmp(line, "dump", 4) == 0) dump(brokers);
    }
    rd_kafka_mock_cluster_destroy(cluster);
    rd_kafka_destroy(owner);
    return 0;
}
