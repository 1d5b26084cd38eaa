/* mailHours with the offsets of its time zones, kept by an open queue. Offsets come from outside
 * (PHP) and never within a transaction, so a claim that finds other rules than those kept asks for
 * them. */
#ifndef MQ_QUEUE_CONFIG_KEPT_HOURS_H
#define MQ_QUEUE_CONFIG_KEPT_HOURS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

struct mq_buffer;
struct mq_hours_kept;
struct mq_queue;
struct mq_settings;

/* Checks that the zones of readable rules exist. MQ_INVALID names the one that does not. */
enum mq_status mq_hours_check(struct mq_queue *queue, const char *text, struct mq_error *err);
/* Keeps the rules of these settings and loads their zones, unless both are kept and fresh. Not
 * within a transaction. MQ_CONFIG if a zone is not known. */
enum mq_status mq_hours_load(struct mq_queue *queue, const struct mq_settings *settings,
                             int64_t now_s, struct mq_error *err);
/* Before a transaction: loads what mq_hours_ready() missed in an earlier one. Keeps an error for
 * the next mq_hours_ready(), unless PHP unwinds (MQ_THROWN, MQ_BAILOUT). */
enum mq_status mq_hours_prepare(struct mq_queue *queue, struct mq_error *err);
/* Within a transaction: whether the rules of these settings are kept. If not, end the transaction
 * and begin again with mq_hours_prepare(). */
enum mq_status mq_hours_ready(struct mq_queue *queue, const struct mq_settings *settings,
                              int64_t now_s, bool *ready, struct mq_error *err);
void mq_hours_free(struct mq_hours_kept *kept);

/* These two are for rules that are kept. When mail of this type can go, from at_s on: at_s itself
 * if that is within its hours. */
int64_t mq_hours_opening(const struct mq_queue *queue, const struct mq_settings *settings,
                         const char *type, int64_t at_s);
/* Rule i, from 0 on: its types as people read them, and when it is open from at_s on. False after
 * the last rule. */
bool mq_hours_rule(const struct mq_queue *queue, size_t i, int64_t at_s, struct mq_buffer *types,
                   int64_t *open_s);

#endif
