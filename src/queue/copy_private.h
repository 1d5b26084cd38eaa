/* What the copy*.c share. */
#ifndef MQ_QUEUE_COPY_PRIVATE_H
#define MQ_QUEUE_COPY_PRIVATE_H

#include "queue/copy.h"
#include "queue/internal.h"

/* Ids above `from`, up to and with `to`. */
struct mq_copy_range {
    int64_t from;
    int64_t to;
};

/* A row's values, all but `paid`, and its body, by SHA-256. */
struct mq_copy_hash {
    int64_t id;
    unsigned char bytes[MQ_SHA256_SIZE];
};
struct mq_copy_hashes {
    struct mq_copy_hash *items;
    size_t count;
    size_t room;
    int64_t counts[MQ_STATE_COUNT];
};
void mq_copy_hashes_clear(struct mq_copy_hashes *hashes);
/* sum ^= hash: undone by the same again. */
void mq_copy_sum(unsigned char sum[MQ_SHA256_SIZE], const unsigned char hash[MQ_SHA256_SIZE]);

/* One call. */
struct mq_copy {
    struct mq_queue *source;
    struct mq_queue *target;
    const struct mq_copy_options *options;
    struct mq_copy_report *report;
    struct mq_move_note to;   /* as it is in the source */
    struct mq_move_note from; /* in the target */
    bool has_to;
    bool has_from;
    char seen_to[MQ_TOKEN_HEX + 1]; /* ids of the notes as they were found; "": none */
    char seen_from[MQ_TOKEN_HEX + 1];
    struct mq_copy_hashes known; /* the target's rows without bodies, just before the lock */
    size_t known_at;             /* those before were compared */
    bool locked;                 /* the source, by a transaction of ours */
    int64_t total;               /* rows, for the progress */
    int64_t summed;              /* the checksum has the target's rows up to this id */
    int64_t last; /* while locked: the highest id that counts; later ones come late */
};

/* One write of a range into the target. */
struct mq_copy_write {
    struct mq_queue *source;
    struct mq_queue *target;
    struct mq_copy_range range;
    const struct mq_move_note *from; /* in the target: what of it this move wrote */
    int64_t summed;
    int64_t now_s;                      /* the target's */
    int64_t rows;                       /* out */
    unsigned char sum[MQ_SHA256_SIZE];  /* out: of the rows that were written */
    unsigned char gone[MQ_SHA256_SIZE]; /* out: of those that they replaced */
};

/* ---- copy_rows.c ---- */

/* Hashes of the rows in a range, by id. */
enum mq_status mq_copy_hash_rows(struct mq_queue *queue, struct mq_copy_range range, bool bodies,
                                 struct mq_copy_hashes *out, struct mq_error *err);
/* *end: where a piece ends that begins at range.from: 500 rows, or 8 MiB of bodies. */
enum mq_status mq_copy_piece(struct mq_queue *queue, struct mq_copy_range range, int64_t *end,
                             struct mq_error *err);
/* Makes the target's rows in the range what the source's are, and reads them back. Within a
 * transaction of the target's. */
enum mq_status mq_copy_write(struct mq_copy_write *write, struct mq_error *err);

/* ---- copy_config.c ---- */

/* Makes the statements, which name all columns. */
enum mq_status mq_copy_prepare(struct mq_queue *queue, struct mq_error *err);
/* Within transactions of both: config keys and strict mode's ledger. */
enum mq_status mq_copy_settings(struct mq_queue *source, struct mq_queue *target,
                                struct mq_copy_report *report, struct mq_error *err);
enum mq_status mq_copy_ledger(struct mq_queue *source, struct mq_queue *target,
                              struct mq_error *err);
/* Notes the columns that are not the queue's. */
enum mq_status mq_copy_find_ignored(struct mq_queue *source, struct mq_copy_report *report,
                                    struct mq_error *err);

/* ---- copy_begin.c ---- */

enum mq_status mq_copy_any(struct mq_queue *queue, struct mq_copy_range range, bool *is,
                           struct mq_error *err);
/* All of the source's ids, that is, those below the target's own. */
struct mq_copy_range mq_copy_all(const struct mq_copy *move);
enum mq_status mq_copy_check_ids(struct mq_copy *move, int64_t base, struct mq_error *err);
/* The error of a source that is being moved to another target. */
enum mq_status mq_copy_elsewhere(const struct mq_move_note *note, struct mq_error *err);
enum mq_status mq_copy_busy(struct mq_copy *move, int64_t sending, struct mq_error *err);
/* Reads the notes of both, refuses what cannot be moved, counts. */
enum mq_status mq_copy_look(struct mq_copy *move, struct mq_error *err);
/* Makes this call the one that is at it: an earlier one that is still running ends. */
enum mq_status mq_copy_take_over(struct mq_copy *move, struct mq_error *err);
/* Writes the notes, which pause both. */
enum mq_status mq_copy_start(struct mq_copy *move, struct mq_error *err);
/* Until all that was claimed before the pause was settled or recovered, and nobody is left who may
 * have read the config before. */
enum mq_status mq_copy_drain(struct mq_copy *move, struct mq_error *err);

/* ---- copy_steps.c ---- */

enum mq_status mq_copy_tell(struct mq_copy *move, enum mq_copy_phase phase, int64_t done,
                            int64_t total, struct mq_error *err);
enum mq_status mq_copy_begin(struct mq_queue *queue, struct mq_error *err);
enum mq_status mq_copy_end(struct mq_queue *queue, enum mq_status status, struct mq_error *err);
/* The source, so that nobody changes its jobs, and who began to has ended. */
enum mq_status mq_copy_lock_source(struct mq_copy *move, struct mq_error *err);
enum mq_status mq_copy_unlock_source(struct mq_copy *move, enum mq_status status,
                                     struct mq_error *err);
/* Within transactions: whether the note of the source is still of this move, and the target's of
 * this call; MQ_INVALID where another one has taken over. They stay so until the end. */
enum mq_status mq_copy_check_to(struct mq_copy *move, struct mq_error *err);
enum mq_status mq_copy_check_from(struct mq_copy *move, struct mq_error *err);
enum mq_status mq_copy_taken_over(struct mq_error *err);
/* By transactions of their own, after that check; NULL removes. */
enum mq_status mq_copy_put_to(struct mq_copy *move, const struct mq_move_note *note,
                              struct mq_error *err);
enum mq_status mq_copy_put_from(struct mq_copy *move, const struct mq_move_note *note,
                                struct mq_error *err);
/* From where the cursor is up to an id, or to what is there. */
enum mq_status mq_copy_up_to(struct mq_copy *move, int64_t limit, struct mq_error *err);
/* Makes the target what the source is, by comparing all rows. */
enum mq_status mq_copy_compare(struct mq_copy *move, bool bodies, struct mq_error *err);
/* Reads the target's rows, before the source is locked. */
enum mq_status mq_copy_know_target(struct mq_copy *move, struct mq_error *err);
/* The same without bodies while the source is locked. */
enum mq_status mq_copy_compare_locked(struct mq_copy *move, struct mq_error *err);

#endif
