/* Shared by the files that read a transport's DSN and the command in it. */
#ifndef MQ_SEND_DSN_TEXT_H
#define MQ_SEND_DSN_TEXT_H

#include "send/dsn.h"

/* The characters of host names. */
#define MQ_DSN_NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

/* Fills err with "transport: <what>" and returns MQ_CONFIG. `what` never repeats a part of the DSN:
 * if the password has an unencoded '@', ':', '/' or '?', a piece of it can be anywhere. */
enum mq_status mq_dsn_bad(struct mq_error *err, const char *what);
/* Overwrites a secret and frees it. */
void mq_dsn_wipe(char *secret);
/* Percent-decodes into malloc'ed *out. "+" stays: it is a space only in HTML forms. */
enum mq_status mq_dsn_decode(struct mq_str text, char **out, struct mq_error *err);
/* Appends s percent-encoded, without the unreserved characters of RFC 3986 and those of `plain`. */
void mq_dsn_encode(struct mq_buffer *out, struct mq_str s, const char *plain);
/* Moves what is before the first c from *text to *head and drops the c; false: there is none. */
bool mq_dsn_cut(struct mq_str *text, char c, struct mq_str *head);
/* Whether a host is this one: localhost, 127.0.0.0/8 or ::1, also in brackets. */
bool mq_host_is_loopback(const char *host);
/* Reads a number from 1 to max, only decimal digits; returns 0 for anything else. */
int64_t mq_dsn_count(struct mq_str text, int64_t max);

/* Reads "name=value&name=value" into dsn. */
enum mq_status mq_dsn_parse_options(struct mq_str text, struct mq_dsn *dsn, struct mq_error *err);

#endif
