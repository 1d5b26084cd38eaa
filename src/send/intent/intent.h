/* The intent file of a worker run: a memory-mapped record with a slot for each job under way, which
 * says how far the job has come. It survives the worker's death. The next worker reads it and knows
 * which mails it can send again without a duplicate.
 *
 * Each run has one file in the run directory, named by its claim token. The run creates it under a
 * temporary name, preallocates it, locks it with flock and renames it. The lock ends with the
 * process. The contents stay (page cache), but not after a reboot: the header has the boot id, and
 * a record of another boot or host proves nothing. */
#ifndef MQ_SEND_INTENT_INTENT_H
#define MQ_SEND_INTENT_INTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "policy/job_state.h"

#define MQ_INTENT_SLOTS_MAX 16384

enum mq_intent_phase {
    MQ_INTENT_FREE = 0,
    MQ_INTENT_BEGUN,    /* before composing */
    MQ_INTENT_ENVELOPE, /* before MAIL */
    MQ_INTENT_BODY,     /* before the chunk with the dot */
    MQ_INTENT_ACCEPTED, /* 2xx to the dot was read */
    MQ_INTENT_REFUSED   /* another reply to the dot was read */
};

/* One job of a run, as it is in the file: two cache lines. */
struct mq_intent_entry {
    uint32_t phase; /* enum mq_intent_phase; stored last */
    int32_t code;
    int64_t job_id;
    int64_t at_s;
    int32_t handed_over; /* tokens that are spent if the relay took the body */
    /* enum mq_outcome of each recipient of the row; RELEASED for those not in the transaction */
    uint8_t results[MQ_RECIPIENTS_MAX];
};

struct mq_intent; /* the file of this run, writable */

/* Creates a run's file. slots: the most jobs under way at once, 1 to MQ_INTENT_SLOTS_MAX.
 * MQ_CANTOPEN, MQ_READONLY, MQ_FULL with the path. */
enum mq_status mq_intent_create(const char *directory, const char *token, size_t slots,
                                struct mq_intent **out, struct mq_error *err);
/* Marks a free slot as begun for the job. Returns its index, or -1 if none is free. */
int mq_intent_begin(struct mq_intent *intent, int64_t job_id);
/* Writes a slot, its phase last: if the process dies in between, the slot keeps its old phase. */
void mq_intent_write(struct mq_intent *intent, int slot, const struct mq_intent_entry *entry);
void mq_intent_release(struct mq_intent *intent, int slot); /* after the settle's commit */
void mq_intent_close(struct mq_intent *intent);             /* unlinks and unlocks */
/* For a run that ends with unsettled jobs: unlocks and frees, but leaves the file to the next
 * worker. */
void mq_intent_abandon(struct mq_intent *intent);

/* ---- the records of other runs ---- */

enum mq_intent_owner {
    MQ_INTENT_DEAD,  /* we hold its lock now: its process is gone */
    MQ_INTENT_ALIVE, /* its process lives (perhaps stopped): read only */
    MQ_INTENT_OTHER  /* another user, host or boot, or unreadable: proves nothing */
};

/* The record of another run, read-only. */
struct mq_intent_record {
    enum mq_intent_owner owner;
    char token[MQ_TOKEN_HEX + 1];
    char *path;
    int fd;                              /* holds the lock if the owner is dead; -1: not open */
    struct mq_intent_contents *contents; /* as they were when the record was read */
    size_t slot_count;                   /* 0: the record proves nothing */
};

/* Calls each() for every record in the directory except that of the token `own` (NULL: for all).
 * each() owns the record. Removes files older than a week that prove nothing. */
enum mq_status mq_intent_scan(const char *directory, const char *own,
                              void (*each)(void *context, struct mq_intent_record *record),
                              void *context, struct mq_error *err);
/* Opens the record of a token; *out is NULL if there is none. */
enum mq_status mq_intent_open(const char *directory, const char *token,
                              struct mq_intent_record **out, struct mq_error *err);
/* Whether the record has a slot for the job. False from a record that proves nothing says nothing;
 * false from any other says that the job was never begun. */
bool mq_intent_find(const struct mq_intent_record *record, int64_t job_id,
                    struct mq_intent_entry *out);
/* remove: unlinks the file; only for a DEAD owner and after the recovery's commit. */
void mq_intent_record_close(struct mq_intent_record *record, bool remove);

#endif
