/* Moves of objects after this replica lost slots: what is left of its objects is scattered over the memory of
 * all. A pass walks the caches in pieces on the engine thread, which has the pools meanwhile; see
 * engine_internal.h. */
#include "base/log.h"
#include "base/mem.h"
#include "engine/engine_internal.h"

enum {
    SOON_MS = 2000,       /* from a loss on: its objects are to be released, and others may follow */
    LATER_MS = 10000,     /* behind a pass: what a script held then may be free */
    USELESS_MAX = 3,      /* passes in a row */
    PAUSE_MS = 10,        /* between two pieces */
    BUSY_PAUSE_MS = 100,  /* after an I/O thread that had no time: it lists what this replica has gained */
    PIECE_NS = 2000000,   /* of the engine thread, which the I/O thread waits for */
    ENTRIES_AT_ONCE = 16, /* between two looks at the clock */
    BUSY_MAX_MS = 5,      /* to wait for the I/O thread */
    WON_MIN = 256 << 10,  /* bytes by which a pass helped */
};

/* Calls `fn` for those of the I/O thread and its packers, and of transformed objects; returns the sum. */
static size_t each_pool(const struct engine_moves *moves, const struct io_pools *pools,
                        size_t (*fn)(struct pool *pool))
{
    size_t sum = 0;
    const struct cluster *cluster;
    for (size_t i = 0; i < pools->count; i++) sum += fn(pools->pool[i]);
    for (size_t i = 0; (cluster = clusters_at(&moves->engine->clusters, i)); i++) {
        struct pool *own = shared_factory_pool(cluster->parts.factory);
        if (own) sum += fn(own);
    }
    return sum;
}

static size_t unused_of(struct pool *pool)
{
    return pool_unused_bytes(pool);
}

static size_t begin_in(struct pool *pool)
{
    return pool_begin_moves(pool);
}

static size_t end_in(struct pool *pool)
{
    pool_end_moves(pool);
    return pool_unused_bytes(pool);
}

static bool begin(struct engine_moves *moves, const struct io_pools *pools)
{
    moves->unused = each_pool(moves, pools, unused_of);
    moves->runs = each_pool(moves, pools, begin_in) > 0;
    moves->again = false;
    moves->cluster = 0;
    moves->at = (struct moved_caches){0};
    moves->spent_ns = 0;
    if (!moves->runs) each_pool(moves, pools, end_in); /* what is vacant goes back in any case */
    return moves->runs;
}

/* Moves some objects; returns false at the end of the pass. */
static bool move_some(struct engine_moves *moves)
{
    const struct cluster *cluster = clusters_at(&moves->engine->clusters, moves->cluster);
    if (!cluster) return false;
    if (shared_factory_move_objects(cluster->parts.factory, &moves->at, ENTRIES_AT_ONCE)) return true;
    moves->cluster++;
    moves->at = (struct moved_caches){0};
    return true;
}

static void end(struct engine_moves *moves, const struct io_pools *pools)
{
    size_t left = each_pool(moves, pools, end_in);
    moves->useless = left + WON_MIN < moves->unused ? 0 : moves->useless + 1;
    moves->again |= moves->useless < USELESS_MAX;
    moves->runs = false;
    log_v(1, "Objects moved together", FI("unusedBytes", left), FI("unusedBytesBefore", moves->unused),
          FI("cpuUs", moves->spent_ns / 1000));
}

/* Returns whether the pass goes on. */
static bool run_piece(struct engine_moves *moves, const struct io_pools *pools)
{
    int64_t begun_ns = clock_measure_ns(), used_ns = clock_thread_ns();
    if (!moves->runs && !begin(moves, pools)) return false;
    bool more = true;
    while (more && clock_measure_ns() - begun_ns < PIECE_NS) more = move_some(moves);
    moves->spent_ns += clock_thread_ns() - used_ns;
    if (!more) end(moves, pools);
    return more;
}

static void on_timer(struct timer *timer)
{
    struct engine_moves *moves = container_of(timer, struct engine_moves, timer);
    struct io_thread *io = moves->engine->cluster->io;
    struct io_pools pools;
    int64_t pause_ms = BUSY_PAUSE_MS;
    if (io_thread_borrow_pools(io, BUSY_MAX_MS, &pools)) {
        pause_ms = run_piece(moves, &pools) ? PAUSE_MS : moves->again ? LATER_MS : 0;
        io_thread_return_pools(io, &pools);
    }
    if (pause_ms) timer_start(timer, loop_clock(moves->engine->loop), pause_ms);
}

void engine_moves_start(struct engine_moves *moves, struct engine *engine)
{
    moves->engine = engine;
    moves->timer.fn = on_timer;
    moves->useless = 0;
    if (moves->runs)
        moves->again = true;
    else
        timer_start(&moves->timer, loop_clock(engine->loop), SOON_MS);
}

void engine_moves_end(struct engine_moves *moves)
{
    timer_cancel(&moves->timer);
}
