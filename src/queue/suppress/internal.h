/* What the files of this folder share: the key, hashes, and what a connection knows of the table.
 */
#ifndef MQ_QUEUE_SUPPRESS_INTERNAL_H
#define MQ_QUEUE_SUPPRESS_INTERNAL_H

#include "queue/sql/statements.h"
#include "queue/suppress/suppress.h"

#define MQ_RECENT_MAX 4096 /* hashes of new suppressions that a claim compares in memory */

/* Kept between claims. */
struct mq_suppress_state {
    unsigned char key[MQ_SUPPRESSION_KEY];
    int64_t from; /* the hashes are those of the suppressions after this one … */
    int64_t to;   /* … up to this one; 0: none were read */
    size_t count;
    uint64_t hashes[MQ_RECENT_MAX]; /* sorted */
};

/* Returns queue->suppress with this key, as the config table has it. What was kept with another key
 * is dropped: mail of another database may have been moved here. NULL on a failure. */
struct mq_suppress_state *mq_suppress_state(struct mq_queue *queue, const char *key,
                                            struct mq_error *err);
/* The same with the key that it reads. */
struct mq_suppress_state *mq_suppress_load(struct mq_queue *queue, struct mq_error *err);
/* The hash of an address whose domain is in A-labels. Case does not matter. */
uint64_t mq_suppress_hash(const struct mq_suppress_state *state, struct mq_str address);
/* Writes the form in which addresses are stored: lower case, A-labels. */
enum mq_status mq_suppress_canonical(struct mq_str address, struct mq_buffer *out,
                                     struct mq_error *err);
/* Runs a template that has no slot. */
enum mq_status mq_suppress_query(struct mq_queue *queue, const char *text, struct mq_args args,
                                 struct mq_error *err);
/* Reads the number of the newest suppression; `locks`: to make a larger one. */
enum mq_status mq_suppress_newest(struct mq_queue *queue, bool locks, int64_t *newest,
                                  struct mq_error *err);
/* Whether the state has, or can read, the hashes of all suppressions after `from`. */
enum mq_status mq_suppress_recent(struct mq_queue *queue, int64_t from, int64_t newest, bool *known,
                                  struct mq_error *err);
bool mq_suppress_is_recent(const struct mq_suppress_state *state, uint64_t hash);

#endif
