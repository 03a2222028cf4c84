/* What the two walks of a packer share: pack.c takes everything, pack_projected.c what a projection keeps.
 * Owner: as pack.h says. For these files only. */
#pragma once
#include "object/encode.h"
#include "object/pack.h"
#include "object/projection.h"

struct packer {
    struct encoder encoder;
    struct tape_parser *parser;
    const uint64_t *words; /* of the tape that is walked */
    const uint8_t *strings;
    size_t at;
    struct err *err;
};

/* The value under the walk, which moves behind it. `depth` counts maps and arrays, this one included. */
bool pack_value(struct packer *p, int depth, uint32_t field, uint32_t *word);
/* The key under the walk, and its value. */
bool pack_entry(struct packer *p, int depth);
/* Opens an entry of a map; the walk does not move. */
bool pack_key(struct packer *p, struct str key, uint32_t *field);
bool pack_check_depth(const struct packer *p, int depth);

/* What `projection` keeps of the value at `at`; `state` is what projection_enter said of it. */
struct projected {
    const struct projection *projection;
    const struct tape *tape;
};
bool pack_projected_value(struct packer *p, const struct projected *by, struct projection_state state,
                          size_t at, int depth, uint32_t field, uint32_t *word);
/* An entry of a map, its key included; nothing when it is dropped. `state` is that of the map. */
bool pack_projected_entry(struct packer *p, const struct projected *by, struct projection_state state,
                          struct str key, size_t at, int depth);
