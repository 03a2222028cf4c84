/* Roots, the complete objects: interned, counted by an atomic word, released from any thread; see pool.h,
 * value.h. */
#include <stdio.h>

#include "base/hash.h"
#include "base/must.h"
#include "object/pack/intern.h"
#include "object/pack/loan.h"
#include "object/pack/pack.h"
#include "object/pack/segment.h"
#include "object/value/value.h"

static size_t root_size(size_t words, size_t sections)
{
    size_t size = offsetof(struct root, words) + words * sizeof(uint32_t);
    return sections > 0 ? size + sections * sizeof(struct section) + sizeof(struct loan) : size;
}

uint32_t root_identity(uint32_t hash, struct str uid, struct str resource_version)
{
    uint64_t parts[3] = {hash, hash_str(uid), hash_str(resource_version)};
    return (uint32_t)hash_bytes(parts, sizeof parts);
}

uint32_t root_stored_identity(const struct root *root)
{
    struct text uid, version;
    return root_identity(root->key_hash, root_uid(root, &uid), root_resource_version(root, &version));
}

static void count_root_bytes(struct pool *pool, size_t difference)
{
    size_t bytes = atomic_load_explicit(&pool->root_bytes, memory_order_relaxed);
    atomic_store_explicit(&pool->root_bytes, bytes + difference, memory_order_relaxed);
}

static struct root *root_make(struct pool *pool, const struct root_draft *draft)
{
    uint32_t granule = slabs_alloc(pool_slabs(pool), root_size(draft->size, draft->section_count));
    if (!granule) return NULL;
    struct root *root = pool_at(pool, granule);
    *root = (struct root){
        .size = draft->size & ROOT_WORDS_MAX,
        .top = (uint32_t)draft->top,
        .key_hash = draft->key_hash,
        .text_length = draft->text_length,
        .section_count = draft->section_count & SECTIONS_MAX,
        .is_partial = draft->is_partial,
    };
    atomic_init(&root->refs, 1);
    memcpy(root->field, draft->field, sizeof root->field);
    uint32_t *behind = mempcpy(root->words, draft->words, draft->size * sizeof *draft->words);
    if (draft->section_count > 0) {
        struct loan *loan = mempcpy(behind, draft->section, draft->section_count * sizeof *draft->section);
        *loan = (struct loan){0, 0};
    }
    return root;
}

/* Returns the root with the same bytes. `*candidate`: another one has the same identity. */
static struct root *find_same(struct pool *pool, const struct root_draft *draft, bool *candidate)
{
    uint32_t at = draft->identity, granule;
    while ((granule = granule_table_next(&pool->roots, draft->identity, &at)) != 0) {
        struct root *root = pool_at(pool, granule);
        *candidate = true;
        if (root->size != draft->size || root->is_partial != draft->is_partial) continue;
        if (memcmp(root->words, draft->words, draft->size * sizeof *draft->words) == 0) return root;
    }
    return NULL;
}

/* Returns the root that equals `fresh` in other bytes. */
static struct root *find_equal(struct pool *pool, const struct root *fresh, uint32_t identity)
{
    uint32_t at = identity, granule;
    while ((granule = granule_table_next(&pool->roots, identity, &at)) != 0) {
        struct root *root = pool_at(pool, granule);
        if (root->is_partial == fresh->is_partial && value_equal(root_value(root), root_value(fresh)))
            return root;
    }
    return NULL;
}

struct root *root_intern(struct pool *pool, const struct root_draft *draft)
{
    bool candidate = false;
    struct root *root = find_same(pool, draft, &candidate);
    if (root) return root_ref(root);
    struct root *fresh = root_make(pool, draft);
    if (!fresh) return NULL;
    /* The same object may be packed in other bytes, as a key got its number since; compared only if uid and
     * version are equal. */
    if (candidate && (root = find_equal(pool, fresh, draft->identity)) != NULL) {
        slabs_release(pool_slabs(pool), granule_of(fresh), root_bytes(fresh));
        return root_ref(root);
    }
    if (draft->lender) loan_make(pool, draft->lender, fresh, draft->lent);
    if (draft->segments) segments_attach(pool, fresh, draft->segments);
    loan_retain(pool, fresh);
    granule_table_insert(&pool->roots, draft->identity, granule_of(fresh));
    count_root_bytes(pool, root_bytes(fresh));
    return fresh;
}

/* Returns whether the version is that of the text: a hash of 64 bits is trusted together with it, as no two
 * states of an object share a version. */
static bool has_version(const struct root *root, struct str text)
{
    char wanted[64];
    struct text buf;
    struct str version = root_resource_version(root, &buf);
    int length = snprintf(wanted, sizeof wanted, "\"resourceVersion\":\"%.*s\"", STR_ARG(version));
    return version.n > 0 && (size_t)length < sizeof wanted && memmem(text.p, text.n, wanted, (size_t)length);
}

static uint32_t latest(const struct pool *pool, uint32_t head)
{
    uint32_t at = head;
    return granule_table_next(&pool->latest, head, &at);
}

struct root *root_of_head(const struct pool *pool, uint32_t head)
{
    uint32_t granule = latest(pool, head);
    return granule ? pool_at(pool, granule) : NULL;
}

struct root *root_of_text(const struct pool *pool, const struct pack_mark *mark, struct str text)
{
    struct root *root = root_of_head(pool, mark->head);
    return root && mark->whole && root->text_hash == mark->whole && has_version(root, text) ? root : NULL;
}

static void forget_text(struct pool *pool, struct root *root)
{
    uint32_t head = root->text_head, granule = granule_of(root);
    if (head && latest(pool, head) == granule) granule_table_remove(&pool->latest, head, granule);
}

/* Records the text of a root, one for each head: many states of one object may live, and only the latest is
 * useful. */
void root_set_text(struct pool *pool, struct root *root, const struct pack_mark *mark)
{
    uint32_t before = latest(pool, mark->head), granule = granule_of(root);
    if (root->text_head != mark->head) forget_text(pool, root);
    if (before && before != granule) granule_table_remove(&pool->latest, mark->head, before);
    if (before != granule) granule_table_insert(&pool->latest, mark->head, granule);
    root->text_hash = mark->whole;
    root->text_head = mark->head;
}

void root_destroy(struct pool *pool, struct root *root)
{
    granule_table_remove(&pool->roots, root_stored_identity(root), granule_of(root));
    forget_text(pool, root);
    loan_release(pool, root);
    if (root->text_length >= SEGMENTS_TEXT_MIN) segments_release(pool, root);
    count_root_bytes(pool, -root_bytes(root));
    slabs_release(pool_slabs(pool), granule_of(root), root_bytes(root));
}

void root_replace(struct pool *pool, struct root *from, struct root *to)
{
    granule_table_insert(&pool->roots, root_stored_identity(to), granule_of(to));
    count_root_bytes(pool, root_bytes(to));
    if (from->text_head && latest(pool, from->text_head) == granule_of(from)) {
        granule_table_remove(&pool->latest, from->text_head, granule_of(from));
        granule_table_insert(&pool->latest, to->text_head, granule_of(to));
    }
    root_unref(from);
}

bool root_is_partial(const struct root *root)
{
    return root->is_partial;
}

struct pool *root_pool(const struct root *root)
{
    return (struct pool *)((struct slabs *)region_of(root) + 1);
}

size_t root_bytes(const struct root *root)
{
    return root_size(root->size, root->section_count);
}

struct root *root_ref(struct root *root)
{
    /* A forked child writes no count, so that it shares the memory of the objects with its parent. */
    if (pool_frozen(root_pool(root))) return root;
    uint32_t before = atomic_fetch_add_explicit(&root->refs, 1, memory_order_relaxed);
    must((before & ~ROOT_QUEUED) < ROOT_QUEUED - 1);
    return root;
}

static void release_later(struct pool *pool, struct root *root)
{
    uint32_t newest = atomic_load_explicit(&pool->released, memory_order_relaxed);
    do {
        root->released_next = newest;
    } while (!atomic_compare_exchange_weak_explicit(&pool->released, &newest, granule_of(root),
                                                    memory_order_release, memory_order_relaxed));
    /* Only the first of a list wakes the pool's thread, which drains all of it. */
    if (newest == 0 && pool->options.released) pool->options.released(pool->options.ctx);
}

void root_unref(struct root *root)
{
    if (!root) return;
    struct pool *pool = root_pool(root);
    if (pool_frozen(pool)) return;
    bool mine = pool_is_mine(pool);
    uint32_t refs = atomic_load_explicit(&root->refs, memory_order_relaxed), after;
    do {
        must((refs & ~ROOT_QUEUED) > 0);
        after = refs - 1;
        /* Only the pool's thread may free, so the root is queued in the same step that drops its last
         * reference. */
        if (after == 0 && !mine) after = ROOT_QUEUED;
    } while (!atomic_compare_exchange_weak_explicit(&root->refs, &refs, after, memory_order_acq_rel,
                                                    memory_order_relaxed));
    if (after == 0) {
        root_destroy(pool, root);
    } else if (after == ROOT_QUEUED && !(refs & ROOT_QUEUED)) {
        release_later(pool, root);
    }
}

struct value root_value(const struct root *root)
{
    return (struct value){root->words + root->top, root->words[root->top]};
}

static struct value field(const struct root *root, enum root_field which)
{
    uint32_t word = root->field[which];
    if (word == ROOT_ABSENT) return value_absent;
    if (word_tag(word) != TAG_LOCAL) return word_value(root->words, word);
    const uint32_t *at = root->words + word_payload(word);
    return (struct value){at, *at};
}

struct str root_namespace(const struct root *root, struct text *text)
{
    return value_str(field(root, ROOT_NAMESPACE), text);
}

struct str root_name(const struct root *root, struct text *text)
{
    return value_str(field(root, ROOT_NAME), text);
}

struct str root_uid(const struct root *root, struct text *text)
{
    return value_str(field(root, ROOT_UID), text);
}

struct str root_resource_version(const struct root *root, struct text *text)
{
    return value_str(field(root, ROOT_RESOURCE_VERSION), text);
}

struct value root_labels(const struct root *root)
{
    return field(root, ROOT_LABELS);
}

void root_prefetch(const struct root *root)
{
    if (!root) return;
    __builtin_prefetch(root);
    __builtin_prefetch(&root->field[ROOT_LABELS]);
}

void root_prefetch_fields(const struct root *root)
{
    if (root) __builtin_prefetch(root->words + root->top);
}

void root_prefetch_labels(const struct root *root)
{
    if (!root) return;
    uint32_t word = root->field[ROOT_LABELS], at = word_payload(word);
    if (word_tag(word) == TAG_LOCAL) __builtin_prefetch(root->words + at);
    if (word_tag(word) == TAG_REF) __builtin_prefetch(region_at(region_of(root), at));
}

struct value root_annotations(const struct root *root)
{
    return field(root, ROOT_ANNOTATIONS);
}

uint32_t root_key_hash(const struct root *root)
{
    return root->key_hash;
}

uint32_t key_hash(struct str ns, struct str name)
{
    return (uint32_t)(hash_str(ns) * 0x9e3779b97f4a7c15u ^ hash_str(name));
}

bool root_key_is(const struct root *root, struct str ns, struct str name)
{
    struct text text;
    return value_str_is(field(root, ROOT_NAME), name) && str_eq(root_namespace(root, &text), ns);
}

bool root_key_equal(const struct root *a, const struct root *b)
{
    if (a == b) return true;
    struct text ns, name;
    return a->key_hash == b->key_hash && root_key_is(a, root_namespace(b, &ns), root_name(b, &name));
}

void root_key(const struct root *root, struct buf *out)
{
    struct text text;
    struct str ns = root_namespace(root, &text);
    if (ns.n > 0) {
        buf_str(out, ns);
        buf_putc(out, '/');
    }
    buf_str(out, root_name(root, &text));
}
