/* sendmail:// with programs that end in every possible way. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "program_bench.h"

#define MESSAGE "Subject: x\r\n\r\n.dot\r\nlone\rcr\r\n.\r\nend\r\n"

/* Writes its arguments, input and environment to files. */
#define KEEPS                                                                    \
    "for a; do printf '[%s]' \"$a\" >> $DIR/args; done; cat > $DIR/input.part\n" \
    "mv $DIR/input.part $DIR/input\n"                                            \
    "env | grep -E '^(MAILQUEUE_|PG|MYSQL)' | sort > $DIR/environment\n"

static void assert_file(const char *name, const char *expected)
{
    size_t len;
    char *text = program_file(name, &len);
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

/* ---- what the program gets ---- */

static void test_arguments_and_input(void **state)
{
    (void)state;
    struct fake_mail mail;
    program_write("sendmail", KEEPS);
    struct mq_transport *transport = program_open("sendmail%20-ti%20-f%20old@x%20-oem", "", 1);
    fake_mail_init(&mail, MESSAGE, 2);
    mail.transfer.prefix = MQ_STR("X-Original-To: b@z\r\n");
    program_send(transport, &mail);
    assert_string_equal(fake_results(&mail), "AA");
    assert_string_equal(mail.phases, "EBA");
    assert_string_equal(mail.seen, "AA");
    assert_int_equal(mail.transfer.end, MQ_TRANSFER_DONE);
    assert_true(mail.transfer.at_s > 0 && mail.transfer.ms >= 0);
    assert_string_equal(mail.targets[1].reply + strlen(mail.targets[1].reply) - 9, "/sendmail");
    assert_file("args", "[-i][-oem][-f][s@y][--][a@x][b@x]");
    assert_file("input", "X-Original-To: b@z\nSubject: x\n\n.dot\nlone\rcr\n.\nend\n");
    /* None of our secrets. */
    assert_file("environment", "MAILQUEUE_TRANSPORT_DEPTH=1\nPGPASSFILE=/a/file\n");
    mq_transport_quit(transport, 100);
    mq_transport_free(transport);
}

static void test_null_sender(void **state)
{
    (void)state;
    struct fake_mail mail;
    program_write("sendmail", KEEPS);
    struct mq_transport *transport = program_open("sendmail", "", 1);
    fake_mail_init(&mail, MESSAGE, 1);
    mail.transfer.from = "";
    program_send(transport, &mail);
    assert_file("args", "[-i][-f][<>][--][a@x]");
    mq_transport_free(transport);
}

/* Seen to fail when only what fits into the pipe was written, and without close-on-exec. */
static void test_large_message(void **state)
{
    (void)state;
    struct fake_mail mail;
    size_t len;
    char *message = program_message(5000000);
    program_write("sendmail", "sleep 0.1; cat > $DIR/input; ls /proc/self/fd > $DIR/fds");
    struct mq_transport *transport = program_open("sendmail", "", 1);
    int open_one = dup(STDERR_FILENO); /* not close-on-exec */
    fake_mail_init(&mail, message, 1);
    program_send(transport, &mail);
    close(open_one);
    assert_string_equal(fake_results(&mail), "A");
    char *input = program_file("input", &len);
    size_t at = 0;
    for (const char *p = message; *p != '\0'; p++) {
        if (*p != '\r') {
            assert_true(at < len && input[at] == *p);
            at++;
        }
    }
    assert_int_equal(at, len);
    assert_file("fds", "0\n1\n2\n3\n");               /* ls itself has opened the last one */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left to wait for */
    free(input);
    free(message);
    mq_transport_free(transport);
}

/* Ignored signals and our process group are not passed on: SIGPIPE ends the program, and Ctrl-C
 * does not reach it. */
static void test_session_and_signals(void **state)
{
    (void)state;
    struct fake_mail mail;
    size_t len;
    int pid, session, parent;
    unsigned long ignored;
    program_write("sendmail", "cat > /dev/null; cat /proc/$$/stat > $DIR/stat\n"
                              "sed -n 's/SigIgn:\\s*//p' /proc/$$/status > $DIR/ignored");
    struct mq_transport *transport = program_open("sendmail", "", 1);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    fake_mail_init(&mail, MESSAGE, 1);
    program_send(transport, &mail);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    char *stat = program_file("stat", &len);
    assert_int_equal(sscanf(stat, "%d (%*[^)]) %*c %d %*d %d", &pid, &parent, &session), 3);
    assert_int_equal(session, pid);
    assert_int_equal(parent, getpid());
    free(stat);
    char *text = program_file("ignored", &len);
    ignored = strtoul(text, NULL, 16);
    assert_int_equal(ignored & (1UL << (SIGPIPE - 1) | 1UL << (SIGXFSZ - 1)), 0);
    free(text);
    mq_transport_free(transport);
}

/* ---- how it ends ---- */

static void test_exit_codes(void **state)
{
    static const struct {
        const char *code, *result, *phases, *reply;
    } samples[] = {
        {"0", "A", "EBA", "accepted by"},
        {"64", "D", "EBR", "exit 64 (wrong usage): it said so"},
        {"65", "D", "EBR", "exit 65"},
        {"67", "R", "EBR", "exit 67 (unknown user)"},
        {"68", "D", "EBR", "exit 68"},
        {"69", "D", "EBR", "exit 69"},
        {"70", "D", "EBR", "exit 70"},
        {"71", "D", "EBR", "exit 71"},
        {"73", "D", "EBR", "exit 73"},
        {"74", "D", "EBR", "exit 74"},
        {"75", "D", "EBR", "exit 75 (try again later): it said so"},
        {"77", "D", "EBR", "exit 77"},
        {"78", "D", "EBR", "exit 78"},
        {"1", "D", "EBR", "exit 1: it said so"},
        {"255", "D", "EBR", "exit 255"},
        {"137", "?", "EB", "exit 137"},
    };
    struct fake_mail mail;
    (void)state;
    program_write("sendmail",
                  "cat > /dev/null; echo it; echo '  said so' >&2; exit $(cat $DIR/code)");
    struct mq_transport *transport = program_open("sendmail", "", 1);
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        FILE *file = fopen(program_path("code"), "w");
        fputs(samples[i].code, file);
        fclose(file);
        fake_mail_init(&mail, MESSAGE, 1);
        program_send(transport, &mail);
        if (strcmp(fake_results(&mail), samples[i].result) != 0 ||
            strcmp(mail.phases, samples[i].phases) != 0 ||
            strncmp(mail.targets[0].reply, samples[i].reply, strlen(samples[i].reply)) != 0) {
            fail_msg("%s: %s %s %s", samples[i].code, fake_results(&mail), mail.phases,
                     mail.targets[0].reply);
        }
        assert_int_equal(mail.transfer.end, MQ_TRANSFER_DONE);
        assert_string_equal(program_trouble(transport), "");
    }
    mq_transport_free(transport);
}

static void test_killed(void **state)
{
    (void)state;
    struct fake_mail mail;
    program_write("sendmail", "cat > /dev/null; kill -9 $$");
    struct mq_transport *transport = program_open("sendmail", "", 1);
    fake_mail_init(&mail, MESSAGE, 2);
    program_send(transport, &mail);
    assert_string_equal(fake_results(&mail), "??");
    assert_string_equal(mail.phases, "EB");
    assert_string_equal(mail.targets[0].reply, "killed by signal 9");
    mq_transport_free(transport);
}

static void test_time_over(void **state)
{
    (void)state;
    struct fake_mail mail;
    program_write("sendmail", "echo x > $DIR/begun; sleep 60");
    struct mq_transport *transport = program_open("sendmail", "final_timeout=0.2", 1);
    fake_mail_init(&mail, MESSAGE, 1);
    mq_transport_submit(transport, &mail.transfer);
    program_run(transport, 1, 20000);
    assert_string_equal(fake_results(&mail), "?");
    assert_string_equal(mail.targets[0].reply, "did not end within 0.2 s and was ended");
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    mq_transport_free(transport);
}

/* Whether the process exists and is not a zombie. */
static bool goes_on(int pid)
{
    char path[64], state = 'Z';
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1) {
            state = 'Z'; /* it ended in between */
        }
        fclose(file);
    }
    return state != 'Z';
}

/* A program that ignores SIGTERM is killed, with the processes that it started. */
static void test_time_over_and_stubborn(void **state)
{
    (void)state;
    struct fake_mail mail;
    struct mq_error err;
    size_t len;
    program_write("sendmail", "trap '' TERM; sleep 60 & echo $! > $DIR/child; wait; wait");
    struct mq_transport *transport = program_open("sendmail", "final_timeout=600", 1);
    fake_mail_init(&mail, MESSAGE, 1);
    mq_transport_submit(transport, &mail.transfer);
    transport->ops->step(transport, 1, &err);
    program_await("child");
    program_clock_ahead_ms += 601000;
    transport->ops->step(transport, 50, &err);
    assert_null(mq_transport_take_done(transport));
    program_clock_ahead_ms += 6000;
    program_run(transport, 1, 20000);
    assert_string_equal(fake_results(&mail), "?");
    char *child = program_file("child", &len);
    for (int i = 0; i < 3000 && goes_on(atoi(child)); i++) {
        usleep(10000);
    }
    assert_false(goes_on(atoi(child)));
    free(child);
    mq_transport_free(transport);
}

/* Its exit code counts, however much input it left unread. */
static void test_input_not_read(void **state)
{
    (void)state;
    struct fake_mail mail;
    char *message = program_message(3000000);
    program_write("taken", "exec 0<&-; exit 0");
    program_write("later", "head -c 100 > /dev/null; exit 75");
    struct mq_transport *transport = program_open("taken", "", 1);
    fake_mail_init(&mail, message, 1);
    program_send(transport, &mail);
    assert_string_equal(fake_results(&mail), "A");
    mq_transport_free(transport);
    transport = program_open("later", "", 1);
    fake_mail_init(&mail, message, 1);
    program_send(transport, &mail);
    assert_string_equal(fake_results(&mail), "D");
    mq_transport_free(transport);
    free(message);
}

static void test_much_output(void **state)
{
    (void)state;
    struct fake_mail mail;
    program_write("sendmail", "head -c 1000000 /dev/zero | tr '\\0' x >&2; cat > /dev/null\n"
                              "echo 'the last word\303\251' >&2; exit 75");
    struct mq_transport *transport = program_open("sendmail", "", 1);
    fake_mail_init(&mail, MESSAGE, 1);
    program_send(transport, &mail);
    assert_string_equal(fake_results(&mail), "D");
    assert_non_null(strstr(mail.targets[0].reply, "exit 75 (try again later): ...xxx"));
    assert_non_null(strstr(mail.targets[0].reply, "the last word\303\251"));
    mq_transport_free(transport);
}

/* MTAs deliver in the background: we do not wait until that process closes its descriptors. */
static void test_grandchild_holds_the_pipe(void **state)
{
    (void)state;
    struct fake_mail mail;
    size_t len;
    program_write("sendmail", "cat > /dev/null; sleep 60 & echo $! > $DIR/child; echo queued");
    struct mq_transport *transport = program_open("sendmail", "", 1);
    fake_mail_init(&mail, MESSAGE, 1);
    mq_transport_submit(transport, &mail.transfer);
    program_run(transport, 1, 20000);
    assert_string_equal(fake_results(&mail), "A");
    char *child = program_file("child", &len);
    assert_true(goes_on(atoi(child)));
    kill(atoi(child), SIGKILL);
    free(child);
    mq_transport_free(transport);
}

/* Without this every exit code would be lost. */
static void test_children_ignored(void **state)
{
    (void)state;
    struct fake_mail mail;
    struct sigaction now;
    program_write("sendmail", "cat > /dev/null; exit 67");
    signal(SIGCHLD, SIG_IGN);
    struct mq_transport *transport = program_open("sendmail", "", 1);
    fake_mail_init(&mail, MESSAGE, 1);
    program_send(transport, &mail);
    assert_string_equal(fake_results(&mail), "R");
    signal(SIGCHLD, SIG_IGN); /* as PHP code of the application may do between two mails */
    fake_mail_init(&mail, MESSAGE, 1);
    program_send(transport, &mail);
    assert_string_equal(fake_results(&mail), "R");
    mq_transport_free(transport);
    sigaction(SIGCHLD, NULL, &now);
    assert_true(now.sa_handler == SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
}

/* If other code waits for all children, it takes our exit codes, and the outcome is unknown. */
static void test_exit_code_lost(void **state)
{
    (void)state;
    struct fake_mail mail;
    struct mq_error err;
    program_write("sendmail", "cat > /dev/null");
    struct mq_transport *transport = program_open("sendmail", "", 1);
    fake_mail_init(&mail, MESSAGE, 1);
    mq_transport_submit(transport, &mail.transfer);
    transport->ops->step(transport, 0, &err);
    if (mq_transport_take_done(transport) == NULL) {
        assert_true(waitpid(-1, NULL, 0) > 0);
        program_run(transport, 1, 20000);
        assert_string_equal(fake_results(&mail), "?");
    }
    mq_transport_free(transport);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, program_setup, program_teardown)

int main(void)
{
    setenv("MAILQUEUE_TRANSPORT", "smtp://user:geheim@relay", 1);
    setenv("MAILQUEUE_DATABASE_PASSWORD", "geheim", 1);
    setenv("MAILQUEUE_CLIENT_SECRET", "geheim", 1);
    setenv("MAILQUEUE_PAGE_HASH", "geheim", 1);
    setenv("PGPASSWORD", "geheim", 1);
    setenv("MYSQL_PWD", "geheim", 1);
    setenv("PGPASSFILE", "/a/file", 1);
    const struct CMUnitTest tests[] = {
        TEST(test_arguments_and_input),
        TEST(test_null_sender),
        TEST(test_large_message),
        TEST(test_session_and_signals),
        TEST(test_exit_codes),
        TEST(test_killed),
        TEST(test_time_over),
        TEST(test_time_over_and_stubborn),
        TEST(test_input_not_read),
        TEST(test_much_output),
        TEST(test_grandchild_holds_the_pipe),
        TEST(test_children_ignored),
        TEST(test_exit_code_lost),
    };
    return cmocka_run_group_tests_name("sendmail", tests, NULL, NULL);
}
