/* Words for the messages of failed tests. */
#ifndef VERDICT_NAMES_H
#define VERDICT_NAMES_H

#include "policy/verdict.h"

const char *verdict_name(enum mq_outcome verdict);
const char *stage_name(enum mq_stage stage);

#endif
