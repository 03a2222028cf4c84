/* A stream of JetStream, for specs: `nats_stream URL create SUBJECT` makes a stream EVENTS of it;
 * `nats_stream URL dump` prints the id of each message of EVENTS, in order. The environment has what a server
 * may want: NATS_CA, NATS_CERT with NATS_KEY, NATS_CREDS, all of them files. */
#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(natsStatus s, const char *what)
{
    if (s == NATS_OK) return;
    fprintf(stderr, "nats_stream: %s: %s\n", what, natsStatus_GetText(s));
    exit(1);
}

static void create(jsCtx *js, const char *subject)
{
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    config.Name = "EVENTS";
    config.Subjects = &subject;
    config.SubjectsLen = 1;
    check(js_AddStream(NULL, js, &config, NULL, NULL), "create");
    puts("created");
}

/* The event says the same. */
static void check_id(natsMsg *message, const char *id)
{
    char member[300];
    snprintf(member, sizeof member, "\"id\":\"%s\"", id);
    if (memmem(natsMsg_GetData(message), (size_t)natsMsg_GetDataLength(message), member, strlen(member)))
        return;
    fprintf(stderr, "nats_stream: %s: %.*s\n", id, natsMsg_GetDataLength(message), natsMsg_GetData(message));
    exit(1);
}

static void dump(jsCtx *js)
{
    jsStreamInfo *info = NULL;
    natsSubscription *sub = NULL;
    jsSubOptions options;
    jsSubOptions_Init(&options);
    options.Ordered = true;
    check(js_GetStreamInfo(&info, js, "EVENTS", NULL, NULL), "info");
    uint64_t left = info->State.Msgs;
    check(js_SubscribeSync(&sub, js, *info->Config->Subjects, NULL, &options, NULL), "subscribe");
    for (; left > 0; left--) {
        natsMsg *message = NULL;
        const char *id = "";
        check(natsSubscription_NextMsg(&message, sub, 10000), "next");
        natsMsgHeader_Get(message, "Nats-Msg-Id", &id);
        check_id(message, id);
        puts(id);
        natsMsg_Destroy(message);
    }
    puts("end");
    natsSubscription_Destroy(sub);
    jsStreamInfo_Destroy(info);
}

static void open_connection(natsConnection **connection, const char *url)
{
    natsOptions *options = NULL;
    const char *ca = getenv("NATS_CA"), *cert = getenv("NATS_CERT"), *creds = getenv("NATS_CREDS");
    check(natsOptions_Create(&options), "options");
    check(natsOptions_SetURL(options, url), "url");
    if (ca) check(natsOptions_LoadCATrustedCertificates(options, ca), "ca");
    if (cert) check(natsOptions_LoadCertificatesChain(options, cert, getenv("NATS_KEY")), "certificate");
    if (creds) check(natsOptions_SetUserCredentialsFromFiles(options, creds, NULL), "credentials");
    check(natsConnection_Connect(connection, options), "connect");
    natsOptions_Destroy(options);
}

int main(int argc, char **argv)
{
    natsConnection *connection = NULL;
    jsCtx *js = NULL;
    if (argc < 3) return 2;
    open_connection(&connection, argv[1]);
    check(natsConnection_JetStream(&js, connection, NULL), "stream");
    if (strcmp(argv[2], "create") == 0)
        create(js, argv[3]);
    else
        dump(js);
    jsCtx_Destroy(js);
    natsConnection_Destroy(connection);
    return 0;
}
