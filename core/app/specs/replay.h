/* Plays a recording into the cluster of a test's engine, at the recorded times of its clock. Owner: the
 * engine, or the command; freed before the engine. */
#pragma once
#include "app/specs/spec_engine.h"

struct spec_replay;

/* Counts of changes that a recording made to the cluster. */
struct replay_counts {
    uint64_t objects; /* of the first lists */
    uint64_t changes; /* after those */
};

struct spec_replay_options {
    double speed; /* of the engine's clock against the recorded times: 2 is twice as fast; 0: 1 */
    /* Called before the records of an instant, in ms since the beginning; may wait. False ends the replay.
     * Optional. */
    bool (*wait)(void *ctx, int64_t at_ms);
    void *ctx;
};

/* Has the cluster serve the kinds of the recording. */
struct spec_replay *spec_replay_open(struct spec_engine *engine, const char *path, struct err *err);
/* Stores the objects of the start: the first list of each stream, even an incomplete one. Returns false with
 * ERR_CANCELLED if `wait` ended it; spec_replay_play reports what could not be read or stored. */
bool spec_replay_begin(struct spec_replay *replay, const struct spec_replay_options *options,
                       struct err *err);
/* Plays the rest. Returns false if it ends early, or, after everything was played, with the first change that
 * could not be read or stored and the streams without a complete list. */
bool spec_replay_play(struct spec_replay *replay, const struct spec_replay_options *options, struct err *err);
/* Fills the counts of changes made so far. */
void spec_replay_get_counts(const struct spec_replay *replay, struct replay_counts *out);
/* Returns whether the recording has a stream of that kind, of any namespace or selector. */
bool spec_replay_has(const struct spec_replay *replay, const struct resource *resource);
/* Appends the first kinds that the recording has streams of: "pods, deployments.apps". */
void spec_replay_name_kinds(const struct spec_replay *replay, struct buf *out);
void spec_replay_close(struct spec_replay *replay);
/* Fills the wall time at which a recording begins. */
bool spec_replay_begin_us(const char *path, int64_t *begin_us, struct err *err);
