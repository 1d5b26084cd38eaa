/* Words for the messages of failed tests, and replies as a relay sends them. */
#ifndef VERDICT_NAMES_H
#define VERDICT_NAMES_H

#include "policy/verdict.h"

const char *verdict_name(enum mq_outcome verdict);
const char *stage_name(enum mq_stage stage);
/* What a reply means, given as in struct sample. */
struct mq_verdict verdict_of_line(enum mq_stage stage, const char *line);

struct sample {
    enum mq_stage stage;
    const char *line; /* as the relay sends it; "": no reply came */
    enum mq_outcome verdict;
};
/* Fails at the first reply that means something else. */
void check_samples(const struct sample *samples, size_t count);
#define CHECK(samples) check_samples(samples, sizeof(samples) / sizeof *(samples))

#endif
