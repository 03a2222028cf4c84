/* Probes and metrics of a publisher; see publish_internal.h. */
#include <stdio.h>

#include "app/publish/publish_internal.h"

FAMILY(family_messages, 345, COUNTER, "kubelua_publish_objects_total", "bucket,result", NULL,
       "Number of objects that were written to a bucket.");
FAMILY(family_failures, 346, COUNTER, "kubelua_publish_failures_total", "bucket", NULL,
       "Number of tries to write to a bucket, or to read its keys, that failed.");
FAMILY(family_leads, 347, GAUGE, "kubelua_publish_leading", "bucket", NULL,
       "1 if this publisher writes to the bucket, else 0.");
FAMILY(family_listed, 348, GAUGE, "kubelua_publish_kinds_listed", "bucket", NULL,
       "Number of kinds whose first list is in the bucket.");
FAMILY(family_waiting, 349, GAUGE, "kubelua_publish_waiting_changes", "bucket", NULL,
       "Number of changes that wait to be written to a bucket.");

void publish_open_series(struct publisher *publisher)
{
    const char *bucket = publisher->options.target->shown;
    publisher->series = (struct publisher_series){
        .written = SERIES(&family_messages, bucket, "written"),
        .deleted = SERIES(&family_messages, bucket, "deleted"),
        .refused = SERIES(&family_messages, bucket, "refused"),
        .failures = SERIES(&family_failures, bucket),
        .leads = SERIES(&family_leads, bucket),
        .listed = SERIES(&family_listed, bucket),
        .waiting = SERIES(&family_waiting, bucket),
    };
}

void publish_close_series(struct publisher *publisher)
{
    const struct publisher_series *series = &publisher->series;
    series_free(series->written);
    series_free(series->deleted);
    series_free(series->refused);
    series_free(series->failures);
    series_free(series->leads);
    series_free(series->listed);
    series_free(series->waiting);
}

void publish_note_state(struct publisher *publisher, enum publisher_state state)
{
    pthread_mutex_lock(&publisher->lock);
    publisher->status.state = state;
    pthread_mutex_unlock(&publisher->lock);
    series_set(publisher->series.leads, state == PUBLISHER_LEADS);
}

void publish_note_failure(struct publisher *publisher, const char *text)
{
    struct publisher_status *status = &publisher->status;
    pthread_mutex_lock(&publisher->lock);
    status->fails = text != NULL;
    snprintf(status->error, sizeof status->error, "%s", text ? text : "");
    pthread_mutex_unlock(&publisher->lock);
    if (text) series_inc(publisher->series.failures);
}

void publish_note_work(struct publisher *publisher)
{
    struct publish_kind *kind;
    size_t listed = 0, waiting = 0;
    STAILQ_FOREACH (kind, &publisher->kinds, link) {
        listed += *kind->listed != '\0';
        waiting += delta_fifo_len(kind->fifo);
    }
    pthread_mutex_lock(&publisher->lock);
    publisher->status.listed = listed;
    pthread_mutex_unlock(&publisher->lock);
    series_set(publisher->series.listed, (double)listed);
    series_set(publisher->series.waiting, (double)waiting);
}

void publisher_get_status(struct publisher *publisher, struct publisher_status *status)
{
    pthread_mutex_lock(&publisher->lock);
    *status = publisher->status;
    pthread_mutex_unlock(&publisher->lock);
    status->kinds = publisher->kind_count;
}
