/* A small relay on loopback for tests of the transport: a process of its own, one more for each
 * connection, served by a function of the test. */
#ifndef MQ_TESTS_RELAY_H
#define MQ_TESTS_RELAY_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* Shared by all of its processes and the test. */
struct relay_counts {
    int connections, open, most_open;
    int mails, recipients, quits, commands_plain, hellos; /* hellos: EHLOs answered */
    int logins;
    int at_dot; /* messages received completely */
    int go;     /* set by the test: connections that hold their reply answer */
};

struct relay {
    int port;
    pid_t pid;
    struct relay_counts *counts;
};

/* One connection, as a serving function sees it. */
struct relay_talk {
    FILE *in, *out;
    int number; /* of the connection, from 1 */
    int open;   /* connections open when it came, including it */
    struct relay_counts *counts;
    char line[1024]; /* the last one read, without its end */
    /* Configures relay_serve(); to be set before it is called. */
    const char *ehlo;                     /* the reply's lines */
    const char *mail, *rcpt, *data, *dot; /* replies; NULL: as usual */
    const char *mail_parameters;          /* the reply to a MAIL that has any */
    int mails_max;                        /* then 421 to MAIL; 0: no limit */
    int dot_delay_ms;
    bool holds_dot; /* waits for counts->go before it answers */
};

typedef void (*relay_function)(struct relay_talk *talk);

void relay_start(struct relay *relay, relay_function serve);
void relay_stop(struct relay *relay);
/* For serving functions. */
void relay_say(struct relay_talk *talk, const char *reply); /* CRLF is added */
bool relay_hear(struct relay_talk *talk);                   /* the next line; false at the end */
bool relay_heard(const struct relay_talk *talk, const char *command);
void relay_serve(struct relay_talk *talk); /* greeting to QUIT */

#endif
