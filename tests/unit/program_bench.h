/* A directory for one test, programs in it that stand for sendmail, and mails for them. */
#ifndef MQ_TESTS_PROGRAM_BENCH_H
#define MQ_TESTS_PROGRAM_BENCH_H

#include "send/factory.h"
#include "smtp_fake.h"

extern char program_directory[64];     /* of the current test */
extern int64_t program_clock_ahead_ms; /* added to boot time */

/* cmocka's setup and teardown. */
int program_setup(void **state);
int program_teardown(void **state);

/* A path in the directory; four of them stay valid. */
const char *program_path(const char *name);
/* Writes a shell script. $DIR is the directory; arguments and input are the program's. */
void program_write(const char *name, const char *script);
/* The contents that a script wrote to a file, NUL-terminated, malloc'ed; NULL: no such file. */
char *program_file(const char *name, size_t *len);
/* Waits until the file exists and is not empty. */
void program_await(const char *name);
int64_t program_now_ms(void);

/* sendmail://default?command=<directory>/<command>&<options>. */
struct mq_transport *program_open(const char *command, const char *options, int processes);
/* Submits a mail and steps until it comes back. */
void program_send(struct mq_transport *transport, struct fake_mail *mail);
/* Steps until this many more mails are back; asserts that they are in time. */
void program_run(struct mq_transport *transport, size_t count, int64_t within_ms);
/* The trouble's reason, "" none. */
const char *program_trouble(struct mq_transport *transport);
/* A message of about this many bytes, wire form, malloc'ed. */
char *program_message(size_t size);

#endif
