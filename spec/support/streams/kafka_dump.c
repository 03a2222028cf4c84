/* Prints "PARTITION KEY VALUE" for all messages of the topic `events`, in the order of each partition, for
 * specs: `kafka_dump BROKERS [NAME=VALUE ...]`, with more settings of librdkafka. */
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTITIONS = 4 };

static void fail(const char *text)
{
    fprintf(stderr, "kafka_dump: %s\n", text);
    exit(1);
}

static void set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char text[256];
    if (rd_kafka_conf_set(conf, name, value, text, sizeof text) != RD_KAFKA_CONF_OK) fail(text);
}

static rd_kafka_t *make(const char *brokers, char **settings)
{
    char text[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", brokers);
    set(conf, "group.id", "dump");
    set(conf, "enable.partition.eof", "true");
    for (; *settings; settings++) {
        char *value = strchr(*settings, '=');
        if (!value) fail("a setting is NAME=VALUE");
        *value = '\0';
        set(conf, *settings, value + 1);
    }
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof text);
    if (!client) fail(text);
    return client;
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    rd_kafka_t *consumer = make(argv[1], argv + 2);
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
    rd_kafka_topic_partition_list_destroy(all);
    rd_kafka_destroy(consumer);
    return 0;
}
