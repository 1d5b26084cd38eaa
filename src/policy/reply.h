/* SMTP replies (RFC 5321, section 4.2) read from a stream of bytes of any cut. */
#ifndef MQ_POLICY_REPLY_H
#define MQ_POLICY_REPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buffer.h"
#include "core/error.h"

#define MQ_REPLY_TEXT_MAX 512

struct mq_reply {
    int code;        /* 200 … 599; 0: none came */
    int enhanced[3]; /* RFC 3463 class.subject.detail; all 0 when absent */
    size_t lines;
    char text[MQ_REPLY_TEXT_MAX]; /* all lines' texts joined by " ", printable UTF-8, cut on a
                                     character; without the codes */
};

/* Reads one reply after another. Memory is bounded: a line over MQ_REPLY_LINE_MAX bytes or a reply
 * over MQ_REPLY_LINES_MAX lines is an error. */
#define MQ_REPLY_LINE_MAX  4096
#define MQ_REPLY_LINES_MAX 256

struct mq_reply_reader { /* {0} before the first */
    char line[MQ_REPLY_LINE_MAX];
    size_t line_len;
    struct mq_reply reply; /* being built */
};

/* Takes what it reads off *data. *complete: `out` holds a whole reply and *data is what follows it;
 * otherwise all of *data was taken. MQ_TRANSPORT on bytes that are no reply (no code, other codes
 * within one reply, NUL, overlong); the reader is then of no use any more. A bare LF ends a line
 * too: servers in the field do so. A code without a text ("250" CRLF) is a reply: receivers must
 * take it (RFC 5321, 4.2). */
enum mq_status mq_reply_read(struct mq_reply_reader *reader, struct mq_str *data, bool *complete,
                             struct mq_reply *out, struct mq_error *err);

/* The text in the relay's own words: addresses, and names in quotes, are overwritten with "*". A
 * relay repeats what it refuses, so a recipient must not be able to put words into its mouth. */
void mq_reply_own_words(const struct mq_reply *reply, char out[MQ_REPLY_TEXT_MAX]);
/* Whether such words contain the lower-case phrase, whatever their case, not begun within the name
 * of a host: these too are the recipient's. */
bool mq_reply_says(const char *words, const char *phrase);

/* Seconds to wait that the text names ("try again in 300 seconds", "retry after 5 minutes"),
 * 0 when none; at most a day. */
int mq_reply_retry_after_s(const struct mq_reply *reply);
/* "550 5.1.1 text" into out, cut at size on a character. */
void mq_reply_format(const struct mq_reply *reply, char *out, size_t size);

#endif
