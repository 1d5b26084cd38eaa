/* What a program's exit code (sysexits.h) means for the mail. */
#include "send/sendmail/exit_code.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* sysexits.h has the numbers, programs differ in what they mean by them:
 *
 * - Postfix, Exim and Sendmail have a queue of their own. Anything but 0 is trouble in it, a mail
 *   that it does not take, or an option or right that is not as it must be; Postfix says 75 to a
 *   mail that is too big for ever and to a configuration that is missing, Exim 1 to everything.
 * - msmtp and its like stand for the relay behind them: 75 is a refused connection, 68 that relay's
 *   unknown name (not a recipient's), 65 any 5xx to the sender or to one of the recipients, 69 the
 *   other refusals and a failed login, 74 and 76 a connection that broke.
 * - Scripts exit with 1, or 255, whatever happened.
 *
 * So hardly any code tells the mail's fault from the program's. DENIED is made for that
 * (send/transport.h): the attempt counts if another mail of the run gets through; if none does, it
 * is the relay that pauses, and no mail loses its attempts to a relay that is down. A mail that is
 * the cause itself stops nobody else.
 *
 * A program that fails is believed: its mail is sent again, though a relay may have taken it when
 * the connection broke (msmtp's 76). One that was killed, or whose time was over, says nothing: its
 * mail is uncertain. */
static const struct row {
    int code;
    enum mq_outcome result;
    bool trouble;
    const char *meaning;
} rows[] = {
    {0, MQ_OUTCOME_DELIVERED, false, "accepted"},
    {64, MQ_OUTCOME_DENIED, false, "wrong usage"},
    {65, MQ_OUTCOME_DENIED, false, "the message is wrong"},
    {66, MQ_OUTCOME_DENIED, false, "an input file is missing"},
    {67, MQ_OUTCOME_REFUSED, false, "unknown user"},
    {68, MQ_OUTCOME_DENIED, false, "unknown host"},
    {69, MQ_OUTCOME_DENIED, false, "unavailable"},
    {70, MQ_OUTCOME_DENIED, false, "internal error"},
    {71, MQ_OUTCOME_DENIED, false, "system error"},
    {72, MQ_OUTCOME_DENIED, false, "a system file is missing"},
    {73, MQ_OUTCOME_DENIED, false, "cannot create a file"},
    {74, MQ_OUTCOME_DENIED, false, "input/output error"},
    {75, MQ_OUTCOME_DENIED, false, "try again later"},
    {76, MQ_OUTCOME_DENIED, false, "protocol error"},
    {77, MQ_OUTCOME_DENIED, false, "no permission"},
    {78, MQ_OUTCOME_DENIED, false, "wrong configuration"},
    /* A shell script's own: what it wanted to run cannot be run or is not there. */
    {126, MQ_OUTCOME_RELEASED, true, "a program cannot be run"},
    {127, MQ_OUTCOME_RELEASED, true, "a program was not found"},
};

static const struct row *row_of(int status)
{
    for (size_t i = 0; WIFEXITED(status) && i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].code == WEXITSTATUS(status)) {
            return &rows[i];
        }
    }
    return NULL;
}

struct mq_sendmail_verdict mq_sendmail_judge(int status)
{
    if (status == -1 || !WIFEXITED(status)) {
        return (struct mq_sendmail_verdict){MQ_OUTCOME_UNCERTAIN, false};
    }
    if (WEXITSTATUS(status) > 128 && WEXITSTATUS(status) <= 128 + 64) {
        return (struct mq_sendmail_verdict){MQ_OUTCOME_UNCERTAIN, false}; /* a shell says so */
    }
    const struct row *row = row_of(status);
    return row ? (struct mq_sendmail_verdict){row->result, row->trouble}
               : (struct mq_sendmail_verdict){MQ_OUTCOME_DENIED, false};
}

static size_t describe_end(int status, char *out, size_t size)
{
    const struct row *row = status == -1 ? NULL : row_of(status);
    int n;
    if (status == -1) {
        n = snprintf(out, size, "its exit code was lost");
    } else if (WIFSIGNALED(status)) {
        n = snprintf(out, size, "killed by signal %d", WTERMSIG(status));
    } else if (row != NULL) {
        n = snprintf(out, size, "exit %d (%s)", row->code, row->meaning);
    } else {
        n = snprintf(out, size, "exit %d", WEXITSTATUS(status));
    }
    return (size_t)n;
}

/* Lines become one, blank ends go. */
static size_t one_line(char *text, struct mq_str printed)
{
    size_t n = 0;
    for (size_t i = 0; i < printed.len; i++) {
        bool blank = strchr(" \t\r\n", printed.data[i]) != NULL;
        if (!blank) {
            text[n++] = printed.data[i];
        } else if (n > 0 && text[n - 1] != ' ') {
            text[n++] = ' ';
        }
    }
    return n > 0 && text[n - 1] == ' ' ? n - 1 : n;
}

void mq_sendmail_describe(int status, struct mq_str printed, char out[MQ_TARGET_REPLY_MAX])
{
    char text[1024];
    size_t used = describe_end(status, out, MQ_TARGET_REPLY_MAX);
    if (printed.len > sizeof text) {
        printed.data += printed.len - sizeof text;
        printed.len = sizeof text;
    }
    struct mq_str line = {text, one_line(text, printed)};
    if (line.len == 0) {
        return;
    }
    /* The last words are what it gave up on. */
    size_t room = MQ_TARGET_REPLY_MAX - 1 - used - strlen(": ...");
    bool cut = line.len > room;
    used = mq_str_printable(out, MQ_TARGET_REPLY_MAX, used, cut ? MQ_STR(": ...") : MQ_STR(": "));
    if (cut) {
        line.data += line.len - room;
        line.len = room;
        while (line.len > 0 && ((unsigned char)*line.data & 0xC0) == 0x80) {
            line.data++; /* not from the middle of a character */
            line.len--;
        }
    }
    mq_str_printable(out, MQ_TARGET_REPLY_MAX, used, line);
}
