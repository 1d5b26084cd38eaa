/* All limits within a transaction: claims pay tokens, and unused ones come back. */
#ifndef MQ_QUEUE_ALL_LIMITS_H
#define MQ_QUEUE_ALL_LIMITS_H

#include <stdint.h>

#include "core/error.h"
#include "queue/sql/transaction.h"
#include "queue/windows/windows.h"

#define MQ_LIMIT_HOUR_S  3601 /* an hour, and one second because times are cut to seconds */
#define MQ_LIMIT_PURGE_S 7200

/* The relay, sender and recipients whose limits a claimed job counts for. */
struct mq_party mq_job_party(const struct mq_job *job);
/* Notes the relay that a claimed job pays for, if relays have limits; NULL: it pays for that later
 * (windows/payments.h), or never. */
enum mq_status mq_limit_set_relay(const struct mq_tx *tx, struct mq_job *job, const char *relay,
                                  struct mq_error *err);
/* How many recipients can be paid for now, of mail from any sender; MQ_LIMIT_NONE without a limit.
 * A party with a sender: of mail from that one. */
enum mq_status mq_limit_allowance(struct mq_tx *tx, const struct mq_party *party, int64_t *allowed,
                                  struct mq_error *err);
/* The same later in the transaction: what strict mode counts is not read again. */
enum mq_status mq_limit_still_allows(struct mq_tx *tx, const struct mq_party *party,
                                     int64_t *allowed, struct mq_error *err);
/* Takes n tokens; if `begins`, they are the first ones of a mail. */
enum mq_status mq_limit_take(struct mq_tx *tx, const struct mq_party *party, int64_t n, bool begins,
                             struct mq_error *err);
/* Settles what was paid: what was handed over goes into the ledgers, the rest back into the
 * buckets. mq_limit_store() writes both. */
enum mq_status mq_limit_return(struct mq_tx *tx, const struct mq_outlay *outlay,
                               struct mq_error *err);
/* When the next recipient can be paid for, if none can now. Call mq_limit_allowance() first. *full
 * is what mailLimits says of the limit that it waits for; NULL: it is the hourly limit. */
enum mq_status mq_limit_resume(struct mq_tx *tx, const struct mq_party *party, int64_t *resume_s,
                               const struct mq_limit **full, struct mq_error *err);
/* Whether a limit never has room for a mail that goes whole (room->party.whole); then `text` says
 * which one. `room` is that of mq_windows_room(). */
bool mq_limit_forbids(const struct mq_tx *tx, const struct mq_room *room,
                      char text[MQ_WAITS_FOR_MAX]);
/* What mail of a priority below 0 (`leaves`) leaves of the hourly limit; other mail leaves 0. */
int64_t mq_limit_reserve(const struct mq_tx *tx, bool leaves);
/* For those who only read: refills the bucket, and in strict mode lowers it, also below 0, to what
 * the ledger leaves. *token_s: when a token is there; now if one is, or without a limit. */
enum mq_status mq_limit_look(struct mq_tx *tx, int64_t *token_s, struct mq_error *err);
/* Writes the ledgers, and the buckets when a limit is set and the settings could be read. */
enum mq_status mq_limit_store(struct mq_tx *tx, struct mq_error *err);

#endif
