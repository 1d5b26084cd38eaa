/* Two queues in memory, of which one is moved into the other. */
#ifndef TESTS_COPY_FIXTURE_H
#define TESTS_COPY_FIXTURE_H

#include "queue/copy.h"
#include "queue_fixture.h"

struct pair {
    struct fixture from;
    struct fixture to;
    struct mq_copy_options options;
    struct mq_copy_report report;
    int told;                      /* calls of progress() */
    int stop;                      /* at which of them it fails; 0: never */
    void (*at)(struct pair *pair); /* what it does else */
};

void pair_open(struct pair *pair);
void pair_close(struct pair *pair);
enum mq_status pair_move(struct pair *pair);
void pair_move_ok(struct pair *pair);
void pair_refused(struct pair *pair, enum mq_status status, const char *text);
/* Compares all columns, bodies and the ledger. */
void pair_same(struct pair *pair);
/* 699 mails: each status, all columns, bodies with any octets, none and empty; and settings. */
void pair_fill(struct fixture *fx);

#endif
