/* Pods of the replay source as protobuf: read from files, as only others have the types that it takes.
 * Owner: the pods. Read before the source serves, by its loop's thread; markers with the lock held alone. */
#pragma once
#include "bench/source/replay_pods.h"

/* Reads DIR/pods.pb: for each pod, in the order of the list, the length as four bytes, the first the highest,
 * and a v1.Pod; and DIR/metadata.pb, the same with PartialObjectMetadata. False when they are not those of
 * these pods. The bodies lie in `bytes`. */
bool replay_encodings_read(struct replay_pods *pods, const char *dir, struct buf *bytes, struct err *err);
/* The encoding of a marker: that of `like` with these texts. */
void replay_encodings_mark(struct replay_pod *marker, const struct replay_pod *like, struct str name,
                           struct str uid);
