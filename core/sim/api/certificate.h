/* Certificate of a simulated server, by a certificate authority of its own. Owner: sim_certificate_clear
 * frees the texts. Takes a few milliseconds. */
#pragma once

/* Texts in PEM. */
struct sim_certificate {
    char *authority; /* its certificate; its key is gone */
    char *server, *key;
};

/* Makes a certificate for localhost, the loopback addresses, the names of a cluster's own service and
 * `listen`, if it is an IP address. */
void sim_certificate_make(struct sim_certificate *certificate, const char *listen);
void sim_certificate_clear(struct sim_certificate *certificate);
