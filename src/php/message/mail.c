#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php/message/mail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "mime/idn.h"
#include "php/message/message_arg.h"
#include "php/message/recipients.h"

void mq_php_mail_init(struct mq_php_mail *mail)
{
    memset(mail, 0, sizeof *mail);
    mq_buffer_init(&mail->body);
    mq_strings_init(&mail->recipients);
}

void mq_php_mail_clear(struct mq_php_mail *mail)
{
    mq_buffer_clear(&mail->body);
    mq_strings_clear(&mail->recipients);
    free(mail->envelope_from);
    free(mail->message_id);
    mq_php_mail_init(mail);
}

static struct mq_str view(const zend_string *s)
{
    return s ? (struct mq_str){ZSTR_VAL(s), ZSTR_LEN(s)} : (struct mq_str){NULL, 0};
}

/* "<32 hex digits@domain>" (RFC 5322, section 3.6.4). */
static char *make_message_id(struct mq_str domain)
{
    char random[33];
    struct mq_buffer id;
    mq_random_hex(random, 16);
    mq_buffer_init(&id);
    mq_buffer_printf(&id, "<%s@", random);
    mq_buffer_str(&id, domain.len ? domain : MQ_STR("localhost"));
    mq_buffer_char(&id, '>');
    return mq_buffer_take(&id);
}

/* Of fields, the sender that they name; else the envelope's, or where that is empty the text's. */
static struct mq_str domain_of(const struct mq_php_mail *mail, const zval *message,
                               struct mq_buffer *scratch)
{
    const char *at = mail->envelope_from ? strrchr(mail->envelope_from, '@') : NULL;
    struct mq_str domain = mq_str_of(at ? at + 1 : NULL);
    if (Z_TYPE_P(message) == IS_OBJECT || domain.len == 0) {
        struct mq_str named = mq_php_message_domain(message, scratch);
        domain = named.len > 0 ? named : domain;
    }
    return domain;
}

/* The envelope that the caller gave, before the message: its errors say more. */
static enum mq_status take_envelope(struct mq_php_mail *mail, const struct mq_php_mail_args *args,
                                    struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    struct mq_str from = view(args->envelope_from);
    if (args->envelope_from && from.len == 0) { /* the null reverse-path */
        mail->envelope_from = mq_str_dup(from);
        status = mail->envelope_from ? MQ_OK : mq_error_nomem(err);
    } else if (args->envelope_from) {
        status = mq_idn_address(from, "envelopeFrom", &mail->envelope_from, err);
    }
    if (status == MQ_OK && Z_TYPE(args->recipients) == IS_ARRAY) {
        status = mq_php_recipients(Z_ARRVAL(args->recipients), &mail->recipients, err);
    }
    if (status == MQ_OK) {
        status =
            mq_php_message_envelope(&args->message, &mail->envelope_from, &mail->recipients, err);
    }
    return status;
}

/* The message and, where the caller gave none, its envelope; the rest is freed with `wire`. */
static void take_wire(struct mq_php_mail *mail, struct mq_php_wire *wire)
{
    mail->body = wire->message;
    mq_buffer_init(&wire->message);
    if (mail->envelope_from == NULL) {
        mail->envelope_from = wire->envelope_from;
        wire->envelope_from = NULL;
    }
    if (mail->recipients.count == 0) {
        mq_strings_clear(&mail->recipients);
        mail->recipients = wire->recipients;
        mq_strings_init(&wire->recipients);
    }
}

/* A message that has a Message-ID of its own keeps it. */
static enum mq_status take_message_id(struct mq_php_mail *mail, struct mq_str id,
                                      struct mq_error *err)
{
    if (id.len == 0 || mq_str_equal(id, mq_str_of(mail->message_id))) {
        return MQ_OK;
    }
    char *own = mq_str_dup(id);
    if (own == NULL) {
        return mq_error_nomem(err);
    }
    free(mail->message_id);
    mail->message_id = own;
    return MQ_OK;
}

static enum mq_status convert_message(struct mq_php_mail *mail, const zval *message, int64_t now_s,
                                      struct mq_error *err)
{
    struct mq_php_message_options options = {mail->message_id, now_s};
    struct mq_php_wire wire;
    mq_php_wire_init(&wire);
    enum mq_status status = mq_php_message_make(message, &options, &wire, err);
    if (status == MQ_OK) {
        status = take_message_id(mail, wire.message_id, err);
    }
    if (status == MQ_OK) {
        take_wire(mail, &wire);
    }
    mq_php_wire_clear(&wire);
    return status;
}

static enum mq_status check_times(const struct mq_php_mail_args *args, int64_t now_s,
                                  struct mq_error *err)
{
    if (args->expires && (args->expires_at <= now_s || args->expires_at <= args->send_at)) {
        return mq_error_set(err, MQ_INVALID, "expiresAt",
                            "expiresAt: must be later than now and than sendAt; leave it out for "
                            "a mail that does not expire");
    }
    if (args->priority < -100 || args->priority > 100) {
        return mq_error_set(err, MQ_INVALID, "priority", "priority: must be between -100 and 100");
    }
    if (args->max_attempts_given && (args->max_attempts < 1 || args->max_attempts > 1000)) {
        return mq_error_set(err, MQ_INVALID, "maxAttempts",
                            "maxAttempts: must be between 1 and 1000, or null for what the "
                            "backoff policy says");
    }
    return MQ_OK;
}

static enum mq_status make_body(struct mq_php_mail *mail, const struct mq_php_mail_args *args,
                                int64_t now_s, struct mq_error *err)
{
    struct mq_buffer scratch;
    mq_buffer_init(&scratch);
    mail->message_id = make_message_id(domain_of(mail, &args->message, &scratch));
    mq_buffer_clear(&scratch);
    if (mail->message_id == NULL) {
        return mq_error_nomem(err);
    }
    if (Z_TYPE(args->message) == IS_NULL) {
        return MQ_OK;
    }
    return convert_message(mail, &args->message, now_s, err);
}

enum mq_status mq_php_mail_prepare(struct mq_php_mail *mail, const struct mq_php_mail_args *args,
                                   int64_t now_s, struct mq_error *err)
{
    enum mq_status status = check_times(args, now_s, err);
    if (status == MQ_OK) {
        status = take_envelope(mail, args, err);
    }
    if (status == MQ_OK) {
        status = make_body(mail, args, now_s, err);
    }
    if (status != MQ_OK) {
        return status;
    }
    mail->job = (struct mq_new_job){
        .reference = view(args->reference),
        .mail_type = args->type ? view(args->type) : MQ_STR("mail"),
        .priority = (int)args->priority,
        .send_at = args->send_at,
        .expires_at = args->expires ? args->expires_at : 0,
        .max_attempts = args->max_attempts_given ? (int)args->max_attempts : 0,
        .message_id = mail->message_id,
        .envelope_from = mail->envelope_from,
        .recipients = &mail->recipients,
        .body = mq_buffer_view(&mail->body),
        .notify = &args->notify,
    };
    return mq_new_job_check(&mail->job, err);
}
