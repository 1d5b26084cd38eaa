/* What the files of this folder share. */
#ifndef MQ_QUEUE_WINDOWS_INTERNAL_H
#define MQ_QUEUE_WINDOWS_INTERNAL_H

#include "policy/bucket.h"
#include "policy/limits.h"
#include "queue/sql/transaction.h"
#include "queue/windows/windows.h"

/* One limit for one relay or sender, or for all. */
struct mq_window {
    const struct mq_limit *limit;
    char *scope;             /* its name in the table */
    char *who;               /* the relay, sender or domain; NULL: for all */
    uint64_t hash;           /* mq_hash_lower() of it */
    bool loaded;             /* the amounts of the mode were read */
    bool taken;              /* the bucket has changed */
    struct mq_bucket bucket; /* average */
    int64_t given;           /* tokens given back before the bucket was read, and after */
    int64_t spent;           /* strict: what counts of the ledger */
    int64_t under_way;       /* strict: what counts of current leases */
    int64_t promised;        /* room that claimed jobs are to get, which have not paid */
    int64_t handed;          /* handed over, not in the ledger yet */
    int64_t leaves_s;        /* when `handed` leaves the window */
    int64_t free_for;        /* for how many recipients `free_s` was asked */
    int64_t free_s[2];       /* when it has room for them; [1]: beside the reserve; 0: not asked */
    uint64_t mail;           /* the mail that the next three are of */
    int64_t mine;            /* its recipients in this window */
    size_t nth;              /* the index of the first of them */
    int64_t mine_handed;     /* how many of them were handed over */
    int64_t *rows;           /* expect.c: pairs of time and amount; NULL: not read */
    size_t row_count;
};

/* The mails of one priority that wait for a window, one behind the other. */
struct mq_line {
    size_t window; /* its index */
    int priority;
    int64_t next_ms;  /* the slot of the next mail */
    int64_t last_id;  /* the mail that got the last slot; 0: none did now */
    int64_t again_ms; /* how far the mails reach that have waited in the line already */
};

/* A job in sending that paid. */
struct mq_under_way {
    char *relay;
    char *from;
    uint64_t *to; /* mq_hash_lower() of the domains of those recipients */
    size_t to_count;
    int64_t paid;
};

struct mq_windows {
    struct mq_window *items;
    size_t count, room;
    struct mq_under_way *under_way;
    size_t under_way_count, under_way_room;
    bool has_under_way;
    struct mq_line *lines;
    size_t line_count, line_room;
    uint64_t mails; /* how often recipients were counted */
};

bool mq_is_strict(const struct mq_tx *tx);
/* A window's name in the table, in small letters, malloc'ed. It has no N, so that a limit that is
 * raised or lowered keeps its count. NULL without memory. */
char *mq_window_name(const struct mq_limit *limit, struct mq_str who);
/* How long a recipient counts: one second more, because times are cut to seconds. */
int64_t mq_window_span_s(const struct mq_limit *limit);
/* Reads `spent`. */
enum mq_status mq_ledger_read(struct mq_tx *tx, struct mq_window *w, struct mq_error *err);
/* Enters n that were handed over at at_s; mq_ledger_write() writes the last ones. */
enum mq_status mq_ledger_hand(struct mq_tx *tx, struct mq_window *w, int64_t n, int64_t at_s,
                              struct mq_error *err);
enum mq_status mq_ledger_write(struct mq_tx *tx, struct mq_window *w, struct mq_error *err);
/* Finds the first second at which `excess` recipients have left the window. */
enum mq_status mq_ledger_frees(struct mq_tx *tx, const struct mq_window *w, int64_t excess,
                               int64_t *at_s, struct mq_error *err);
/* The bucket of the average mode. */
enum mq_status mq_bucket_read(struct mq_tx *tx, struct mq_window *w, struct mq_error *err);
enum mq_status mq_bucket_write(struct mq_tx *tx, const struct mq_window *w, struct mq_error *err);
/* Reads what the mode needs. */
enum mq_status mq_window_load(struct mq_tx *tx, struct mq_window *w, struct mq_error *err);
/* What mail that leaves the reserve leaves of the window; 0 for other mail. */
int64_t mq_window_reserve(const struct mq_tx *tx, const struct mq_window *w, bool leaves);
/* Whether the limit holds for this mail, without those by its recipients. If so, sets *who to the
 * owner of the window. */
bool mq_window_holds(const struct mq_limit *limit, const struct mq_party *party,
                     struct mq_str *who);
/* Whether it is the limit's for `who`, of which this is mq_hash_lower(). */
bool mq_window_is_of(const struct mq_window *w, const struct mq_limit *limit, struct mq_str who,
                     uint64_t hash);
/* Adds what is under way to w->under_way. */
enum mq_status mq_window_count_under_way(struct mq_tx *tx, struct mq_window *w,
                                         struct mq_error *err);
void mq_under_way_clear(struct mq_under_way *one);
/* How many of these count for a window; for one of mails, 1 at most. */
int64_t mq_recipients_count(const struct mq_window *w, const struct mq_strings *recipients);
/* Finds the window of a limit that holds for this mail; of a recipients' limit, that of its first
 * one. It stays where it is until the next call. */
enum mq_status mq_window_find(struct mq_tx *tx, const struct mq_limit *limit,
                              const struct mq_party *party, struct mq_window **out,
                              struct mq_error *err);
/* Reads the only row of a scope; at_s and n stay as they are if there is none. */
enum mq_status mq_window_get(struct mq_tx *tx, const char *scope, int64_t *at_s, int64_t *n,
                             struct mq_error *err);
/* Writes the only row of a scope. */
enum mq_status mq_window_put(struct mq_tx *tx, const char *scope, int64_t at_s, int64_t n,
                             struct mq_error *err);

#endif
