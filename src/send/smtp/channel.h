/* The byte stream that a session speaks over: a libcurl connection, or a test's script. */
#ifndef MQ_SEND_SMTP_CHANNEL_H
#define MQ_SEND_SMTP_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>

enum mq_io {
    MQ_IO_OK,    /* *n bytes went through, at least one */
    MQ_IO_AGAIN, /* none now; wait for the socket */
    MQ_IO_EOF,   /* the peer has closed; recv only */
    MQ_IO_ERROR
};

struct mq_channel;

struct mq_channel_ops {
    /* After MQ_IO_AGAIN the next call must pass the same bytes at the same address, and no fewer:
     * TLS may have taken them into a record already. */
    enum mq_io (*send)(struct mq_channel *channel, const void *data, size_t len, size_t *n);
    enum mq_io (*recv)(struct mq_channel *channel, void *data, size_t len, size_t *n);
    void (*close)(struct mq_channel *channel); /* frees the channel */
};

/* First member of every channel's own structure. */
struct mq_channel {
    const struct mq_channel_ops *ops;
    bool opaque; /* bytes may have left although send returned MQ_IO_AGAIN (TLS) */
};

/* What the relay offers, as its last EHLO said. */
struct mq_smtp_caps {
    bool pipelining; /* RFC 2920 */
    bool eightbit;   /* 8BITMIME, RFC 6152 */
    bool smtputf8;   /* RFC 6531 */
    bool dsn;        /* RFC 3461 */
    bool size;       /* RFC 1870 */
    size_t size_max; /* 0: no limit named */
};

#endif
