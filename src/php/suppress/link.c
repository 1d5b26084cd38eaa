/* Mail to a list: its scope, and the link by which its recipient leaves the list. */
#include <string.h>

#include "mime/mailbox.h"
#include "mime/unsubscribe.h"
#include "php/message/given_message.h"
#include "php/message/mail.h"
#include "queue/suppress/suppress.h"

bool mq_php_arguments_name_list(const struct mq_php_arguments *args)
{
    const struct mq_php_message *message =
        Z_ISUNDEF(args->message) ? NULL : mq_php_message_of(&args->message);
    return message && message->fields.list.data;
}

enum mq_status mq_php_mail_key(struct mq_php_mail *mail, const struct mq_php_arguments *args,
                               struct mq_queue *queue, struct mq_error *err)
{
    if (!mq_php_arguments_name_list(args)) {
        return MQ_OK;
    }
    const unsigned char *key = mq_queue_suppression_key(queue, err);
    mail->unsubscribe_key = key ? key + MQ_SUPPRESSION_KEY - MQ_UNSUBSCRIBE_KEY : NULL;
    return key ? MQ_OK : err->status;
}

/* Finds the mail's only recipient: of the envelope, or else of To. */
static enum mq_status find_recipient(const struct mq_php_mail *mail,
                                     const struct mq_php_fields *fields, struct mq_mailboxes *list,
                                     struct mq_error *err)
{
    const struct mq_compose_fields *compose = &fields->compose;
    const struct mq_strings *given = &mail->recipients;
    size_t others = given->count ? 0 : compose->cc.count + compose->bcc.count;
    if (given->count) {
        others = given->count - 1;
        MQ_TRY(mq_mailboxes_add(MQ_STR(""), mq_str_of(given->items[0]), "recipients", list, err));
    }
    for (size_t i = 0; given->count == 0 && i < compose->to.count; i++) {
        const struct mq_compose_address *to = &compose->to.items[i];
        MQ_TRY(to->name.data ? mq_mailboxes_add(to->name, to->address, to->field, list, err)
                             : mq_mailboxes_parse(to->address, to->field, list, err));
    }
    return others == 0 && list->addresses.count == 1
               ? MQ_OK
               : mq_error_set(err, MQ_MESSAGE, "unsubscribe[list]",
                              "unsubscribe[list]: the link names the recipient, so the mail must "
                              "have exactly one; enqueue a mail for each (enqueueMany())");
}

static enum mq_status write_link(struct mq_php_mail *mail, const struct mq_php_fields *fields,
                                 const struct mq_unsubscribe *who, struct mq_php_link *link,
                                 struct mq_error *err)
{
    mq_unsubscribe_url(mail->unsubscribe_key, fields->list_url, who, &link->text);
    link->uri = mq_buffer_view(&link->text);
    return link->text.failed ? mq_error_nomem(err) : MQ_OK;
}

enum mq_status mq_php_mail_link(struct mq_php_mail *mail, const struct mq_php_fields *fields,
                                int64_t date_s, struct mq_php_link *link, struct mq_error *err)
{
    struct mq_mailboxes list = {0};
    if (!fields->list.data) {
        return MQ_OK;
    }
    if (!mail->unsubscribe_key) {
        return mq_error_set(err, MQ_MESSAGE, "unsubscribe[list]",
                            "unsubscribe[list]: a mail that is composed when it is sent must have "
                            "been enqueued with list: \"news\"; give it the link of "
                            "unsubscribeUrl()");
    }
    enum mq_status status = find_recipient(mail, fields, &list, err);
    mq_buffer_cstr(&mail->scope, MQ_SCOPE_OF_LIST);
    mq_buffer_str(&mail->scope, fields->list);
    if (status == MQ_OK && mail->scope.failed) {
        status = mq_error_nomem(err);
    }
    if (status == MQ_OK) {
        const struct mq_unsubscribe who = {mq_buffer_view(&mail->scope),
                                           mq_str_of(list.addresses.items[0]), date_s};
        status = write_link(mail, fields, &who, link, err);
    }
    mq_mailboxes_clear(&list);
    return status;
}
