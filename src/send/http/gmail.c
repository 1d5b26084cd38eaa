/* gmail+https: Gmail's users.messages.send, by its upload address, which takes the message as it
 * is. Gmail reads the recipients from the headers (mailbox_api.c). */
#include "send/dsn.h"
#include "send/http/api.h"

#define RECIPIENTS_MAX 500 /* Gmail takes no more */

static void host(const struct mq_dsn *dsn, struct mq_buffer *out)
{
    (void)dsn;
    mq_buffer_cstr(out, "gmail.googleapis.com");
}

static void path(const struct mq_dsn *dsn, bool probe, struct mq_buffer *out)
{
    if (probe) {
        return; /* what reads needs another scope than gmail.send */
    }
    mq_buffer_cstr(out, "/upload/gmail/v1/users/");
    mq_http_encode(out, dsn->user != NULL ? dsn->user : "me");
    mq_buffer_cstr(out, "/messages/send?uploadType=media");
}

static bool fields(const struct mq_dsn *dsn, struct mq_http_request *request)
{
    (void)dsn;
    return mq_strings_add(&request->headers, MQ_STR("Content-Type: message/rfc822"));
}

static void read_answer(const struct mq_http_result *result, struct mq_http_answer *answer)
{
    mq_http_json_text(result->body, "id", answer->text, sizeof answer->text);
    answer->is_receipt = answer->text[0] != '\0';
    if (!answer->is_receipt) {
        mq_http_json_text(result->body, "reason", answer->code, sizeof answer->code);
        mq_http_json_text(result->body, "message", answer->text, sizeof answer->text);
    }
}

const struct mq_http_api mq_http_gmail = {.scheme = "gmail+https",
                                          .service = MQ_HTTP_GMAIL,
                                          .auth = MQ_HTTP_BEARER,
                                          .recipients_max = RECIPIENTS_MAX,
                                          .check = mq_http_check_account,
                                          .host = host,
                                          .path = path,
                                          .login = NULL,
                                          .fields = fields,
                                          .write = mq_http_write_mail,
                                          .read = read_answer};
