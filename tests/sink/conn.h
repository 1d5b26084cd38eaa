/* A connection: its bytes, its state, its transaction. */
#ifndef MQ_SINK_CONN_H
#define MQ_SINK_CONN_H

#include "script.h"
#include "sink.h"

enum {
    INPUT_SIZE = 32768,
    COMMAND_MAX = 4096, /* generous: RFC 5321 4.5.3.1.4 asks for 512 and extensions add to it */
    REPLY_MAX = 1024,
    HEADER_MAX = 65536, /* the part in which X-Test-Id is looked for */
};

/* How incoming bytes are interpreted. */
enum phase {
    PHASE_HANDSHAKE,
    PHASE_COMMAND,
    PHASE_AUTH, /* a line of a SASL exchange */
    PHASE_DATA,
};

enum mode {
    MODE_ACTIVE,
    MODE_STALLED,  /* reads and drops, without a reply */
    MODE_STOPPED,  /* does not read */
    MODE_DRAINING, /* FIN is sent: reads and drops until the client closes */
    MODE_CLOSED,   /* freed at the end of this turn of the loop */
};
enum timer_kind { TIMER_REPLY, TIMER_SPLIT, TIMER_THEN, TIMER_IDLE, TIMER_DRAIN };

/* The state of the message's parser, named after the last thing read. */
enum body_state { BODY_LINE_START, BODY_TEXT, BODY_CR, BODY_DOT, BODY_DOT_CR };

enum auth_step { AUTH_PLAIN, AUTH_LOGIN_USER, AUTH_LOGIN_PASSWORD, AUTH_XOAUTH2 };

struct transaction {
    bool open, eight_bit, utf8;
    char from[512];
    struct buffer recipients; /* each ended by a NUL */
    size_t count;
};

struct message {
    enum body_state state;
    uint64_t hash;    /* FNV-1a, 64 bit */
    int64_t size;     /* after unstuffing */
    int64_t received; /* as on the wire */
    size_t line_length;
    unsigned char bits; /* all bytes together */
    bool header_done, long_line;
    struct buffer text; /* the header, or all of it with --save */
    char testid[256];
};

struct conn {
    struct timer timer; /* first: the heap hands out pointers to it */
    enum timer_kind timer_kind;
    struct sink *sink;
    struct conn *next;          /* closed or spare */
    struct conn *newer, *older; /* open */
    uint64_t number;
    int fd;
    uint32_t registered; /* epoll events asked for */
    void *ssl;
    bool tls_wants_write;

    enum phase phase;
    enum mode mode;
    bool held;     /* no further command before the reply is out */
    bool can_read; /* the socket may have more */
    bool helo, authenticated, skip_line, quit;
    bool refused;            /* the greeting was not 220 */
    bool start_tls;          /* once the output is out */
    bool reply_pending;      /* waits for its delay */
    bool accept_pending;     /* to be logged with the reply (--decide-late) */
    unsigned capabilities;   /* as the last EHLO offered them */
    const struct rule *rule; /* whose reply is pending or going out */
    enum action after;       /* once the output is out */
    bool has_after;

    char in[INPUT_SIZE];
    size_t in_start, in_end;
    struct buffer out;
    size_t out_sent;
    size_t reply_length;
    char reply[REPLY_MAX];

    enum auth_step auth_step;
    char auth_user[1024]; /* as long as a decoded line can be */
    struct transaction mail;
    struct message message;
    int64_t mails; /* accepted on this connection */
    int64_t idle_since_ns;
    int64_t stage_count[STAGES];
};

/* conn.c */
void conn_accept(struct sink *sink);
void conn_on_event(struct conn *c, uint32_t events);
void conn_on_timer(struct conn *c);
void conn_close(struct conn *c);
/* There is a new script: idle connections wait by its rules from now on. */
void conn_rearm_idle(void);
/* Frees what conn_close() left: no event of this turn points to it any more. */
void conn_reap(void);
void conn_arm(struct conn *c, enum timer_kind kind, int64_t delay_ms);
void conn_act(struct conn *c, enum action action);
/* The client has closed, and all its input is read. */
bool conn_peer_gone(const struct conn *c);

/* reply.c: asks the script, then answers. The default reply's line ends are included.
 * Returns the reply's code, on which the caller's own state depends; 0: none was sent. */
int reply_play(struct conn *c, enum stage stage, const char *argument, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Does not ask the script. */
void reply_plain(struct conn *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The delayed reply is due. */
void reply_deliver(struct conn *c);
/* A rule at a stage at which the sink has no reply of its own (accept, body, idle). False: no rule
 * fired. */
bool reply_fault(struct conn *c, const struct event *event);
/* Removes the capabilities that the script hides from c->capabilities, then offers the rest. */
int reply_ehlo(struct conn *c, const char *argument);

/* smtp.c */
void smtp_greet(struct conn *c);
void smtp_line(struct conn *c, char *line, size_t length);
void smtp_dot(struct conn *c);
/* Logs and counts the message; the transaction ends. */
void smtp_accept(struct conn *c);
void smtp_end_transaction(struct conn *c);
/* After STARTTLS, everything said before is forgotten: RFC 3207 4.2 */
void smtp_forget(struct conn *c);

/* auth.c */
void auth_begin(struct conn *c, char *argument);
void auth_line(struct conn *c, char *line);

/* message.c */
void message_begin(struct conn *c);
/* Takes the bytes that belong to the message; returns their number, *done after the final dot. */
size_t message_feed(struct conn *c, const char *data, size_t length, bool *done);
/* Finds X-Test-Id. */
void message_end(struct conn *c);

/* address.c: FROM:<…> or TO:<…>. Returns the parameters after it, or NULL on a syntax error. */
char *path_parse(char *argument, const char *keyword, char *address, size_t size);

#endif
