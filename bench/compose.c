/* Composes mails and prints what it costs: compose [REPETITIONS [KEY_FILE]]
 *
 * mail: text and HTML of 2 KB each, both given: microseconds of CPU a mail.
 *
 * campaign: the same with placeholders, rendered for a recipient; then the check of a recipient.
 * signed: rendered and signed with the key.
 *
 * memory: a mail with an attachment of 10 MB from memory: MB of attachment a second, and the most
 * memory that composing takes, in sizes of the attachment, beside the attachment itself.
 *
 * file: the same from a file descriptor. message: the same with a message, which must not be
 * encoded.
 *
 * Memory is what malloc() hands out, by way of the linker's --wrap of malloc, calloc, realloc and
 * free. */
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mime/compose/composer.h"
#include "mime/dkim/sign.h"
#include "mime/template/campaign_message.h"
#include "mime/wire/envelope.h"

#define ATTACHMENT (10u << 20)

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *old);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *old);

static size_t used, peak;

static void *count(void *got)
{
    used += got != NULL ? malloc_usable_size(got) : 0;
    peak = used > peak ? used : peak;
    return got;
}

void *__wrap_malloc(size_t size)
{
    return count(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return count(__real_calloc(n, size));
}

/* While a block is moved, the old and the new memory exist together. */
void *__wrap_realloc(void *old, size_t size)
{
    size_t before = old != NULL ? malloc_usable_size(old) : 0;
    void *got = count(__real_realloc(old, size));
    used -= got != NULL ? before : 0;
    return got;
}

void __wrap_free(void *old)
{
    used -= old != NULL ? malloc_usable_size(old) : 0;
    __real_free(old);
}

static double cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Microseconds of CPU for composing once. */
static double compose(const struct mq_compose_fields *fields)
{
    struct mq_envelope envelope = {0};
    struct mq_buffer out = {0};
    struct mq_error err;
    double begun = cpu_us();
    enum mq_status status = mq_compose(fields, &out, &envelope, &err);
    double us = cpu_us() - begun;
    if (status != MQ_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    mq_envelope_clear(&envelope);
    mq_buffer_clear(&out);
    return us;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare);
    return values[n / 2];
}

/* A mail in German, as a club would send it: letters that are not ASCII in most lines. */
static struct mq_str fill(char *text, size_t size, const char *line)
{
    size_t n = 0;
    for (; n + strlen(line) < size; n += strlen(line)) {
        memcpy(text + n, line, strlen(line));
    }
    return (struct mq_str){text, n};
}

static void bench_mail(struct mq_compose_fields fields, size_t repetitions)
{
    enum { GROUP = 100 };
    static char text[2048];
    static char html[2048];
    double *us = malloc(repetitions * sizeof *us);
    fields.text = fill(text, sizeof text,
                       "Sehr geehrte Damen und Herren, wir freuen uns, dass Sie am 21. November\n"
                       "dabei sind. Die Übersicht aller Spiele finden Sie im Anhang.\n\n");
    fields.html = fill(html, sizeof html,
                       "<p style=\"margin: 0 0 12px\">Sehr geehrte Damen und Herren, wir freuen "
                       "uns,\n dass Sie <b>dabei</b> sind: <a href=\"https://example.org/\">Über"
                       "sicht</a>.</p>\n");
    for (size_t i = 0; us != NULL && i < repetitions; i++) {
        us[i] = 0;
        for (size_t j = 0; j < GROUP; j++) {
            us[i] += compose(&fields) / GROUP;
        }
    }
    printf("mail     %8.1f us a mail\n", us ? median(us, repetitions) : 0);
    free(us);
}

/* Fields as an application would give them, and a mail in which each is used a few times. */
static struct mq_campaign_message *open_campaign(struct mq_compose_fields fields)
{
    static char text[2048];
    static char html[2048];
    struct mq_campaign_message *message = NULL;
    struct mq_buffer octets = {0};
    struct mq_error err;
    fields.to.count = 0;
    fields.subject = MQ_STR("{{first_name}}, Ihre Anmeldung: Übersicht der Spiele");
    fields.text = fill(text, sizeof text,
                       "Sehr geehrte(r) {{first_name}} {{last_name}}, wir freuen uns, dass Sie am "
                       "{{date|default(\"21. November\")}}\ndabei sind. {{#if member}}Die Übersicht"
                       " aller Spiele finden Sie im Anhang.{{/if}}\n\n");
    fields.html =
        fill(html, sizeof html,
             "<p style=\"margin: 0 0 12px\">Sehr geehrte(r) {{first_name}} {{last_name}}, "
             "wir freuen uns,\n dass Sie <b>dabei</b> sind: <a href=\"https://example.org/"
             "?c={{code|url}}\">Übersicht</a>.</p>\n");
    if (mq_campaign_message_make(&fields, &octets, &err) != MQ_OK ||
        mq_campaign_message_open(mq_buffer_view(&octets), &message, &err) != MQ_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    mq_buffer_clear(&octets);
    return message;
}

enum { RENDER, CHECK, SIGN, STEPS };

/* Microseconds of CPU for one recipient: rendered, only checked, or rendered and signed. */
static double render(struct mq_campaign_message *message,
                     const struct mq_campaign_recipient *recipient, int step,
                     const struct mq_dkim *dkim)
{
    struct mq_envelope envelope = {0};
    struct mq_buffer out = {0};
    struct mq_buffer signature = {0};
    struct mq_error err;
    double begun = cpu_us();
    enum mq_status status =
        step == CHECK ? mq_campaign_message_check(message, recipient, &err)
                      : mq_campaign_message_render(message, recipient, &out, &envelope, &err);
    if (status == MQ_OK && step == SIGN) {
        struct mq_dkim_mail mail = {.message = mq_buffer_view(&out), .now_s = recipient->date_s};
        status = mq_dkim_sign(dkim, &mail, &signature, &err);
    }
    double us = cpu_us() - begun;
    if (status != MQ_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    mq_envelope_clear(&envelope);
    mq_buffer_clear(&out);
    mq_buffer_clear(&signature);
    return us;
}

static struct mq_dkim *open_key(const char *file)
{
    struct mq_dkim *dkim = NULL;
    struct mq_error err;
    if (file != NULL && (mq_dkim_new(&dkim, NULL, &err) != MQ_OK ||
                         mq_dkim_add(dkim, "example.org", "s", file, &err) != MQ_OK)) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    return dkim;
}

static void bench_campaign(struct mq_compose_fields fields, size_t repetitions,
                           const char *key_file)
{
    enum { GROUP = 100 };
    struct mq_campaign_message *message = open_campaign(fields);
    struct mq_campaign_recipient recipient = {
        .address = MQ_STR("ann@example.net"),
        .name = MQ_STR("Ann Müller"),
        .fields = MQ_STR("{\"first_name\":\"Ann\",\"last_name\":\"Müller\",\"member\":true,"
                         "\"code\":\"x/7&9\",\"city\":\"Köln\"}"),
        .message_id = fields.message_id,
        .date_s = fields.date_s};
    struct mq_dkim *dkim = open_key(key_file);
    double *us = malloc(repetitions * sizeof *us);
    double medians[STEPS] = {0};
    for (int step = 0; us != NULL && step < (dkim != NULL ? STEPS : SIGN); step++) {
        for (size_t i = 0; i < repetitions; i++) {
            us[i] = 0;
            for (size_t j = 0; j < GROUP; j++) {
                us[i] += render(message, &recipient, step, dkim) / GROUP;
            }
        }
        medians[step] = median(us, repetitions);
    }
    printf("campaign %8.1f us a mail, %.1f us to check a recipient\n", medians[RENDER],
           medians[CHECK]);
    printf("signed   %8.1f us a mail\n", medians[SIGN]);
    free(us);
    mq_dkim_free(dkim);
    mq_campaign_message_free(message);
}

static void bench_attachment(const char *what, struct mq_compose_fields fields,
                             struct mq_compose_part *part, size_t repetitions)
{
    double *us = malloc(repetitions * sizeof *us);
    fields.parts = part;
    fields.part_count = 1;
    size_t before = used;
    peak = used;
    for (size_t i = 0; us != NULL && i < repetitions; i++) {
        if (part->fd >= 0) {
            lseek(part->fd, 0, SEEK_SET);
        }
        us[i] = compose(&fields);
    }
    printf("%-8s %8.0f MB/s, %.2f of its size in memory\n", what,
           us ? ATTACHMENT / median(us, repetitions) : 0, (double)(peak - before) / ATTACHMENT);
    free(us);
}

int main(int argc, char **argv)
{
    size_t repetitions = argc > 1 ? strtoul(argv[1], NULL, 10) : 51;
    struct mq_compose_address from = {.address = MQ_STR("Jörg Müller <jm@example.org>"),
                                      .field = "from"};
    struct mq_compose_address to = {.address = MQ_STR("Ann Example <ann@example.net>"),
                                    .field = "to"};
    struct mq_compose_fields fields = {.from = {&from, 1},
                                       .to = {&to, 1},
                                       .subject = MQ_STR("Ihre Anmeldung: Übersicht der Spiele"),
                                       .text = MQ_STR("Text\n"),
                                       .message_id = "<4f2c8a.1795253700@example.org>",
                                       .date_s = 1795253700};
    struct mq_compose_part part = {.name = MQ_STR("a.bin"), .fd = -1, .field = "attachments[0]"};
    char path[] = "/tmp/mailqueue-compose-XXXXXX";
    char *data = malloc(ATTACHMENT);
    int fd = mkstemp(path);
    if (data == NULL || fd < 0 || repetitions == 0) {
        fprintf(stderr, "Usage: compose [REPETITIONS [KEY_FILE]]\n");
        return 64;
    }
    unlink(path);
    for (size_t i = 0; i < ATTACHMENT; i++) {
        data[i] = (char)(i % 72 == 71 ? '\n' : 'a' + i % 23);
    }
    if (write(fd, data, ATTACHMENT) != ATTACHMENT) {
        perror(path);
        return 1;
    }
    bench_mail(fields, repetitions);
    bench_campaign(fields, repetitions, argc > 2 ? argv[2] : NULL);
    part.data = (struct mq_str){data, ATTACHMENT};
    bench_attachment("memory", fields, &part, repetitions);
    part.fd = fd;
    part.data.len = ATTACHMENT;
    bench_attachment("file", fields, &part, repetitions);
    part.type = MQ_STR("message/rfc822");
    bench_attachment("message", fields, &part, repetitions);
    close(fd);
    free(data);
    return 0;
}
