/* Moves a queue from one database to another: SQLite, PostgreSQL, MySQL in any direction.
 *
 * What it promises
 * - No mail is lost, none is sent by both. From the first step on nobody claims from the source,
 *   nor from the target until all is there: what says so is a note in each one's config table
 *   (mailQueueMovedTo, mailQueueMovedFrom), which every claim reads in its transaction. Nothing is
 *   copied before what was being sent has been settled or recovered.
 * - The source still takes new mail, all the time. What comes before the end is copied, and what
 *   comes later by the same call again, while the target is at work already.
 * - Killed at any point, the same call goes on where it was: rows and the place up to which they
 *   were copied are one transaction of the target's.
 * - The source is left as it is, but for the note, unless its rows are to be deleted.
 * - Every row is read back before it is committed. At the end, all rows of both, bodies included,
 *   are compared by SHA-256 of their values in canonical form, made here, not by the databases;
 *   then once more without the bodies, which never change, while the source is locked.
 *
 * Ids are kept. The target's own begin above `base`: at least a million, and a tenth of the
 * source's, later, so that late mail keeps its id too, and so that the application may already
 * store new mail there during the move.
 *
 * Not copied: columns of the application's, config keys that are not the queue's, tokens that
 * were paid by nobody in flight. */
#ifndef MQ_QUEUE_COPY_H
#define MQ_QUEUE_COPY_H

#include "core/sha256.h"
#include "queue/queue.h"

enum mq_copy_phase { MQ_COPY_WAITING, MQ_COPY_COPYING, MQ_COPY_VERIFYING, MQ_COPY_DELETING };
const char *mq_copy_phase_name(enum mq_copy_phase phase); /* "waiting", … */

struct mq_copy_progress {
    enum mq_copy_phase phase;
    int64_t done;  /* rows; WAITING: 0 */
    int64_t total; /* WAITING: mails that are being sent */
};

struct mq_copy_options {
    const char *source_name; /* for the notes and messages, without a password */
    const char *target_name;
    int64_t timeout_s; /* for what is being sent to come to its end */
    int look_ms;       /* between two looks at that */
    bool remove;       /* delete what was copied from the source, at the end */
    bool dry_run;      /* look at both, change nothing */
    const struct mq_evidence_source *evidence; /* of the source's workers; NULL: none */
    /* Called outside of transactions, and while waiting; anything but MQ_OK ends the call, which
     * may be repeated. NULL: not wanted. */
    enum mq_status (*progress)(void *context, const struct mq_copy_progress *progress,
                               struct mq_error *err);
    void *context;
};

struct mq_copy_report {
    bool late;      /* the move was over already: this brought what came later */
    int64_t copied; /* rows written by this call */
    int64_t removed;
    int64_t mails; /* verified: all that are in both; late: those of this call; dry run: to copy */
    int64_t counts[MQ_STATE_COUNT];
    unsigned char checksum[MQ_SHA256_SIZE]; /* of the rows' hashes, whatever their order */
    struct mq_strings ignored; /* columns of the application's in the source's job table */
    struct mq_strings changed; /* config keys that had another value in the target */
    struct mq_strings kept;    /* config keys that only the target had, which stay */
};
void mq_copy_report_init(struct mq_copy_report *report);
void mq_copy_report_clear(struct mq_copy_report *report);

/* MQ_BUSY: something is still being sent, or another transaction is open; the source stays paused.
 * MQ_INVALID: a target that has mail of its own, a source that is one's target, both the same.
 * MQ_MESSAGE: a row cannot be stored there: its id and column. */
enum mq_status mq_queue_move(struct mq_queue *source, struct mq_queue *target,
                             const struct mq_copy_options *options, struct mq_copy_report *report,
                             struct mq_error *err);
/* Gives an unfinished move up: deletes from the target what was copied, then lets the source send
 * again. MQ_INVALID when there is none, or it is over. */
enum mq_status mq_queue_move_abort(struct mq_queue *source, struct mq_queue *target,
                                   const char *target_name, struct mq_error *err);

#endif
