/* Makes a job from enqueue()'s arguments and their message. No PHP code runs here. */
#include "php/message/mail.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "mime/address.h"
#include "mime/idn.h"
#include "mime/subject.h"
#include "mime/wire/correct.h"
#include "mime/wire/envelope.h"
#include "mime/wire/repair.h"
#include "php/class/conversion.h"
#include "php/message/given_message.h"
#include "php_mailqueue.h"
#include "queue/job.h"
#include "queue/queue.h"
#include "queue/suppress/suppress.h"

void mq_php_mail_clear(struct mq_php_mail *mail)
{
    mq_buffer_clear(&mail->body);
    mq_buffer_clear(&mail->subject);
    mq_buffer_clear(&mail->scope);
    mq_strings_clear(&mail->recipients);
    free(mail->envelope_from);
    free(mail->message_id);
    free(mail->relay);
    *mail = (struct mq_php_mail){0};
}

/* If the message has its own Message-ID, it replaces the generated one. */
static enum mq_status keep_message_id(struct mq_php_mail *mail, struct mq_str id,
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

/* ---- the envelope ---- */

static enum mq_status deduce_recipients(const struct mq_php_message *message,
                                        struct mq_strings *recipients, struct mq_error *err)
{
    MQ_TRY(mq_php_message_recipients(message, recipients, err));
    if (recipients->count == 0) {
        return mq_error_set(err, MQ_MESSAGE, "recipients",
                            "recipients: missing, and the message names none in To, Cc or Bcc; "
                            "give recipients: [\"a@example.org\"]");
    }
    return mq_php_check_count("recipients", recipients->count, " in the message's headers", err);
}

/* Takes what is missing of the envelope from a text or an object. */
static enum mq_status deduce_envelope(struct mq_php_mail *mail,
                                      const struct mq_php_message *message, bool has_sender,
                                      bool has_recipients, struct mq_error *err)
{
    if (message == NULL || message->text == NULL) {
        return MQ_OK;
    }
    if (!has_sender) {
        MQ_TRY(mq_php_message_sender(message, &mail->envelope_from, err));
        if (mail->envelope_from == NULL) {
            return mq_error_set(err, MQ_MESSAGE, "envelopeFrom",
                                "envelopeFrom: missing, and the message has no From to take it "
                                "from; give envelopeFrom: \"a@example.org\", or \"\" for none");
        }
    }
    return has_recipients ? MQ_OK : deduce_recipients(message, &mail->recipients, err);
}

/* Reads a list<string> of addresses; duplicates are dropped. */
static enum mq_status read_recipients(HashTable *list, struct mq_strings *out, struct mq_error *err)
{
    size_t count = zend_hash_num_elements(list), index = 0;
    zval *item;
    if (count == 0) {
        return mq_error_set(err, MQ_MESSAGE, "recipients",
                            "recipients: it is empty; give at least one address");
    }
    MQ_TRY(mq_php_check_count("recipients", count, "", err));
    ZEND_HASH_FOREACH_VAL (list, item) {
        char name[32];
        char *address = NULL;
        snprintf(name, sizeof name, "recipients[%zu]", index++);
        if (Z_TYPE_P(item) != IS_STRING) {
            return mq_php_wrong_type(name, "a string", item, err);
        }
        MQ_TRY(mq_idn_address(mq_php_str(Z_STR_P(item)), name, &address, err));
        bool added = mq_strings_add(out, mq_str_of(address));
        free(address);
        if (!added) {
            return mq_error_nomem(err);
        }
    }
    ZEND_HASH_FOREACH_END();
    return mq_addresses_once(out) ? MQ_OK : mq_error_nomem(err);
}

/* Reads the envelope that the caller gave; before the message, because these errors say more. */
static enum mq_status take_envelope(struct mq_php_mail *mail, const struct mq_php_arguments *args,
                                    struct mq_error *err)
{
    struct mq_str from = mq_php_str(args->envelope_from);
    if (args->envelope_from && from.len == 0) { /* the null reverse-path */
        mail->envelope_from = mq_str_dup(from);
        MQ_TRY(mail->envelope_from ? MQ_OK : mq_error_nomem(err));
    } else if (args->envelope_from) {
        MQ_TRY(mq_idn_address(from, "envelopeFrom", &mail->envelope_from, err));
    }
    return Z_TYPE(args->recipients) == IS_ARRAY
               ? read_recipients(Z_ARRVAL(args->recipients), &mail->recipients, err)
               : MQ_OK;
}

/* ---- the message ---- */

static enum mq_status compose_fields(struct mq_php_mail *mail, const struct mq_php_fields *fields,
                                     int64_t date_s, struct mq_error *err)
{
    struct mq_compose_fields compose = fields->compose;
    struct mq_envelope envelope = {0};
    compose.message_id = fields->message_id ? ZSTR_VAL(fields->message_id) : mail->message_id;
    compose.date_s = fields->date_given ? fields->date_s : date_s;
    compose.max_size = (size_t)MAILQUEUE_G(max_message_size);
    struct mq_php_link link = {.uri = {NULL, 0}};
    enum mq_status status = mq_php_mail_link(mail, fields, compose.date_s, &link, err);
    if (link.uri.data) {
        compose.unsubscribe = &link.uri;
        compose.unsubscribe_count = 1;
    }
    if (status == MQ_OK) {
        status = mq_compose(&compose, &mail->body, &envelope, err);
    }
    mq_buffer_clear(&link.text);
    if (status == MQ_IO) { /* an attached file failed; MQ_IO would mean the database */
        status = mq_error_set(err, MQ_MESSAGE, err->field, "%s", err->text);
    }
    if (status == MQ_OK) {
        status = mq_php_check_count("to", envelope.recipients.count, " in to, cc and bcc", err);
    }
    if (status == MQ_OK && mail->envelope_from == NULL) {
        mail->envelope_from = envelope.from;
        envelope.from = NULL;
    }
    if (status == MQ_OK && mail->recipients.count == 0) {
        mail->recipients = envelope.recipients;
        envelope.recipients = (struct mq_strings){0};
    }
    mq_envelope_clear(&envelope);
    return status == MQ_OK ? keep_message_id(mail, mq_str_of(compose.message_id), err) : status;
}

static enum mq_status accept_text(struct mq_php_mail *mail, const zend_string *text, int64_t date_s,
                                  struct mq_error *err)
{
    struct mq_message_options wanted = {
        .max_size = (size_t)MAILQUEUE_G(max_message_size),
        .message_id = mail->message_id,
        .date_s = date_s,
    };
    struct mq_message_info info = {0};
    enum mq_status status = mq_repair_accept(mq_php_str(text), &wanted, &mail->body, &info, err);
    return status == MQ_OK ? keep_message_id(mail, info.message_id, err) : status;
}

/* Makes the body, and takes the message's own Message-ID; from fields, also the envelope. */
static enum mq_status make_body(struct mq_php_mail *mail, const struct mq_php_message *message,
                                int64_t date_s, struct mq_error *err)
{
    return message->text ? accept_text(mail, message->text, date_s, err)
                         : compose_fields(mail, &message->fields, date_s, err);
}

/* Makes an id with the domain of the sender: the array's; else the envelope's or, if that is empty,
 * the text's. */
static enum mq_status make_message_id(struct mq_php_mail *mail,
                                      const struct mq_php_message *message, struct mq_error *err)
{
    char *named = NULL;
    const char *from = mail->envelope_from;
    if (message && (message->text == NULL || from == NULL || *from == '\0')) {
        mq_php_message_sender(message, &named, NULL);
        from = named ? named : from;
    }
    mail->message_id = mq_message_new_id(from);
    free(named);
    return mail->message_id ? MQ_OK : mq_error_nomem(err);
}

/* ---- the relay that the message names ---- */

bool mq_php_is_relay_header(struct mq_str name)
{
    return mq_str_equal_nocase(name, MQ_STR("X-MailQueue-Relay"));
}

static bool find_relay(struct mq_str message, struct mq_message_fields *field)
{
    mq_message_fields_init(field, message);
    while (mq_message_fields_next(field)) {
        if (mq_php_is_relay_header(field->name)) {
            return true;
        }
    }
    return false;
}

/* Takes the header X-MailQueue-Relay out of the message, and keeps the name that it has. */
static enum mq_status take_relay(struct mq_php_mail *mail, struct mq_error *err)
{
    struct mq_message_fields field;
    while (find_relay(mq_buffer_view(&mail->body), &field)) {
        size_t at = (size_t)(field.name.data - mail->body.data);
        size_t len = (size_t)(field.rest.data - field.name.data);
        free(mail->relay);
        mail->relay = mq_str_dup(field.value);
        memmove(mail->body.data + at, mail->body.data + at + len, mail->body.len - at - len);
        mail->body.len -= len;
        mail->body.data[mail->body.len] = '\0';
        MQ_TRY(mail->relay ? MQ_OK : mq_error_nomem(err));
    }
    return MQ_OK;
}

enum mq_status mq_php_check_list(struct mq_str given, struct mq_str named, struct mq_error *err)
{
    return !given.data || !named.data || mq_str_equal(given, named)
               ? MQ_OK
               : mq_error_set(err, MQ_MESSAGE, "list",
                              "list: the message names another one in unsubscribe[list]; name the "
                              "list once");
}

/* Sets the scope if the argument names the list; the message can have named it already. */
static enum mq_status take_list(struct mq_php_mail *mail, const zend_string *given,
                                struct mq_error *err)
{
    struct mq_str list = mq_php_str(given), scope = mq_buffer_view(&mail->scope);
    if (given == NULL) {
        return MQ_OK;
    }
    if (scope.len == 0) {
        mq_buffer_cstr(&mail->scope, MQ_SCOPE_OF_LIST);
        mq_buffer_str(&mail->scope, list);
        return mail->scope.failed ? mq_error_nomem(err) : MQ_OK;
    }
    return mq_php_check_list(list, mq_str_skip(scope, strlen(MQ_SCOPE_OF_LIST)), err);
}

enum mq_status mq_php_mail_compose(struct mq_php_mail *mail, const zval *value,
                                   const struct mq_job *job, struct mq_error *err)
{
    struct mq_clock clock = mq_clock_system();
    const struct mq_php_message *message = mq_php_message_of(value);
    MQ_TRY(
        deduce_envelope(mail, message, job->envelope_from != NULL, job->recipients.count > 0, err));
    mail->message_id = mq_str_dup(mq_str_of(job->message_id));
    MQ_TRY(mail->message_id ? make_body(mail, message, mq_clock_now_s(&clock), err)
                            : mq_error_nomem(err));
    return take_relay(mail, err);
}

/* ---- the job ---- */

/* The subject as the header of the body has it, for fields and complete messages alike. */
static struct mq_str subject_of(struct mq_php_mail *mail)
{
    bool has = mail->body.data && mq_subject_of(mq_buffer_view(&mail->body), &mail->subject);
    struct mq_str none = {NULL, 0};
    struct mq_str subject = mq_buffer_view(&mail->subject);
    return !has ? none : subject.len ? subject : MQ_STR("");
}

/* The queue checks the range; it refuses INT_MIN and INT_MAX, too. */
static int to_int(zend_long value)
{
    return value > INT_MAX ? INT_MAX : value < INT_MIN ? INT_MIN : (int)value;
}

enum mq_status mq_php_arguments_check_expiry(const struct mq_php_arguments *args, int64_t now_s,
                                             struct mq_error *err)
{
    return !args->expires || args->expires_at > now_s
               ? MQ_OK
               : mq_error_set(err, MQ_INVALID, "expiresAt",
                              "expiresAt: must be later than now; leave it out for a mail that "
                              "does not expire");
}

enum mq_status mq_php_mail_prepare(struct mq_php_mail *mail, const struct mq_php_arguments *args,
                                   int64_t now_s, struct mq_error *err)
{
    MQ_TRY(mq_php_arguments_check_expiry(args, now_s, err));
    const struct mq_php_message *message =
        Z_ISUNDEF(args->message) ? NULL : mq_php_message_of(&args->message);
    MQ_TRY(take_envelope(mail, args, err));
    MQ_TRY(deduce_envelope(mail, message, mail->envelope_from != NULL, mail->recipients.count > 0,
                           err));
    MQ_TRY(make_message_id(mail, message, err));
    if (message) {
        int64_t date_s = args->send_at > now_s ? args->send_at : now_s;
        MQ_TRY(make_body(mail, message, date_s, err));
        MQ_TRY(take_relay(mail, err));
    }
    MQ_TRY(take_list(mail, args->list, err));
    /* In the job, 0 means the backoff policy's maximum; but a 0 that was given is an error. */
    int attempts = args->max_attempts == 0 ? -1 : to_int(args->max_attempts);
    mail->job = (struct mq_new_job){
        .reference = mq_php_str(args->reference),
        .mail_type = args->type ? mq_php_str(args->type) : MQ_STR("mail"),
        .priority = to_int(args->priority),
        .send_at = args->send_at,
        .expires_at = args->expires ? args->expires_at : 0,
        .max_attempts = args->max_attempts_given ? attempts : 0,
        .message_id = mail->message_id,
        .envelope_from = mail->envelope_from,
        .recipients = &mail->recipients,
        .body = mq_buffer_view(&mail->body),
        .notify = &args->notify,
        .subject = subject_of(mail),
        .relay = args->relay ? mq_php_str(args->relay) : mq_str_of(mail->relay),
        .scope = mq_buffer_view(&mail->scope),
    };
    if (mail->subject.failed) {
        return mq_error_nomem(err);
    }
    return mq_new_job_check(&mail->job, err);
}

enum mq_status mq_php_mail_store(struct mq_queue *queue, const struct mq_php_arguments *args,
                                 int64_t *id, struct mq_error *err)
{
    struct mq_php_mail mail = {0};
    const struct mq_clock *clock = mq_queue_clock(queue);
    enum mq_status status = mq_php_mail_key(&mail, args, queue, err);
    if (status == MQ_OK) {
        status = mq_php_mail_prepare(&mail, args, mq_clock_now_s(clock), err);
    }
    if (status == MQ_OK) {
        status = mq_queue_enqueue(queue, &mail.job, 1, id, err);
    }
    mq_php_mail_clear(&mail);
    return status;
}
