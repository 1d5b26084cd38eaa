/* MailQueue\Internal: what the command line needs of OAuth2, and requests with the same code. */
#include "stubs/mailqueue_methods.h"

#include <stdlib.h>
#include <string.h>

#include "php/class/conversion.h"
#include "php/class/exceptions.h"
#include "php/paths.h"
#include "send/oauth/account.h"
#include "send/oauth/token_request.h"

#define STEP_MS 200

static void add_answer(const struct mq_token_answer *answer, zval *out)
{
    array_init_size(out, 4);
    add_assoc_long(out, "code", answer->code);
    add_assoc_stringl(out, "body", answer->body.len > 0 ? answer->body.data : "", answer->body.len);
    add_assoc_long(out, "retryAfter", (zend_long)answer->retry_after_s);
    add_assoc_string(out, "failure", answer->failure);
}

static void ask(const struct mq_token_call *call, zval *return_value)
{
    struct mq_token_request *request = NULL;
    struct mq_token_answer answer;
    struct mq_error err;
    if (mq_token_request_begin(call, &request, &err) != MQ_OK) {
        mq_php_throw_argument(1, &err);
        return;
    }
    while (!mq_token_request_step(request, STEP_MS, &answer)) {
    }
    add_answer(&answer, return_value);
    mq_token_request_free(request);
}

ZEND_METHOD(MailQueue_Internal, oauthRequest)
{
    char *endpoint, *client_id = NULL, *secret = NULL, *cafile = NULL, *proxy = NULL;
    size_t length;
    zend_string *fields;

    ZEND_PARSE_PARAMETERS_START(2, 6)
        Z_PARAM_PATH(endpoint, length)
        Z_PARAM_STR(fields)
        Z_PARAM_OPTIONAL
        Z_PARAM_PATH_OR_NULL(client_id, length)
        Z_PARAM_PATH_OR_NULL(secret, length)
        Z_PARAM_PATH_OR_NULL(cafile, length)
        Z_PARAM_PATH_OR_NULL(proxy, length)
    ZEND_PARSE_PARAMETERS_END();

    const struct mq_token_call call = {.endpoint = endpoint,
                                       .fields = mq_php_str(fields),
                                       .client_id = client_id,
                                       .client_secret = secret ? secret : "",
                                       .cafile = cafile,
                                       .proxy = proxy};
    ask(&call, return_value);
}

ZEND_METHOD(MailQueue_Internal, fetch)
{
    char *url, *cafile = NULL, *proxy = NULL;
    size_t length;
    zend_long timeout_ms;

    ZEND_PARSE_PARAMETERS_START(2, 4)
        Z_PARAM_PATH(url, length)
        Z_PARAM_LONG(timeout_ms)
        Z_PARAM_OPTIONAL
        Z_PARAM_PATH_OR_NULL(cafile, length)
        Z_PARAM_PATH_OR_NULL(proxy, length)
    ZEND_PARSE_PARAMETERS_END();

    const struct mq_token_call call = {
        .endpoint = url, .cafile = cafile, .proxy = proxy, .timeout_ms = (int)timeout_ms};
    ask(&call, return_value);
}

ZEND_METHOD(MailQueue_Internal, accounts)
{
    char *path = NULL;
    struct mq_error err;
    ZEND_PARSE_PARAMETERS_NONE();
    if (mq_php_ok(mq_php_accounts_path(&path, &err), &err)) {
        RETVAL_STRING(path);
    }
    free(path);
}

ZEND_METHOD(MailQueue_Internal, oauthToken)
{
    char *name, *refused = NULL, *path = NULL;
    size_t length;
    struct mq_oauth *account = NULL;
    struct mq_error err;
    (void)return_value;

    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_PATH(name, length)
        Z_PARAM_OPTIONAL
        Z_PARAM_STRING_OR_NULL(refused, length)
    ZEND_PARSE_PARAMETERS_END();

    enum mq_status status = mq_php_accounts_path(&path, &err);
    if (status == MQ_OK) {
        status = mq_oauth_open(path, name, &account, &err);
    }
    if (account) {
        status = mq_oauth_wait(account, &err);
        const char *token = status == MQ_OK ? mq_oauth_token(account) : NULL;
        if (token && refused && strcmp(refused, token) == 0) {
            mq_oauth_refused(account, mq_oauth_generation(account));
            status = mq_oauth_wait(account, &err);
        }
        mq_oauth_free(account);
    }
    free(path);
    mq_php_ok(status, &err);
}
