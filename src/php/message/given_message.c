/* A message of any form: reading it, its envelope, the domain of its sender. */
#include "php/message/given_message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mime/idn.h"
#include "mime/mailbox.h"
#include "mime/wire/envelope.h"
#include "php/message/holder.h"
#include "php/message/recipients.h"

/* ---- reading ---- */

static void clear_message(void *data)
{
    struct mq_php_message *message = data;
    if (message->text) {
        zend_string_release(message->text);
    }
    zval_ptr_dtor(&message->sender);
    zval_ptr_dtor(&message->recipients);
    mq_php_array_clear(&message->fields);
}

static enum mq_status read_value(zval *value, struct mq_php_message *out, struct mq_error *err)
{
    if (Z_TYPE_P(value) == IS_ARRAY) {
        return mq_php_array_read(Z_ARRVAL_P(value), &out->fields, err);
    }
    if (mq_php_is_message_object(value)) {
        return mq_php_object_read(value, out, err);
    }
    if (Z_TYPE_P(value) != IS_STRING) {
        return mq_php_wrong_type("message", MQ_PHP_MESSAGE_TYPES, value, err);
    }
    out->text = zend_string_copy(Z_STR_P(value));
    return MQ_OK;
}

enum mq_status mq_php_message_read(zval *value, zval *out, struct mq_error *err)
{
    zval holder;
    struct mq_php_message *message = mq_php_holder_new(&holder, sizeof *message, clear_message);
    enum mq_status status = read_value(value, message, err);
    if (status == MQ_OK) {
        ZVAL_COPY_VALUE(out, &holder);
    } else {
        ZVAL_UNDEF(out);
        zval_ptr_dtor(&holder);
    }
    return status;
}

const struct mq_php_message *mq_php_message_of(const zval *holder)
{
    return mq_php_holder_data(holder);
}

/* ---- the envelope ---- */

static struct mq_str text_of(const struct mq_php_message *message)
{
    return (struct mq_str){ZSTR_VAL(message->text), ZSTR_LEN(message->text)};
}

/* "bcc: App\Mail::getBcc() must …": the error that waited until the answer was needed. */
static enum mq_status say_misfit(const zval *answer, struct mq_error *err)
{
    const char *text = Z_STRVAL_P(answer);
    char field[MQ_ERROR_FIELD_MAX];
    snprintf(field, sizeof field, "%.*s", (int)strcspn(text, ":"), text);
    return mq_error_set(err, MQ_MESSAGE, field, "%s", text);
}

static enum mq_status plain_address(const zval *address, const zend_string *name, char **out,
                                    struct mq_error *err)
{
    return mq_idn_address((struct mq_str){Z_STRVAL_P(address), Z_STRLEN_P(address)}, ZSTR_VAL(name),
                          out, err);
}

enum mq_status mq_php_message_sender(const struct mq_php_message *message, char **from,
                                     struct mq_error *err)
{
    zend_string *name;
    zval *address;
    if (Z_TYPE(message->sender) == IS_STRING) {
        return say_misfit(&message->sender, err);
    }
    if (Z_TYPE(message->sender) == IS_ARRAY) {
        ZEND_HASH_FOREACH_STR_KEY_VAL (Z_ARRVAL(message->sender), name, address) {
            return plain_address(address, name, from, err);
        }
        ZEND_HASH_FOREACH_END();
    }
    return mq_envelope_sender(text_of(message), from, err);
}

/* Adds what the object's methods say to what the headers say. */
static enum mq_status add_named(HashTable *list, HashTable *seen, struct mq_strings *out,
                                struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    zend_string *name;
    zval *item;
    ZEND_HASH_FOREACH_STR_KEY_VAL (list, name, item) {
        char *address = NULL;
        status = plain_address(item, name, &address, err);
        if (status == MQ_OK && !mq_php_recipient_add(seen, mq_str_of(address), out)) {
            status = mq_error_nomem(err);
        }
        free(address);
        if (status != MQ_OK) {
            break;
        }
    }
    ZEND_HASH_FOREACH_END();
    return status;
}

enum mq_status mq_php_message_recipients(const struct mq_php_message *message,
                                         struct mq_strings *out, struct mq_error *err)
{
    struct mq_strings own;
    HashTable seen;
    if (Z_TYPE(message->recipients) == IS_STRING) {
        return say_misfit(&message->recipients, err);
    }
    if (Z_TYPE(message->recipients) != IS_ARRAY) {
        return mq_envelope_recipients(text_of(message), out, err);
    }
    HashTable *named = Z_ARRVAL(message->recipients);
    mq_strings_init(&own);
    zend_hash_init(&seen, zend_hash_num_elements(named), NULL, NULL, 1);
    enum mq_status status =
        message->headers_too ? mq_envelope_recipients(text_of(message), &own, err) : MQ_OK;
    for (size_t i = 0; i < own.count && status == MQ_OK; i++) {
        if (!mq_php_recipient_add(&seen, mq_str_of(own.items[i]), out)) {
            status = mq_error_nomem(err);
        }
    }
    if (status == MQ_OK) {
        status = add_named(named, &seen, out, err);
    }
    zend_hash_destroy(&seen);
    mq_strings_clear(&own);
    return status;
}

/* ---- the sender's domain ---- */

static void add_domain(const char *address, struct mq_buffer *out)
{
    const char *at = address ? strrchr(address, '@') : NULL;
    mq_buffer_cstr(out, at ? at + 1 : "");
}

static void add_domain_of_fields(const struct mq_php_fields *fields, struct mq_buffer *out)
{
    const struct mq_compose_address *from = fields->compose.from.items;
    struct mq_mailboxes boxes;
    mq_mailboxes_init(&boxes);
    enum mq_status status = from->name.data
                                ? mq_mailboxes_add(from->name, from->address, "from", &boxes, NULL)
                                : mq_mailboxes_parse(from->address, "from", &boxes, NULL);
    if (status == MQ_OK && boxes.count > 0) {
        add_domain(boxes.items[0].address, out);
    }
    mq_mailboxes_clear(&boxes);
}

struct mq_str mq_php_message_domain(const struct mq_php_message *message, struct mq_buffer *scratch)
{
    char *from = NULL;
    if (message->text == NULL) {
        add_domain_of_fields(&message->fields, scratch);
    } else if (mq_php_message_sender(message, &from, NULL) == MQ_OK) {
        add_domain(from, scratch);
    }
    free(from);
    return mq_buffer_view(scratch);
}
