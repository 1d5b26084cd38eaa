/* What a program's exit code (sysexits.h) means for the mail. */
#include "send/sendmail/exit_code.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "core/ascii.h"
#include "send/sendmail/process.h"

/* sysexits.h defines the numbers, but programs use them differently:
 *
 * - Postfix, Exim and Sendmail have their own queue. Anything but 0 is trouble in that queue, a
 *   mail that it does not take, or a wrong option or permission. Postfix exits with 75 for a mail
 *   that is too big for ever and for a missing configuration, Exim with 1 for everything.
 * - msmtp and similar programs report on the relay behind them: 75 is a refused connection, 68 an
 *   unknown name of that relay (not a recipient's), 65 any 5xx to the sender or to one of the
 *   recipients, 69 the other refusals and a failed login, 74 and 76 a connection that broke.
 * - Scripts exit with 1, or 255, whatever happened.
 *
 * So hardly any code tells the mail's fault from the program's. DENIED is made for that
 * (policy/outcome.h): the attempt counts if another mail of the run gets through. If none does, the
 * relay is paused instead, so that a relay that is down costs no attempts. A mail that is itself
 * the cause does not stop the others.
 *
 * A failure is believed: the mail is sent again, although a relay may have taken it before the
 * connection broke (msmtp's 76). A program that was killed, or whose time was over, tells nothing:
 * its mail is uncertain. */
enum mq_outcome mq_sendmail_judge(int status)
{
    int code = status != -1 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code < 0 || (code > 128 && code <= 128 + 64)) { /* killed; a shell exits with 128 + n */
        return MQ_OUTCOME_UNCERTAIN;
    }
    switch (code) {
    case 0:
        return MQ_OUTCOME_DELIVERED;
    case 67:
        return MQ_OUTCOME_REFUSED;
    case 126: /* a shell script could not run a program, or did not find it */
    case 127:
        return MQ_OUTCOME_RELEASED;
    default:
        return MQ_OUTCOME_DENIED;
    }
}

static const char *meaning_of(int code)
{
    static const char *const meanings[] = {
        [64] = "wrong usage",
        [65] = "the message is wrong",
        [66] = "an input file is missing",
        [67] = "unknown user",
        [68] = "unknown host",
        [69] = "unavailable",
        [70] = "internal error",
        [71] = "system error",
        [72] = "a system file is missing",
        [73] = "cannot create a file",
        [74] = "input/output error",
        [75] = "try again later",
        [76] = "protocol error",
        [77] = "no permission",
        [78] = "wrong configuration",
        [126] = "a program cannot be run",
        [127] = "a program was not found",
    };
    return code < 128 ? meanings[code] : NULL;
}

static size_t describe_end(int status, char *out, size_t size)
{
    if (status == -1) {
        return (size_t)snprintf(out, size, "its exit code was lost");
    }
    if (WIFSIGNALED(status)) {
        return (size_t)snprintf(out, size, "killed by signal %d", WTERMSIG(status));
    }
    const char *meaning = meaning_of(WEXITSTATUS(status));
    return (size_t)(meaning ? snprintf(out, size, "exit %d (%s)", WEXITSTATUS(status), meaning)
                            : snprintf(out, size, "exit %d", WEXITSTATUS(status)));
}

/* Makes one line of several and drops blanks around it. */
static struct mq_str one_line(struct mq_str printed, char *text)
{
    size_t n = 0;
    printed = mq_str_trim(printed);
    for (size_t i = 0; i < printed.len; i++) {
        bool blank = mq_is_space(printed.data[i]);
        if (!blank || text[n - 1] != ' ') {
            text[n++] = blank ? ' ' : printed.data[i];
        }
    }
    return (struct mq_str){text, n};
}

void mq_sendmail_describe(int status, struct mq_str printed, char out[MQ_TARGET_REPLY_MAX])
{
    char text[MQ_PROCESS_TAIL_MAX];
    size_t used = describe_end(status, out, MQ_TARGET_REPLY_MAX);
    struct mq_str line = one_line(printed, text);
    if (line.len == 0) {
        return;
    }
    /* Of a long text, keep the end: the last words tell why it failed. */
    size_t room = MQ_TARGET_REPLY_MAX - 1 - used - strlen(": ...");
    bool cut = line.len > room;
    used = mq_str_printable(out, MQ_TARGET_REPLY_MAX, used, cut ? MQ_STR(": ...") : MQ_STR(": "));
    while (line.len > room || (line.len > 0 && cut && ((unsigned char)*line.data & 0xC0) == 0x80)) {
        line.data++; /* also drops the rest of a character that was cut */
        line.len--;
    }
    mq_str_printable(out, MQ_TARGET_REPLY_MAX, used, line);
}
