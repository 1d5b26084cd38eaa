/* Signs mails for verify.py:
 *   sign KEYS TIME <mails >signatures      KEYS as mq_dkim_add_list() takes them
 *   sign KEYS --bench SECONDS <mails       signs the first mail again and again
 * A mail is a line "LENGTH LENGTH", then that many octets of prefix and of message; a result is a
 * line "LENGTH" and that many octets of header fields. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mime/dkim/sign.h"

static struct mq_error err;

static int failed(const char *doing)
{
    fprintf(stderr, "sign: %s: %s\n", doing, err.text);
    return 1;
}

/* False at the end of the input. */
static bool read_mail(struct mq_buffer *text, struct mq_dkim_mail *mail)
{
    size_t prefix, message;
    if (scanf("%zu %zu", &prefix, &message) != 2 || getchar() != '\n') {
        return false;
    }
    mq_buffer_reset(text);
    mq_buffer_reserve(text, prefix + message);
    if (text->failed || fread(text->data, 1, prefix + message, stdin) != prefix + message) {
        fprintf(stderr, "sign: the input ends in a mail\n");
        exit(1);
    }
    mail->prefix = (struct mq_str){text->data, prefix};
    mail->message = (struct mq_str){text->data + prefix, message};
    return true;
}

static int sign_all(const struct mq_dkim *dkim, int64_t now_s)
{
    struct mq_dkim_mail mail = {.now_s = now_s};
    struct mq_buffer text, out;
    int code = 0;
    text = (struct mq_buffer){0};
    out = (struct mq_buffer){0};
    while (code == 0 && read_mail(&text, &mail)) {
        mq_buffer_reset(&out);
        if (mq_dkim_sign(dkim, &mail, &out, &err) != MQ_OK) {
            code = failed("signing");
        } else {
            printf("%zu\n", out.len);
            fwrite(out.data, 1, out.len, stdout);
        }
    }
    mq_buffer_clear(&text);
    mq_buffer_clear(&out);
    return code;
}

/* Processor time. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int bench(const struct mq_dkim *dkim, double seconds)
{
    struct mq_dkim_mail mail = {.now_s = 1795253700};
    struct mq_buffer text, out;
    long count = 0;
    int code = 0;
    text = (struct mq_buffer){0};
    out = (struct mq_buffer){0};
    if (!read_mail(&text, &mail)) {
        return 1;
    }
    double begin = now(), end = begin;
    for (; code == 0 && end - begin < seconds; count++) {
        mq_buffer_reset(&out);
        code = mq_dkim_sign(dkim, &mail, &out, &err) == MQ_OK ? 0 : failed("signing");
        end = now();
    }
    printf("%.0f mails of %zu octets a second of processor time, %.1f µs each\n",
           (double)count / (end - begin), mail.message.len, (end - begin) / (double)count * 1e6);
    mq_buffer_clear(&text);
    mq_buffer_clear(&out);
    return code;
}

int main(int argc, char **argv)
{
    struct mq_dkim *dkim = NULL;
    if (argc < 3) {
        fprintf(stderr, "usage: sign KEYS TIME|--bench SECONDS\n");
        return 64;
    }
    if (mq_dkim_new(&dkim, NULL, &err) != MQ_OK ||
        mq_dkim_add_list(dkim, mq_str_of(argv[1]), &err) != MQ_OK) {
        mq_dkim_free(dkim);
        return failed("keys");
    }
    int code = argc == 4 && strcmp(argv[2], "--bench") == 0 ? bench(dkim, atof(argv[3]))
                                                            : sign_all(dkim, atoll(argv[2]));
    mq_dkim_free(dkim);
    return code;
}
