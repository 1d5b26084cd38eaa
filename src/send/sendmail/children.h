/* The programs of sendmail:// that run, and the transfers around them; used by sendmail*.c only.
 *
 * pending → a slot, with the program running → done */
#ifndef MQ_SEND_SENDMAIL_CHILDREN_H
#define MQ_SEND_SENDMAIL_CHILDREN_H

#include <poll.h>
#include <signal.h>

#include "core/clock.h"
#include "send/sendmail/process.h"
#include "send/transport.h"

struct mq_sendmail_slot {
    struct mq_process process;
    struct mq_transfer *transfer; /* NULL: free */
    int64_t began_us;
    int64_t signal_ms; /* boot time at which it is told to end: SIGTERM, then SIGKILL */
    int signals;       /* sent so far */
};

struct mq_sendmail_pool {
    struct mq_transport transport; /* first */
    struct mq_strings words;       /* the program and its options */
    bool takes_status;             /* it takes -N, -R and -V */
    int64_t timeout_ms;            /* of one program */
    size_t limit;                  /* programs at once; less where the system gave no more */
    size_t busy;
    struct mq_sendmail_slot *slots;
    size_t slot_count;
    struct pollfd *polled; /* two a slot */
    bool child_held;       /* SIGCHLD is as this pool needs it */
};

/* Starts programs for what is pending. */
void mq_sendmail_pool_begin(struct mq_sendmail_pool *pool);
/* Reads what was printed, ends what takes too long, takes what has ended. */
void mq_sendmail_pool_look(struct mq_sendmail_pool *pool);
/* One wait for something to look at; false: a signal came. */
bool mq_sendmail_pool_wait(struct mq_sendmail_pool *pool, int64_t timeout_ms);
/* Ends all that run; every transfer is done afterwards. Takes 1.5 s at most. */
void mq_sendmail_pool_end(struct mq_sendmail_pool *pool);
/* Before it is freed: no longer needs to know how programs end. */
void mq_sendmail_pool_leave_children(struct mq_sendmail_pool *pool);
int64_t mq_sendmail_real_ms(void); /* real time, whatever clock the mails go by */

#endif
