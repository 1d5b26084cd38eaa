/* The command of sendmail://: which options are kept, dropped or refused. */
#include <setjmp.h>
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
#include "send/sendmail/command.h"
#include "send/sendmail/exit_code.h"

static struct mq_error err;

static enum mq_status read_command(const char *command, struct mq_strings *words)
{
    enum mq_status status = mq_dsn_split_command(mq_str_of(command), words, &err);
    return status == MQ_OK ? mq_sendmail_command_parse(words, &err) : status;
}

/* Returns the words in brackets, or the error's text. */
static const char *parsed(const char *command)
{
    static char out[1024];
    struct mq_strings words;
    size_t n = 0;
    words = (struct mq_strings){0};
    out[0] = '\0';
    if (read_command(command, &words) != MQ_OK) {
        mq_strings_clear(&words);
        assert_int_equal(err.status, MQ_CONFIG);
        assert_string_equal(err.field, "transport");
        assert_null(strstr(err.text, "SECRET"));
        return err.text;
    }
    for (size_t i = 0; i < words.count; i++) {
        n += (size_t)snprintf(out + n, sizeof out - n, "[%s]", words.items[i]);
    }
    mq_strings_clear(&words);
    return out;
}

static void test_words(void **state)
{
    static const struct {
        const char *command, *expected;
    } samples[] = {
        {"/usr/sbin/sendmail", "[/usr/sbin/sendmail][-i]"},
        {" /usr/sbin/sendmail  -t\t-i ", "[/usr/sbin/sendmail][-i]"},
        {"/s -ti", "[/s][-i]"},
        {"/s -it", "[/s][-i]"},
        {"/s -tv", "[/s][-v][-i]"},
        {"/s -t -oi", "[/s][-oi]"},
        {"/s -t -oi -i", "[/s][-oi][-i]"},
        {"/s -bm -oem --", "[/s][-bm][-oem][-i]"},
        /* sender and recipients come from the queue, not from the command */
        {"/s -f a@b -t", "[/s][-i]"},
        {"/s -fa@b -r c@d -re@f -X", "[/s][-X][-i]"},
        {"/s -f '' -i", "[/s][-i]"},
        {"/s -f '<>' -i", "[/s][-i]"},
        {"/s -f www-data -i", "[/s][-i]"},
        {"/s --from=a@b --from c@d --read-recipients --read-envelope-from -C /x",
         "[/s][-C][/x][-i]"},
        {"/s -nt -tGt", "[/s][-n][-G][-i]"},
        {"/s -F -oat -h -f@ -r", "[/s][-F][-oat][-h][-i]"},
        {"/s -F Name -O x=y -tF", "several options"},
        {"/s -toi", "several options"},
        {"/s -itf boss@x", "several options"},
        {"/s -tbs", "several options"},
        /* words that look similar and mean something else */
        {"/usr/bin/php -f /opt/x.php -- ", "[/usr/bin/php][-f][/opt/x.php][-i]"},
        {"/usr/bin/php -r 'mail(1);'", "[/usr/bin/php][-r][mail(1);][-i]"},
        {"/s -a tivoli -l", "[/s][-a][tivoli][-l][-i]"},
        {"/s -atest -slocalhost -dt -Mt", "[/s][-atest][-slocalhost][-dt][-Mt][-i]"},
        {"/s - -", "[/s][-][-][-i]"},
        /* quotes */
        {"'/my sendmail' -F 'A & B' \"-o \\\"x\\\" \\y\" a\\ b ''",
         "[/my sendmail][-F][A & B][-o \"x\" \\y][a b][][-i]"},
        {"/s -F 'it'\\''s'", "[/s][-F][it's][-i]"},
        {"/s a~", "[/s][a~][-i]"},
        /* errors */
        {"", "empty"},
        {"  ", "empty"},
        {"sendmail -t SECRET", "whole path"},
        {"./sendmail", "whole path"},
        {"/s 'SECRET", "not closed"},
        {"/s \"SECRET'", "not closed"},
        {"/s a\\", "[/s][a\\][-i]"},
        {"/s SECRET | tee /x", "shell"},
        {"/s -F \"SECRET$\" x", "single quotes"},
        {"/s SECRET > /dev/null", "shell"},
        {"/s;/x", "shell"},
        {"/s $SECRET", "shell"},
        {"/s \"$SECRET\"", "single quotes"},
        {"/s `SECRET`", "shell"},
        {"/s ~/x", "shell"},
        {"/s -bs", "smtp://"},
        {"/s -i -bp", "mode"},
        {"/s -b s", "mode"},
        {"/s -bmt", "mode"},
        {"/s --read-r SECRET", "--read"},
        {"/s --read-recipients=SECRET", "--read"},
        {"/s --read", "--read"},
        {"/s -i -- SECRET@x", "recipients"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const char *got = parsed(samples[i].command);
        bool fine = samples[i].expected[0] == '[' ? strcmp(got, samples[i].expected) == 0
                                                  : strstr(got, samples[i].expected) != NULL;
        if (!fine) {
            fail_msg("%s: %s", samples[i].command, got);
        }
    }
}

static void test_argument_vector(void **state)
{
    struct mq_strings words;
    struct mq_transfer transfer;
    struct mq_target targets[3] = {{.address = "a@x"}, {.address = "b@x"}, {.address = "c@x"}};
    (void)state;
    words = (struct mq_strings){0};
    assert_int_equal(read_command("/s -C x", &words), MQ_OK);
    memset(&transfer, 0, sizeof transfer);
    transfer.from = "s@y";
    transfer.targets = targets;
    transfer.target_count = 3;
    static const char *const expected[] = {"/s",  "-C", "x",   "-i",  "-f",
                                           "s@y", "--", "a@x", "b@x", "c@x"};
    char **argv = mq_sendmail_command_argv(&words, &transfer, true);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_string_equal(argv[i], expected[i]);
    }
    assert_null(argv[sizeof expected / sizeof *expected]);
    free(argv);
    transfer.notify = (struct mq_notify){
        .when = MQ_NOTIFY_SUCCESS | MQ_NOTIFY_DELAY, .ret = MQ_NOTIFY_RET_HDRS, .envid = "q+1"};
    static const char *const with_status[] = {"-N", "SUCCESS,DELAY", "-R", "hdrs",
                                              "-V", "q+1",           "--", "a@x"};
    argv = mq_sendmail_command_argv(&words, &transfer, true);
    for (size_t i = 0; i < sizeof with_status / sizeof *with_status; i++) {
        assert_string_equal(argv[6 + i], with_status[i]);
    }
    free(argv);
    argv = mq_sendmail_command_argv(&words, &transfer, false);
    assert_string_equal(argv[6], "--");
    free(argv);
    mq_strings_clear(&words);
}

static bool takes_status(const char *command)
{
    struct mq_strings words;
    words = (struct mq_strings){0};
    assert_int_equal(read_command(command, &words), MQ_OK);
    bool takes = mq_sendmail_command_takes_status(&words);
    mq_strings_clear(&words);
    return takes;
}

/* For Postfix only: elsewhere -N may mean "do not deliver". */
static void test_who_takes_status(void **state)
{
    (void)state;
    program_write("sendmail", "");
    program_write("exim4", "");
    assert_int_equal(symlink("exim4", program_path("sendmail.link")), 0);
    assert_false(takes_status(program_path("sendmail")));
    program_write("postconf", "");
    assert_true(takes_status(program_path("sendmail")));
    assert_false(takes_status(program_path("sendmail.link")));
    assert_false(takes_status(program_path("exim4")));
    assert_false(takes_status(program_path("missing")));
    assert_int_equal(symlink("sendmail", program_path("mta")), 0);
    assert_true(takes_status(program_path("mta")));
}

/* ---- the program ---- */

/* "" or the error's text. */
static const char *checked(const char *command, const char *own)
{
    struct mq_strings words;
    words = (struct mq_strings){0};
    assert_int_equal(read_command(command, &words), MQ_OK);
    enum mq_status status = mq_sendmail_command_check(&words, own, &err);
    mq_strings_clear(&words);
    assert_true(status == MQ_OK || status == MQ_CONFIG);
    return status == MQ_OK ? "" : err.text;
}

static void test_program(void **state)
{
    char command[600];
    (void)state;
    program_write("sendmail", "");
    program_write("mailqueue", "");
    assert_int_equal(symlink("mailqueue", program_path("link")), 0);
    assert_int_equal(link(program_path("mailqueue"), program_path("hard")), 0);
    fclose(fopen(program_path("text"), "w"));
    assert_string_equal(checked(program_path("sendmail"), program_path("mailqueue")), "");
    assert_string_equal(checked(program_path("missing"), NULL), "");
    assert_non_null(strstr(checked(program_directory, NULL), "not a program"));
    assert_non_null(strstr(checked(program_path("text"), NULL), "not a program"));
    /* our own program, under each of its names */
    assert_non_null(strstr(checked(program_path("mailqueue"), NULL), "into the queue again"));
    assert_non_null(strstr(checked(program_path("link"), NULL), "into the queue again"));
    assert_string_equal(checked(program_path("hard"), NULL), "");
    assert_non_null(
        strstr(checked(program_path("hard"), program_path("mailqueue")), "into the queue again"));
    snprintf(command, sizeof command, "/bin/sh -c %s sendmail -t", program_path("mailqueue"));
    assert_non_null(strstr(checked(command, NULL), "into the queue again"));
    snprintf(command, sizeof command, "/bin/sh -C %s", program_path("mailqueue"));
    assert_string_equal(checked(command, NULL), "");
}

static void test_names(void **state)
{
    struct mq_transport_options options = {.connections = 1, .clock = mq_clock_system()};
    struct mq_transport *transport = NULL;
    int64_t final_ms = 0;
    (void)state;
    const char *plain = "sendmail://default";
    assert_int_equal(fake_open(plain, &options, &transport, &final_ms, &err), MQ_CONFIG);
    assert_non_null(strstr(err.text, "set sendmail_path"));
    options.sendmail_path = "/bin/cat -t -i";
    assert_int_equal(fake_open(plain, &options, &transport, &final_ms, &err), MQ_OK);
    assert_string_equal(transport->name, "sendmail://default?command=/bin/cat");
    assert_int_equal(final_ms, 600000);
    mq_transport_free(transport);
    const char *dsn = "sendmail://default?command=/bin/cat%20-p%20SECRET&final_timeout=7";
    assert_int_equal(fake_open(dsn, &options, &transport, &final_ms, &err), MQ_OK);
    assert_string_equal(transport->name, "sendmail://default?command=/bin/cat%20***");
    assert_int_equal(final_ms, 7000);
    mq_transport_free(transport);
    options.no_command = true;
    assert_int_equal(fake_open(dsn, &options, &transport, &final_ms, &err), MQ_CONFIG);
    assert_non_null(strstr(err.text, "disable_functions"));
    assert_int_equal(fake_open(plain, &options, &transport, &final_ms, &err), MQ_OK);
    mq_transport_free(transport);
}

static void assert_path(const char *dsn, const char *expected)
{
    struct mq_dsn parsed;
    assert_int_equal(mq_dsn_parse(mq_str_of(dsn), &parsed, &err), MQ_OK);
    const char *path = mq_dsn_local_path(&parsed);
    if (expected == NULL) {
        assert_null(path);
    } else {
        assert_string_equal(path, expected);
    }
    mq_dsn_clear(&parsed);
}

static void test_places(void **state)
{
    (void)state;
    assert_path("sendmail://default", NULL);
    assert_path("smtp://localhost", NULL);
    assert_path("sendmail://default?command='/my%20prog'%20-t", "/my prog");
    assert_path("file:///var/mail%20x", "/var/mail x");
}

/* ---- how it ended, in words ---- */

static void test_descriptions(void **state)
{
    char out[MQ_TARGET_REPLY_MAX];
    char much[600];
    (void)state;
    mq_sendmail_describe(W_EXITCODE(75, 0), MQ_STR(" a \r\n\n b\tc\n"), out);
    assert_string_equal(out, "exit 75 (try again later): a b c");
    mq_sendmail_describe(W_EXITCODE(3, 0), MQ_STR(" \n"), out);
    assert_string_equal(out, "exit 3");
    mq_sendmail_describe(W_EXITCODE(0, 15), MQ_STR("x\033[1m\xFF"), out);
    assert_string_equal(out, "killed by signal 15: x?[1m\xEF\xBF\xBD");
    mq_sendmail_describe(-1, MQ_STR(""), out);
    assert_string_equal(out, "its exit code was lost");
    memset(much, 'x', sizeof much);
    for (size_t i = 0; i + 1 < sizeof much; i += 2) {
        memcpy(much + i, "\xC3\xA4", 2);
    }
    much[sizeof much - 1] = '!';
    much[sizeof much - 2] = 'y';
    mq_sendmail_describe(W_EXITCODE(1, 0), (struct mq_str){much, sizeof much}, out);
    assert_memory_equal(out, "exit 1: ...\xC3\xA4", 13);
    assert_true(strlen(out) >= 250 && strlen(out) < sizeof out);
    assert_string_equal(out + strlen(out) - 4, "\xC3\xA4y!");
    memset(much, 0x85, sizeof much); /* ends of characters alone */
    mq_sendmail_describe(W_EXITCODE(1, 0), (struct mq_str){much, sizeof much}, out);
    assert_string_equal(out, "exit 1: ...");
}

#define PROGRAM_TEST(name) cmocka_unit_test_setup_teardown(name, program_setup, program_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),        cmocka_unit_test(test_argument_vector),
        PROGRAM_TEST(test_who_takes_status), PROGRAM_TEST(test_program),
        cmocka_unit_test(test_names),        cmocka_unit_test(test_places),
        cmocka_unit_test(test_descriptions),
    };
    return cmocka_run_group_tests_name("sendmail_command", tests, NULL, NULL);
}
