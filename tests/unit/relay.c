/* The relay's processes, and their counts in shared memory. */
#include "relay.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define ADD(field, n) __atomic_add_fetch(&talk->counts->field, n, __ATOMIC_SEQ_CST)

void relay_say(struct relay_talk *talk, const char *reply)
{
    fprintf(talk->out, "%s\r\n", reply);
}

/* Replies are sent before the relay waits for the next line, and together if more lines are
 * there. */
bool relay_hear(struct relay_talk *talk)
{
    fflush(talk->out);
    if (fgets(talk->line, sizeof talk->line, talk->in) == NULL) {
        return false;
    }
    talk->line[strcspn(talk->line, "\r\n")] = '\0';
    return true;
}

bool relay_heard(const struct relay_talk *talk, const char *command)
{
    return strncmp(talk->line, command, strlen(command)) == 0;
}

static bool hear_message(struct relay_talk *talk)
{
    while (relay_hear(talk)) {
        if (strcmp(talk->line, ".") == 0) {
            return true;
        }
    }
    return false;
}

static const char *or_else(const char *reply, const char *usual)
{
    return reply != NULL ? reply : usual;
}

static void answer_mail(struct relay_talk *talk, int mails)
{
    if (talk->mails_max > 0 && mails >= talk->mails_max) {
        relay_say(talk, "421 4.7.0 enough for one connection");
        fflush(talk->out);
        _exit(0);
    }
    bool parameters = strchr(talk->line, ' ') != strrchr(talk->line, ' ');
    if (!parameters) {
        ADD(commands_plain, 1);
    }
    relay_say(talk, parameters && talk->mail_parameters
                        ? talk->mail_parameters
                        : or_else(talk->mail, "250 2.1.0 sender ok"));
}

static bool answer_data(struct relay_talk *talk, int recipients)
{
    relay_say(talk, or_else(talk->data, "354 go on"));
    if (talk->data != NULL) {
        return true;
    }
    if (!hear_message(talk)) {
        return false;
    }
    if (talk->dot == NULL) {
        ADD(mails, 1);
        ADD(recipients, recipients);
    }
    ADD(at_dot, 1);
    usleep((useconds_t)talk->dot_delay_ms * 1000);
    while (talk->holds_dot && !__atomic_load_n(&talk->counts->go, __ATOMIC_SEQ_CST)) {
        usleep(1000);
    }
    relay_say(talk, or_else(talk->dot, "250 2.0.0 queued"));
    return true;
}

void relay_serve(struct relay_talk *talk)
{
    int mails = 0, recipients = 0;
    relay_say(talk, "220 relay.test ESMTP");
    while (relay_hear(talk)) {
        if (relay_heard(talk, "EHLO")) {
            relay_say(talk,
                      or_else(talk->ehlo, "250-relay.test\r\n250-PIPELINING\r\n250 SIZE 100000"));
            fflush(talk->out);
            ADD(hellos, 1);
        } else if (relay_heard(talk, "AUTH PLAIN")) {
            relay_say(talk, "334 ");
            ADD(logins, relay_hear(talk) ? 1 : 0);
            relay_say(talk, "235 2.7.0 welcome");
        } else if (relay_heard(talk, "MAIL")) {
            recipients = 0;
            answer_mail(talk, mails);
        } else if (relay_heard(talk, "RCPT")) {
            recipients++;
            relay_say(talk, or_else(talk->rcpt, "250 2.1.5 recipient ok"));
        } else if (relay_heard(talk, "DATA")) {
            mails++;
            if (!answer_data(talk, recipients)) {
                return;
            }
        } else if (relay_heard(talk, "QUIT")) {
            ADD(quits, 1);
            relay_say(talk, "221 bye");
            fflush(talk->out);
            return;
        } else {
            relay_say(talk, "250 ok");
        }
    }
}

static void serve_connection(int fd, int number, struct relay_counts *counts, relay_function serve)
{
    struct relay_talk talk = {.number = number, .counts = counts};
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    talk.in = fdopen(fd, "r");
    talk.out = fdopen(dup(fd), "w");
    talk.open = __atomic_add_fetch(&counts->open, 1, __ATOMIC_SEQ_CST);
    int most = __atomic_load_n(&counts->most_open, __ATOMIC_SEQ_CST);
    while (talk.open > most &&
           !__atomic_compare_exchange_n(&counts->most_open, &most, talk.open, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
        continue;
    }
    serve(&talk);
    fflush(talk.out);
    __atomic_sub_fetch(&counts->open, 1, __ATOMIC_SEQ_CST);
    _exit(0);
}

static void accept_all(int listener, struct relay_counts *counts, relay_function serve)
{
    signal(SIGCHLD, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGALRM, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        if (fd < 0) {
            _exit(1);
        }
        int number = ++counts->connections;
        if (fork() == 0) {
            close(listener);
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            serve_connection(fd, number, counts, serve);
        }
        close(fd);
    }
}

void relay_start(struct relay *relay, relay_function serve)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 128), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
    relay->port = ntohs(address.sin_port);
    relay->counts = mmap(NULL, sizeof *relay->counts, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(relay->counts != MAP_FAILED);
    relay->pid = fork();
    assert_true(relay->pid >= 0);
    if (relay->pid == 0) {
        accept_all(listener, relay->counts, serve);
    }
    close(listener);
}

void relay_stop(struct relay *relay)
{
    kill(relay->pid, SIGKILL);
    waitpid(relay->pid, NULL, 0);
    munmap(relay->counts, sizeof *relay->counts);
}
