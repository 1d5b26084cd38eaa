/* Writes the programs that stand for sendmail, and runs mails through them. */
#include "program_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

char program_directory[64];
int64_t program_clock_ahead_ms;

static int64_t ahead_ms(void *context)
{
    struct mq_clock clock = mq_clock_system();
    (void)context;
    return clock.boot_ms(clock.context) + program_clock_ahead_ms;
}

int program_setup(void **state)
{
    (void)state;
    program_clock_ahead_ms = 0;
    strcpy(program_directory, "/tmp/mailqueue-program.XXXXXX");
    return mkdtemp(program_directory) == NULL;
}

int program_teardown(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", program_directory);
    return system(command);
}

const char *program_path(const char *name)
{
    static char paths[4][512];
    static size_t next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", program_directory, name);
    return path;
}

void program_write(const char *name, const char *script)
{
    FILE *file = fopen(program_path(name), "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\nDIR=%s\n%s\n", program_directory, script);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(program_path(name), 0700), 0);
}

char *program_file(const char *name, size_t *len)
{
    FILE *file = fopen(program_path(name), "r");
    struct stat info;
    if (file == NULL) {
        return NULL;
    }
    assert_int_equal(fstat(fileno(file), &info), 0);
    char *data = calloc(1, (size_t)info.st_size + 1);
    assert_non_null(data);
    *len = fread(data, 1, (size_t)info.st_size, file);
    fclose(file);
    return data;
}

int64_t program_now_ms(void)
{
    struct mq_clock clock = mq_clock_system();
    return clock.boot_ms(clock.context);
}

void program_await(const char *name)
{
    struct stat info;
    int64_t until_ms = program_now_ms() + 60000;
    while (stat(program_path(name), &info) != 0 || info.st_size == 0) {
        assert_true(program_now_ms() < until_ms);
        usleep(2000);
    }
}

struct mq_transport *program_open(const char *command, const char *options, int processes)
{
    struct mq_transport_options given = {.connections = processes, .clock = mq_clock_system()};
    struct mq_transport *transport = NULL;
    struct mq_error err;
    int64_t final_ms;
    char dsn[512];
    given.clock.boot_ms = ahead_ms;
    snprintf(dsn, sizeof dsn, "sendmail://default?command=%s&%s", program_path(command), options);
    if (fake_open(dsn, &given, &transport, &final_ms, &err) != MQ_OK) {
        fail_msg("%s: %s", dsn, err.text);
    }
    return transport;
}

void program_run(struct mq_transport *transport, size_t count, int64_t within_ms)
{
    struct mq_error err;
    int64_t until_ms = program_now_ms() + within_ms;
    for (size_t back = 0; back < count;) {
        assert_int_equal(transport->ops->step(transport, 100, &err), MQ_OK);
        while (mq_transport_take_done(transport) != NULL) {
            back++;
        }
        assert_true(back == count || program_now_ms() < until_ms);
    }
}

void program_send(struct mq_transport *transport, struct fake_mail *mail)
{
    mq_transport_submit(transport, &mail->transfer);
    program_run(transport, 1, 60000);
}

const char *program_trouble(struct mq_transport *transport)
{
    return transport->trouble.reason;
}

char *program_message(size_t size)
{
    struct mq_buffer out;
    out = (struct mq_buffer){0};
    mq_buffer_cstr(&out, "Subject: big\r\n\r\n");
    for (int line = 0; out.len < size; line++) {
        mq_buffer_printf(&out, "line %d of many, and each is another one\r\n", line);
    }
    return mq_buffer_take(&out);
}
