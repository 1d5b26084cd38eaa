/* A queue in memory with the test's own clock and random numbers, and short helpers. Every helper
 * asserts success. */
#ifndef TESTS_QUEUE_FIXTURE_H
#define TESTS_QUEUE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/clock.h"
#include "queue/body.h"
#include "queue/claim.h"
#include "queue/config/keys.h"
#include "queue/enqueue.h"
#include "queue/event.h"
#include "queue/job.h"
#include "queue/manage.h"
#include "queue/queue.h"
#include "queue/recover.h"

#define START   INT64_C(1800000000)
#define TOKEN_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define TOKEN_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

struct fixture {
    struct mq_queue *queue;
    struct mq_queue_options options;
    struct mq_events events;
    struct mq_claim claim;
    struct mq_claim_request request; /* token A, limit 100, lease 900 */
    int64_t now_s;
    double chance;
    struct mq_error err;
};

/* An enqueue's arguments, the rest zero. recipients: separated by spaces, NULL for none. */
struct mail {
    const char *reference;
    const char *type; /* NULL: "mail" */
    const char *recipients;
    const char *body;
    int priority;
    int64_t send_at;
    int64_t expires_at;
    int max_attempts;
};

void fx_open(struct fixture *fx);                          /* in memory, defaults */
void fx_open_with(struct fixture *fx, const char *script); /* after running SQL, options as set */
void fx_init(struct fixture *fx);                          /* without opening */
void fx_close(struct fixture *fx);

struct mq_db *fx_memory(void);
int64_t fx_enqueue(struct fixture *fx, const struct mail *mail);
int64_t fx_mail(struct fixture *fx, const char *recipients); /* with a body */
void fx_set(struct fixture *fx, const char *key, const char *value);
/* Writes unchecked, as an application's own page would. */
void fx_set_raw(struct fixture *fx, const char *key, const char *value);
void fx_sql(struct fixture *fx, const char *sql);
int64_t fx_int(struct fixture *fx, const char *sql);
char *fx_text(struct fixture *fx, const char *sql); /* malloc'ed; NULL for NULL or no row */
void fx_assert_text(struct fixture *fx, const char *sql, const char *expected);

/* Claims into fx->claim; this cycle's events replace the earlier ones. */
size_t fx_claim(struct fixture *fx);
void fx_turn(struct fixture *fx, struct mq_settlement *outcomes, size_t count);
/* Settles the claimed job number i by one letter a recipient: a(ccepted), r(efused), l(ater),
 * u(ncertain), .(untried). Returns whether it was stale. */
bool fx_settle(struct fixture *fx, size_t i, const char *letters);
/* Settles with an outcome. */
bool fx_kind(struct fixture *fx, size_t i, enum mq_outcome whole, const char *error);
/* The names of the last cycle's events, with a space between: "claimed sent". */
const char *fx_events(struct fixture *fx);
double fx_tokens(struct fixture *fx);
struct mq_stats fx_stats(struct fixture *fx); /* `paused` is freed and NULL */

#endif
