/* Connections to NATS; see nats_link.h. */
#include "streams/nats_link.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SERVERS_MAX = 2100 /* more than a URL may have */, WRITE_MS = 5000, FILE_MAX = 64 << 10 };

void nats_link_fail(struct stream_error *error, const char *what, natsStatus status)
{
    natsStatus of;
    const char *text = nats_GetLastError(&of);
    if (!text || !*text || of != status) text = natsStatus_GetText(status);
    /* "(conn.c:733): " */
    const char *place = *text == '(' ? strstr(text, "): ") : NULL;
    if (place) text = place + 3;
    snprintf(error->text, sizeof error->text, "%s: %s", what, text);
    for (char *p = error->text; *p; p++)
        if ((unsigned char)*p < ' ') *p = ' ';
}

/* --- tickets */

static LIST_HEAD(, nats_link) links = LIST_HEAD_INITIALIZER(links);
static pthread_mutex_t links_lock = PTHREAD_MUTEX_INITIALIZER;

static void take_ticket(struct nats_link *link)
{
    static uintptr_t last;
    pthread_mutex_lock(&links_lock);
    link->ticket = ++last;
    LIST_INSERT_HEAD(&links, link, link);
    pthread_mutex_unlock(&links_lock);
}

static void give_ticket_back(struct nats_link *link)
{
    if (!link->ticket) return;
    pthread_mutex_lock(&links_lock);
    LIST_REMOVE(link, link);
    link->ticket = 0;
    pthread_mutex_unlock(&links_lock);
}

void *nats_link_ticket(const struct nats_link *link)
{
    return (void *)link->ticket;
}

struct nats_link *nats_link_lock(void *ticket)
{
    struct nats_link *link;
    pthread_mutex_lock(&links_lock);
    LIST_FOREACH (link, &links, link)
        if (link->ticket == (uintptr_t)ticket) return link;
    pthread_mutex_unlock(&links_lock);
    return NULL;
}

void nats_links_unlock(void)
{
    pthread_mutex_unlock(&links_lock);
}

/* --- failures */

enum { NO_FAILURE, BEING_NOTED, NOTED };

void nats_failure_note(struct nats_failure *failure, int code, const char *text)
{
    int none = NO_FAILURE;
    if (!atomic_compare_exchange_strong(&failure->state, &none, BEING_NOTED)) return;
    failure->code = code;
    snprintf(failure->error.text, sizeof failure->error.text, "%s", text);
    atomic_store(&failure->state, NOTED);
}

int nats_failure_is_noted(struct nats_failure *failure)
{
    return atomic_load(&failure->state) == NOTED;
}

void nats_failure_clear(struct nats_failure *failure)
{
    atomic_store(&failure->state, NO_FAILURE);
}

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

static void wipe(char *secret)
{
    if (secret) explicit_bzero(secret, strlen(secret));
    free(secret);
}

/* --- settings */

/* The line behind the one that begins with `begin`, as files of credentials have it; NULL: there is none. */
static char *line_after(const char *text, const char *begin)
{
    const char *at = strstr(text, begin), *end = at ? strchr(at, '\n') : NULL;
    if (!end) return NULL;
    end += strspn(end, " \r\n");
    size_t n = strcspn(end, " \r\n");
    return n > 0 && *end != '-' ? strndup(end, n) : NULL;
}

/* Takes the text of a creds file, which must have both. */
static void take_credentials(struct nats_link *link, const char *text)
{
    char *jwt = line_after(text, "-----BEGIN NATS USER JWT-----");
    char *seed = line_after(text, "-----BEGIN USER NKEY SEED-----");
    bool is_first = !link->jwt || !link->seed;
    if (is_first || (jwt && seed)) {
        wipe(link->jwt);
        wipe(link->seed);
        link->jwt = jwt;
        link->seed = seed;
    } else {
        wipe(jwt);
        wipe(seed);
    }
}

static int read_credentials(struct nats_link *link, const struct stream_settings *settings,
                            struct stream_error *error)
{
    const char *text = settings->credentials, *problem = stream_pem_problem(settings);
    if (problem) snprintf(error->text, sizeof error->text, "%s", problem);
    if (problem || !text) return !problem;
    take_credentials(link, text);
    if (link->jwt && link->seed) return 1;
    snprintf(error->text, sizeof error->text,
             "credentials must be the content of a creds file: there is no %s in them",
             link->jwt ? "USER NKEY SEED" : "NATS USER JWT");
    return 0;
}

int nats_link_init(struct nats_link *link, const struct stream_settings *settings, struct stream_error *error)
{
    *link = (struct nats_link){.servers = copy(settings->servers),
                               .name = copy(settings->name),
                               .is_tls = settings->is_tls,
                               .ca = copy(settings->ca),
                               .cert = copy(settings->cert),
                               .cert_key = copy(settings->cert_key),
                               .user = copy(settings->user),
                               .password = copy(settings->password),
                               .token = copy(settings->token)};
    for (int i = 0; i < STREAM_FILES; i++) link->files[i] = copy(settings->files[i]);
    return read_credentials(link, settings, error);
}

/* Returns the file's text without line ends at its end, which are no part of a password; NULL: it cannot be
 * read, is empty, or too large: a part of it is no login. */
static char *read_file(const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file) return NULL;
    char *text = calloc(1, FILE_MAX + 2);
    size_t n = text ? fread(text, 1, FILE_MAX + 1, file) : 0;
    fclose(file);
    if (n > FILE_MAX) n = 0;
    while (n > 0 && strchr(" \t\r\n", text[n - 1])) text[--n] = '\0';
    if (n > 0) return text;
    free(text);
    return NULL;
}

/* Files of mounted Secrets are replaced while the program runs. */
static void read_files(struct nats_link *link)
{
    char **const texts[STREAM_FILES] = {[STREAM_FILE_PASSWORD] = &link->password,
                                        [STREAM_FILE_TOKEN] = &link->token,
                                        [STREAM_FILE_CA] = &link->ca,
                                        [STREAM_FILE_CERT] = &link->cert,
                                        [STREAM_FILE_CERT_KEY] = &link->cert_key};
    for (int i = 0; i < STREAM_FILES; i++) {
        char *text = link->files[i] ? read_file(link->files[i]) : NULL;
        if (!text) continue;
        if (texts[i]) {
            wipe(*texts[i]);
            *texts[i] = text;
        } else {
            take_credentials(link, text);
            wipe(text);
        }
    }
}

void nats_link_clear(struct nats_link *link)
{
    nats_link_disconnect(link);
    free(link->servers);
    free(link->name);
    free(link->ca);
    free(link->cert);
    wipe(link->cert_key);
    free(link->user);
    wipe(link->password);
    wipe(link->token);
    wipe(link->jwt);
    wipe(link->seed);
    for (int i = 0; i < STREAM_FILES; i++) free(link->files[i]);
}

/* --- the connection */

/* The user may not publish, of which no acknowledgement tells. Without a handler the library writes to
 * stderr. */
static void on_error(natsConnection *connection, natsSubscription *subscription, natsStatus err, void *ticket)
{
    const char *text = NULL;
    if (err != NATS_NOT_PERMITTED) return;
    if (natsConnection_GetLastError(connection, &text) == NATS_OK || !text || !*text)
        text = natsStatus_GetText(err);
    const struct nats_link *link = nats_link_lock(ticket);
    if (!link) return;
    if (link->on_denied) link->on_denied(link->ctx, text);
    nats_links_unlock();
}

/* Logins are asked for while nats_link_connect waits alone. */
static natsStatus give_jwt(char **jwt, char **error, void *ctx)
{
    const struct nats_link *link = ctx;
    *jwt = copy(link->jwt);
    return NATS_OK;
}

static natsStatus sign(char **error, unsigned char **signature, int *size, const char *nonce, void *ctx)
{
    const struct nats_link *link = ctx;
    return nats_Sign(link->seed, nonce, signature, size);
}

static natsStatus set_access(natsOptions *options, struct nats_link *link)
{
    if (link->token) return natsOptions_SetToken(options, link->token);
    if (link->user) return natsOptions_SetUserInfo(options, link->user, link->password);
    if (link->jwt) return natsOptions_SetUserCredentialsCallbacks(options, give_jwt, link, sign, link);
    return NATS_OK;
}

/* The name that the certificate must have is said by us: whether the library looks at it is a setting of its
 * build. */
static natsStatus set_tls(natsOptions *options, const struct nats_link *link, const char *host)
{
    natsStatus s = natsOptions_SetExpectedHostname(options, host);
    if (s == NATS_OK && link->ca)
        s = stream_is_path(link->ca) ? natsOptions_LoadCATrustedCertificates(options, link->ca)
                                     : natsOptions_SetCATrustedCertificates(options, link->ca);
    if (s == NATS_OK && link->cert) s = natsOptions_SetCertificatesChain(options, link->cert, link->cert_key);
    return s == NATS_OK ? natsOptions_SetSecure(options, true) : s;
}

/* "host:4222", "[::1]:4222" */
static void host_of(const char *server, char host[SERVERS_MAX])
{
    const char *end = strrchr(server, ':'), *bracket = strchr(server, ']');
    if (bracket) end = bracket;
    if (*server == '[') server++;
    snprintf(host, SERVERS_MAX, "%.*s", end ? (int)(end - server) : (int)strlen(server), server);
}

/* A connection that is lost is made anew by the next call, so that nothing is sent twice behind its back. */
static natsStatus set_options(natsOptions *options, struct nats_link *link, const char *server)
{
    char url[SERVERS_MAX], host[SERVERS_MAX];
    snprintf(url, sizeof url, "nats://%s", server);
    host_of(server, host);
    natsStatus s = natsOptions_SetURL(options, url);
    if (s == NATS_OK) s = natsOptions_SetAllowReconnect(options, false);
    if (s == NATS_OK) s = natsOptions_SetIgnoreDiscoveredServers(options, true);
    if (s == NATS_OK) s = natsOptions_SetTimeout(options, NATS_LINK_CONNECT_MS);
    if (s == NATS_OK) s = natsOptions_SetWriteDeadline(options, WRITE_MS);
    if (s == NATS_OK) s = natsOptions_SetErrorHandler(options, on_error, nats_link_ticket(link));
    if (s == NATS_OK && link->name) s = natsOptions_SetName(options, link->name);
    if (s == NATS_OK) s = set_access(options, link);
    return s == NATS_OK && link->is_tls ? set_tls(options, link, host) : s;
}

void nats_link_disconnect(struct nats_link *link)
{
    give_ticket_back(link);
    natsConnection_Destroy(link->connection);
    link->connection = NULL;
}

static int connect_to(struct nats_link *link, const char *server, struct stream_error *error)
{
    natsOptions *options = NULL;
    take_ticket(link);
    natsStatus s = natsOptions_Create(&options);
    if (s == NATS_OK) s = set_options(options, link, server);
    if (s == NATS_OK) s = natsConnection_Connect(&link->connection, options);
    if (s != NATS_OK) {
        nats_link_fail(error, server, s);
        nats_link_disconnect(link);
    }
    natsOptions_Destroy(options);
    return s == NATS_OK;
}

/* The error is that of the last server. */
int nats_link_connect(struct nats_link *link, struct stream_error *error)
{
    char servers[SERVERS_MAX], *rest = NULL;
    if (link->connection && !natsConnection_IsClosed(link->connection)) return 1;
    nats_link_disconnect(link);
    read_files(link);
    snprintf(servers, sizeof servers, "%s", link->servers);
    for (char *one = strtok_r(servers, ",", &rest); one; one = strtok_r(NULL, ",", &rest))
        if (connect_to(link, one, error)) return 1;
    return 0;
}
