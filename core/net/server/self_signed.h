/* Certificate of a server, by a certificate authority of its own that nobody else knows: for development and
 * for simulated servers. Owner: self_signed_clear frees the texts. Takes a few milliseconds; on any thread.
 */
#pragma once

/* Texts in PEM. */
struct self_signed {
    char *authority; /* its certificate; its key is gone */
    char *server, *key;
};

/* Makes a certificate for localhost, the loopback addresses, `names` ("DNS:a,DNS:b", or NULL) and `listen`,
 * if it is an IP address. `name` is that of the server; the authority has "-ca" behind it. */
void self_signed_make(struct self_signed *certificate, const char *name, const char *names,
                      const char *listen);
void self_signed_clear(struct self_signed *certificate);
