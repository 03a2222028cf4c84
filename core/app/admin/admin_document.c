/* Documents in pieces; see admin_document.h. */
#include "app/admin/admin_document.h"

#include <stdlib.h>

#include "app/admin/admin_engine.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text/json_out.h"
#include "base/time/piece_meter.h"
#include "engine/engine_view.h"
#include "script/generation/script.h"

/* A document that began so often is written to its end at once: scripts that come and go all the time must
 * not keep an operator from seeing them. */
enum { BEGINS_MAX = 4 };

struct admin_document {
    LIST_ENTRY(admin_document) link;
    struct admin_engine *admin;
    const struct admin_form *form;
    size_t section, at;  /* next unit */
    uint64_t written_of; /* scripts and caches that were there when it began */
    int begins;
    struct buf text;
    struct piece_meter meter;
    struct timer timer; /* until the next piece */
    void (*done)(void *ctx, struct buf *text);
    void *ctx;
};

static void mix(uint64_t *hash, const void *what)
{
    *hash = (*hash ^ (uint64_t)(uintptr_t)what) * UINT64_C(0x9E3779B97F4A7C15);
    *hash ^= *hash >> 29;
}

/* Identifies the scripts of the engine, their generations and their claims, in their order. */
static uint64_t identify(const struct admin_engine *admin)
{
    const struct managed_scripts *scripts = engine_scripts(admin->engine);
    uint64_t hash = scripts->count;
    for (size_t i = 0; i < scripts->count; i++) {
        mix(&hash, scripts->items[i]);
        mix(&hash, scripts->items[i]->running);
    }
    for (size_t i = 0; i < scripts->generation_count; i++) {
        const struct script *script = scripts->generations[i];
        mix(&hash, (const void *)(uintptr_t)script_generation(script));
        for (size_t j = 0; j < script_claim_count(script); j++) mix(&hash, script_claim(script, j));
    }
    return hash;
}

static void begin(struct admin_document *document)
{
    document->written_of = identify(document->admin);
    document->section = document->at = document->text.len = 0;
    document->begins++;
    json_open(&document->text, NULL, '{');
}

static void put_unit(struct admin_document *document)
{
    const struct admin_section *section = &document->form->sections[document->section];
    bool more = false;
    if (document->meter.stage != section->name) piece_enter(&document->meter, section->name);
    if (section->whole)
        section->whole(document->admin, &document->text);
    else
        more = section->next(document->admin, document->at, &document->text);
    document->at = more ? document->at + 1 : 0;
    document->section += !more;
}

/* Returns whether the document is complete. */
static bool write_piece(struct admin_document *document)
{
    if (!document->begins || document->written_of != identify(document->admin)) begin(document);
    while (document->section < document->form->count) {
        put_unit(document);
        if (document->begins < BEGINS_MAX && piece_has_had(&document->meter, PIECE_BRIEF_US))
            return document->section == document->form->count;
    }
    return true;
}

static void document_free(struct admin_document *document)
{
    LIST_REMOVE(document, link);
    timer_cancel(&document->timer);
    buf_clear(&document->text);
    free(document);
}

static void end(struct admin_document *document)
{
    const struct piece_meter *meter = &document->meter;
    log_v(2, "Wrote a document", F("document", document->form->name),
          FI("cpuMicroseconds", meter->cpu_ns / 1000), FI("longestMicroseconds", meter->longest_ns / 1000),
          FI("longestPreempted", meter->longest_preempted), FI("pieces", meter->pieces),
          FI("bytes", document->text.len));
    document->done(document->ctx, &document->text);
    document_free(document);
}

static void go_on(struct admin_document *document)
{
    piece_begin(&document->meter);
    bool complete = write_piece(document);
    if (complete) json_close(&document->text, '}');
    piece_end(&document->meter);
    if (complete)
        end(document);
    else
        timer_start(&document->timer, loop_clock(engine_loop(document->admin->engine)), 0);
}

static void on_timer(struct timer *timer)
{
    go_on(container_of(timer, struct admin_document, timer));
}

void admin_document_write(struct admin_engine *admin, const struct admin_form *form,
                          void (*done)(void *ctx, struct buf *text), void *ctx)
{
    struct admin_document *document = NEW(struct admin_document);
    *document = (struct admin_document){
        .admin = admin, .form = form, .meter.of = form->name, .timer.fn = on_timer, .done = done, .ctx = ctx};
    LIST_INSERT_HEAD(&admin->documents, document, link);
    go_on(document);
}

void admin_documents_end(struct admin_engine *admin)
{
    struct admin_document *document;
    while ((document = LIST_FIRST(&admin->documents))) document_free(document);
}
