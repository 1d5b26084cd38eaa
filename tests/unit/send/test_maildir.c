/* file:// writes a Maildir, and counts nothing as delivered that was not synced.
 *
 * link: -Wl,--wrap=fsync,--wrap=rename */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "program_bench.h"

#define MESSAGE "Subject: x\r\n\r\nFrom here\r\n.\r\nlone\rcr\r\n"

/* The system calls in order: f a file's fsync, d a directory's, r a rename. */
static char calls[64];
static int fail_file, fail_directory, fail_rename; /* errno values; 0: as usual */
static bool renames;                               /* the rename that fails has happened */

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);

static int noted(char call, int error)
{
    size_t n = strlen(calls);
    if (n + 1 < sizeof calls) {
        calls[n] = call;
        calls[n + 1] = '\0';
    }
    errno = error;
    return error;
}

int __wrap_fsync(int fd)
{
    struct stat info;
    assert_int_equal(fstat(fd, &info), 0);
    bool directory = S_ISDIR(info.st_mode);
    return noted(directory ? 'd' : 'f', directory ? fail_directory : fail_file) ? -1
                                                                                : __real_fsync(fd);
}

int __wrap_rename(const char *from, const char *to)
{
    if (renames) {
        __real_rename(from, to);
        errno = fail_rename;
    }
    return noted('r', fail_rename) ? -1 : __real_rename(from, to);
}

static enum mq_status open_maildir(const char *path, struct mq_transport **out,
                                   struct mq_error *err)
{
    struct mq_transport_options options = {.connections = 1, .clock = mq_clock_system()};
    char dsn[600];
    int64_t final_ms = -1;
    snprintf(dsn, sizeof dsn, "file://%s", path);
    enum mq_status status = fake_open(dsn, &options, out, &final_ms, err);
    assert_int_equal(final_ms, 0);
    return status;
}

static struct mq_transport *open_box(void)
{
    struct mq_transport *transport = NULL;
    struct mq_error err;
    fail_file = fail_directory = fail_rename = 0;
    if (open_maildir(program_path("box"), &transport, &err) != MQ_OK) {
        fail_msg("%s", err.text);
    }
    calls[0] = '\0';
    return transport;
}

/* The number of files; the last one's name. */
static int files_in(const char *part, char name[256])
{
    char path[64];
    int count = 0;
    struct dirent *entry;
    snprintf(path, sizeof path, "box/%s", part);
    DIR *directory = opendir(program_path(path));
    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] != '.') {
            count++;
            snprintf(name, 256, "%s", entry->d_name);
        }
    }
    closedir(directory);
    return count;
}

static void assert_boxes(int temporary, int delivered)
{
    char name[256];
    assert_int_equal(files_in("tmp", name), temporary);
    assert_int_equal(files_in("new", name), delivered);
    assert_int_equal(files_in("cur", name), 0);
}

static void test_one_file_a_delivery(void **state)
{
    (void)state;
    struct fake_mail mail;
    struct stat info;
    char name[256], path[300], host[256];
    size_t len;
    struct mq_transport *transport = open_box();
    fake_mail_init(&mail, MESSAGE, 2);
    mail.transfer.prefix = MQ_STR("X-Original-To: b@z\r\n");
    program_send(transport, &mail);
    assert_string_equal(fake_results(&mail), "AA");
    assert_string_equal(mail.phases, "EBA");
    assert_string_equal(mail.seen, "AA");
    assert_string_equal(calls, "frd");
    assert_true(mail.transfer.at_s > 0);
    assert_boxes(0, 1);
    files_in("new", name);
    snprintf(path, sizeof path, "box/new/%s", name);
    char *text = program_file(path, &len);
    assert_string_equal(text, "Return-Path: <s@y>\nX-Envelope-To: a@x\nX-Envelope-To: b@x\n"
                              "X-Original-To: b@z\nSubject: x\n\nFrom here\n.\nlone\rcr\n");
    free(text);
    assert_int_equal(stat(program_path(path), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(stat(program_path("box/new"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    /* time.M…P…Q…R….host, and no colon: flags would follow it */
    gethostname(host, sizeof host);
    assert_string_equal(strchr(strchr(name, '.') + 1, '.') + 1, host);
    assert_true(strtol(name, NULL, 10) >= mail.transfer.at_s - 1);
    assert_null(strchr(name, ':'));
    assert_string_equal(transport->name + 7, program_path("box"));
    mq_transport_free(transport);
}

static void test_many(void **state)
{
    (void)state;
    static struct fake_mail mails[20];
    struct mq_transport *transport = open_box();
    assert_int_equal(mq_transport_capacity(transport, true), 1);
    assert_int_equal(mq_transport_capacity(transport, false), 20);
    for (int i = 0; i < 20; i++) {
        fake_mail_init(&mails[i], MESSAGE, 1);
        mails[i].transfer.from = "";
        mails[i].refuse = i == 3 ? 'E' : i == 4 ? 'B' : 0;
        mq_transport_submit(transport, &mails[i].transfer);
    }
    assert_int_equal(mq_transport_capacity(transport, false), 0);
    program_run(transport, 20, 10000);
    assert_boxes(0, 18);
    assert_int_equal(mails[3].transfer.end, MQ_TRANSFER_LEASE_OVER);
    assert_int_equal(mails[4].transfer.end, MQ_TRANSFER_LEASE_OVER);
    assert_string_equal(fake_results(&mails[4]), "U");
    assert_int_equal(mq_transport_capacity(transport, false), 20);
    mq_transport_free(transport);
    transport = open_box(); /* existing files stay */
    assert_boxes(0, 18);
    mq_transport_free(transport);
}

static void test_disk_full(void **state)
{
    (void)state;
    struct fake_mail mails[3];
    struct mq_transport *transport = open_box();
    fail_file = ENOSPC;
    for (int i = 0; i < 2; i++) {
        fake_mail_init(&mails[i], MESSAGE, 1);
        mq_transport_submit(transport, &mails[i].transfer);
    }
    program_run(transport, 2, 3000);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(mails[i].transfer.end, MQ_TRANSFER_UNTOUCHED);
        assert_string_equal(fake_results(&mails[i]), "U");
    }
    assert_string_equal(mails[0].phases, "E");
    assert_boxes(0, 0);
    assert_non_null(strstr(program_trouble(transport), "/box: cannot write: No space left"));
    assert_int_equal(mq_transport_capacity(transport, false), 0);
    fake_mail_init(&mails[2], MESSAGE, 1); /* comes straight back */
    mq_transport_submit(transport, &mails[2].transfer);
    assert_ptr_equal(mq_transport_take_done(transport), &mails[2]);
    mq_transport_free(transport);
}

static void test_rename_fails(void **state)
{
    (void)state;
    struct fake_mail mail;
    struct mq_transport *transport = open_box();
    fail_rename = EDQUOT;
    fake_mail_init(&mail, MESSAGE, 1);
    program_send(transport, &mail);
    assert_int_equal(mail.transfer.end, MQ_TRANSFER_UNTOUCHED);
    assert_string_equal(mail.phases, "EBE"); /* the record says: safe to send again */
    assert_boxes(0, 0);
    assert_non_null(strstr(program_trouble(transport), "quota"));
    mq_transport_free(transport);
}

/* On NFS, when the reply to the rename was lost. */
static void test_rename_may_have_happened(void **state)
{
    (void)state;
    struct fake_mail mail;
    struct mq_transport *transport = open_box();
    fail_rename = EIO;
    renames = true;
    fake_mail_init(&mail, MESSAGE, 1);
    program_send(transport, &mail);
    renames = false;
    assert_int_equal(mail.transfer.end, MQ_TRANSFER_DONE);
    assert_int_equal(mail.targets[0].result, MQ_OUTCOME_UNCERTAIN);
    assert_string_equal(mail.phases, "EB");
    assert_boxes(0, 1);
    mq_transport_free(transport);
}

static void test_directory_is_not_synced(void **state)
{
    (void)state;
    struct fake_mail mail;
    struct mq_transport *transport = open_box();
    fail_directory = EIO;
    fake_mail_init(&mail, MESSAGE, 1);
    program_send(transport, &mail);
    assert_string_equal(fake_results(&mail), "?");
    assert_string_equal(mail.phases, "EB");
    fail_directory = EINVAL; /* a file system that does not support this */
    fake_mail_init(&mail, MESSAGE, 1);
    program_send(transport, &mail);
    assert_string_equal(fake_results(&mail), "A");
    assert_string_equal(program_trouble(transport), "");
    mq_transport_free(transport);
}

/* One mail that is too large for the process does not stop others. */
static void test_file_size_limit(void **state)
{
    (void)state;
    struct fake_mail mail;
    struct rlimit before, low;
    char *message = program_message(200000);
    struct mq_transport *transport = open_box();
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    low = before;
    low.rlim_cur = 100000;
    setrlimit(RLIMIT_FSIZE, &low);
    fake_mail_init(&mail, message, 1);
    program_send(transport, &mail);
    assert_string_equal(fake_results(&mail), "D");
    assert_string_equal(mail.phases, "ER");
    assert_non_null(strstr(mail.targets[0].reply, "File too large"));
    assert_boxes(0, 0);
    fake_mail_init(&mail, MESSAGE, 1);
    program_send(transport, &mail);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    assert_string_equal(fake_results(&mail), "A");
    mq_transport_free(transport);
    free(message);
}

static void test_directory_goes_away(void **state)
{
    (void)state;
    struct fake_mail mail;
    char command[128];
    struct mq_transport *transport = open_box();
    snprintf(command, sizeof command, "rm -r %s", program_path("box"));
    assert_int_equal(system(command), 0);
    fake_mail_init(&mail, MESSAGE, 1);
    program_send(transport, &mail);
    assert_int_equal(mail.transfer.end, MQ_TRANSFER_UNTOUCHED);
    assert_non_null(strstr(program_trouble(transport), "cannot create a file: No such file"));
    mq_transport_free(transport);
}

static void test_stops(void **state)
{
    (void)state;
    struct fake_mail mails[2];
    struct mq_transport *transport = open_box();
    for (int i = 0; i < 2; i++) {
        fake_mail_init(&mails[i], MESSAGE, 1);
    }
    mq_transport_submit(transport, &mails[0].transfer);
    mq_transport_recall(transport);
    assert_ptr_equal(mq_transport_take_done(transport), &mails[0]);
    assert_int_equal(mails[0].transfer.end, MQ_TRANSFER_UNTOUCHED);
    mq_transport_submit(transport, &mails[0].transfer);
    mq_transport_wind_down(transport);
    mq_transport_submit(transport, &mails[1].transfer);
    assert_ptr_equal(mq_transport_take_done(transport), &mails[0]);
    assert_ptr_equal(mq_transport_take_done(transport), &mails[1]);
    assert_null(mq_transport_take_done(transport));
    assert_string_equal(mails[0].phases, "");
    assert_int_equal(mq_transport_capacity(transport, false), 0);
    mq_transport_abort(transport);
    mq_transport_free(transport);
}

static void test_unusable(void **state)
{
    (void)state;
    struct mq_transport *transport = NULL;
    struct mq_error err;
    char path[3000] = "/";
    fclose(fopen(program_path("file"), "w"));
    assert_int_equal(open_maildir(program_path("file"), &transport, &err), MQ_CONFIG);
    assert_non_null(strstr(err.text, "/file cannot be used: Not a directory"));
    assert_int_equal(open_maildir(program_path("no/such"), &transport, &err), MQ_CONFIG);
    assert_non_null(strstr(err.text, "No such file"));
    mkdir(program_path("half"), 0700);
    fclose(fopen(program_path("half/new"), "w"));
    assert_int_equal(open_maildir(program_path("half"), &transport, &err), MQ_CONFIG);
    assert_non_null(strstr(err.text, "/half/new cannot be used"));
    memset(path + 1, 'x', 500);
    assert_int_equal(open_maildir(path, &transport, &err), MQ_CONFIG);
    assert_string_equal(err.field, "transport");
    assert_null(transport);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, program_setup, program_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_one_file_a_delivery),
        TEST(test_many),
        TEST(test_disk_full),
        TEST(test_rename_fails),
        TEST(test_rename_may_have_happened),
        TEST(test_directory_is_not_synced),
        TEST(test_file_size_limit),
        TEST(test_directory_goes_away),
        TEST(test_stops),
        TEST(test_unusable),
    };
    return cmocka_run_group_tests_name("maildir", tests, NULL, NULL);
}
