/* Findings, packed: for each a head and its texts; see findings.h. */
#include "audit/found/findings.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct findings {
    size_t len;
    char bytes[];
};

/* Without padding, as blocks are compared byte by byte. */
struct finding_head {
    uint32_t message, path, value, reason;
    uint16_t verdict, accepted;
};
_Static_assert(sizeof(struct finding_head) == 20, "struct finding_head has a gap");

void findings_gather(struct buf *gathered, const struct rule_finding *finding, bool accepted)
{
    const struct finding_head head = {.message = (uint32_t)finding->message.n,
                                      .path = (uint32_t)finding->path.n,
                                      .value = (uint32_t)finding->value.n,
                                      .reason = (uint32_t)finding->reason.n,
                                      .verdict = (uint16_t)finding->verdict,
                                      .accepted = accepted};
    buf_append(gathered, &head, sizeof head);
    buf_str(gathered, finding->message);
    buf_str(gathered, finding->path);
    buf_str(gathered, finding->value);
    buf_str(gathered, finding->reason);
}

struct findings *findings_new(const struct buf *gathered)
{
    if (gathered->len == 0) return NULL;
    struct findings *findings = xmalloc(sizeof *findings + gathered->len);
    findings->len = gathered->len;
    memcpy(findings->bytes, gathered->data, gathered->len);
    return findings;
}

size_t findings_bytes(const struct findings *findings)
{
    return findings ? sizeof *findings + findings->len : 0;
}

bool findings_equal(const struct findings *a, const struct findings *b)
{
    if (!a || !b) return a == b;
    return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

static struct str cut(const struct findings *findings, size_t *at, uint32_t n)
{
    struct str text = {findings->bytes + *at, n};
    *at += n;
    return text;
}

bool findings_next(const struct findings *findings, size_t *at, struct rule_finding *out, bool *accepted)
{
    struct finding_head head;
    if (!findings || *at == findings->len) return false;
    memcpy(&head, findings->bytes + *at, sizeof head);
    *at += sizeof head;
    out->verdict = (enum verdict)head.verdict;
    out->message = cut(findings, at, head.message);
    out->path = cut(findings, at, head.path);
    out->value = cut(findings, at, head.value);
    out->reason = cut(findings, at, head.reason);
    *accepted = head.accepted != 0;
    return true;
}
