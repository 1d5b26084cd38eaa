/* What the files of this folder share: the key, hashes, and what a connection knows of the table.
 */
#ifndef MQ_QUEUE_SUPPRESS_INTERNAL_H
#define MQ_QUEUE_SUPPRESS_INTERNAL_H

#include "queue/suppress/suppress.h"

struct mq_args;

/* Kept between claims. */
struct mq_suppress_state {
    unsigned char key[MQ_SUPPRESSION_KEY];
    size_t asked; /* recipients of due jobs that the database was asked about */
    int64_t from; /* the hashes are those of the suppressions after this id */
    int64_t to;   /* up to this id; 0: none were read */
    size_t count;
    uint64_t *hashes; /* sorted */
};

/* Returns queue->suppress with this key, as the config table has it. What was kept with another key
 * is dropped: mail of another database may have been moved here. NULL on a failure. */
struct mq_suppress_state *mq_suppress_state(struct mq_queue *queue, const char *key,
                                            struct mq_error *err);
/* The same with the key that it reads. */
struct mq_suppress_state *mq_suppress_load(struct mq_queue *queue, struct mq_error *err);
/* Writes the form in which addresses are stored: lower case, A-labels. */
enum mq_status mq_suppress_canonical(struct mq_str address, struct mq_buffer *out,
                                     struct mq_error *err);
/* Adds those that are not there yet, within a transaction. */
enum mq_status mq_suppress_add(struct mq_tx *tx, const struct mq_suppression *items, size_t count,
                               int64_t *added, struct mq_error *err);
/* Reads the number of the newest suppression; `locks`: to make a larger one. */
enum mq_status mq_suppress_newest(struct mq_queue *queue, bool locks, int64_t *newest,
                                  struct mq_error *err);
/* How many of the newest suppressions it pays to keep in memory: more, the more often the database
 * had to be asked. */
int64_t mq_suppress_reach(const struct mq_suppress_state *state);
/* Reads the hashes of all suppressions after `from`, unless the state has them. */
enum mq_status mq_suppress_recent(struct mq_queue *queue, struct mq_suppress_state *state,
                                  int64_t from, int64_t newest, struct mq_error *err);
bool mq_suppress_is_recent(const struct mq_suppress_state *state, uint64_t hash);

#endif
