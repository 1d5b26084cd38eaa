/* Reads SMTP replies (RFC 5321, section 4.2) from a stream of bytes that may be cut anywhere. */
#ifndef MQ_POLICY_REPLY_H
#define MQ_POLICY_REPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buffer.h"
#include "core/error.h"

#define MQ_REPLY_TEXT_MAX 512

struct mq_reply {
    int code;        /* 200 … 599; 0: no reply came */
    int enhanced[3]; /* RFC 3463 class.subject.detail; all 0 when absent */
    size_t lines;
    char text[MQ_REPLY_TEXT_MAX]; /* the lines' texts without their codes, joined by " "; printable
                                     UTF-8, never cut inside a character */
};

/* Reads one reply after another. Memory is bounded: a line over MQ_REPLY_LINE_MAX bytes or a reply
 * over MQ_REPLY_LINES_MAX lines is an error. */
#define MQ_REPLY_LINE_MAX  4096
#define MQ_REPLY_LINES_MAX 256

struct mq_reply_reader { /* {0} before the first reply */
    char line[MQ_REPLY_LINE_MAX];
    size_t line_len;
    struct mq_reply reply; /* being built */
};

/* Reads from the front of *data and advances it. If *complete is set, `out` has a whole reply and
 * *data is what follows; otherwise all of *data was read. MQ_TRANSPORT if the bytes are not a reply
 * (no code, different codes in one reply, NUL, too long); the reader cannot be used after that. A
 * bare LF ends a line too, because some servers send it. A code without a text ("250" CRLF) is a
 * reply: receivers must accept it (RFC 5321, 4.2). */
enum mq_status mq_reply_read(struct mq_reply_reader *reader, struct mq_str *data, bool *complete,
                             struct mq_reply *out, struct mq_error *err);

/* Copies the reply's text and overwrites addresses and quoted names with "*". A relay repeats what
 * it refuses, and words that a recipient chose must not count as the relay's own. */
void mq_reply_own_words(const struct mq_reply *reply, char out[MQ_REPLY_TEXT_MAX]);
/* Searches `words`, made by mq_reply_own_words(), for the lower-case phrase, ignoring case. A match
 * that begins inside a host name does not count: the recipient may have chosen that name. */
bool mq_reply_says(const char *words, const char *phrase);

/* The waiting time that the text names ("try again in 300 seconds", "retry after 5 minutes"), in
 * seconds, at most a day; 0 if it names none. */
int mq_reply_retry_after_s(const struct mq_reply *reply);
/* Writes "550 5.1.1 text" into out, cut to size but not inside a character. */
void mq_reply_format(const struct mq_reply *reply, char *out, size_t size);
/* Writes "*" for the local part of each address, where `forget` does not look for addresses. */
void mq_reply_hide_addresses(char *reply);

#endif
