/* For applications that send with mb_send_mail(), mostly Japanese ones: converts the subject and
 * the text with mbstring's public functions, as mb_language() and the internal encoding say. Then
 * the mail is enqueued like that of mail(). mbstring's own mb_send_mail() would send at once. */
#include "php/capture/internal.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "ext/standard/base64.h"
#include "zend_exceptions.h"
#include "zend_smart_str.h"

#include "core/buffer.h"
#include "mime/wire/message.h"
#include "php/class/exceptions.h"

#define ENCODED_LINE 76 /* characters of base64 in a line */

/* ---- the headers that were given ---- */

/* Finds the last field with this name, as mbstring does. */
static bool find_field(const zend_string *headers, const char *name, struct mq_str *value)
{
    bool found = false;
    struct mq_message_fields fields;
    struct mq_str text = {headers ? ZSTR_VAL(headers) : "", headers ? ZSTR_LEN(headers) : 0};
    mq_message_fields_init(&fields, text);
    while (mq_message_fields_next(&fields)) {
        if (mq_str_equal_nocase(fields.name, mq_str_of(name))) {
            *value = fields.value;
            found = true;
        }
    }
    return found;
}

/* The value of charset=, anywhere among the parameters of a Content-Type; NULL: none. */
static zend_string *find_charset(struct mq_str type)
{
    char text[1024];
    snprintf(text, sizeof text, "%.*s", (int)type.len, type.data);
    const char *at = strcasestr(text, "charset");
    at = at ? at + strlen("charset") : "";
    at += strspn(at, " \t\r\n");
    at += *at == '=' ? 1 + strspn(at + 1, " \t\r\n\"") : strlen(at);
    size_t len = strcspn(at, "\"; \t\r\n");
    return len > 0 ? zend_string_init(at, len, 0) : NULL;
}

/* ---- mbstring ---- */

/* Calls a PHP function and frees the arguments. Returns its string, or NULL with the error. */
static zend_string *call(const char *name, uint32_t count, zval *arguments, struct mq_error *err)
{
    zend_function *function = zend_hash_str_find_ptr(EG(function_table), name, strlen(name));
    zval result;
    ZVAL_UNDEF(&result);
    if (function) {
        zend_call_known_function(function, NULL, NULL, &result, count, arguments, NULL);
    }
    for (uint32_t i = 0; i < count; i++) {
        zval_ptr_dtor(&arguments[i]);
    }
    if (EG(exception)) {
        char text[MQ_ERROR_TEXT_MAX / 2];
        mq_php_exception_text(text, sizeof text);
        zend_clear_exception();
        mq_error_set(err, MQ_CONFIG, "mbstring", "%s", text);
    } else if (function == NULL) {
        mq_error_set(err, MQ_CONFIG, "disable_functions",
                     "mb_send_mail() cannot be captured without %s(): take it out of "
                     "disable_functions",
                     name);
    } else if (Z_TYPE(result) != IS_STRING) {
        mq_error_set(err, MQ_CONFIG, "mbstring",
                     "%s() returned no string; correct mbstring's settings", name);
    } else {
        return Z_STR(result);
    }
    zval_ptr_dtor(&result);
    return NULL;
}

static zend_string *ask(const char *function, const char *argument, struct mq_error *err)
{
    zval text;
    ZVAL_STRING(&text, argument);
    return call(function, 1, &text, err);
}

/* Replaces *text with the result of a PHP function. */
static enum mq_status convert(zend_string **text, const char *function, uint32_t count,
                              zval *arguments, struct mq_error *err)
{
    zend_string *converted = call(function, count, arguments, err);
    if (converted == NULL) {
        return MQ_CONFIG;
    }
    mq_capture_replace(text, converted);
    return MQ_OK;
}

/* ---- converting ---- */

static enum mq_status encode_subject(struct mq_capture *mail, zend_string *charset,
                                     struct mq_error *err)
{
    zval arguments[5];
    const char *line_end = mq_capture_line_end();
    zend_string *encoding = ask("mb_get_info", "mail_header_encoding", err);
    if (encoding == NULL) {
        return MQ_CONFIG;
    }
    ZVAL_STR_COPY(&arguments[0], mail->subject);
    ZVAL_STR_COPY(&arguments[1], charset);
    ZVAL_STRING(&arguments[2], zend_string_equals_literal_ci(encoding, "BASE64") ? "B" : "Q");
    ZVAL_STRING(&arguments[3], line_end);
    /* Like mb_send_mail(), leave room for a mailing list's number. */
    ZVAL_LONG(&arguments[4], (zend_long)(strlen("Subject: [PHP-jp nnnnnnnn]") + strlen(line_end)));
    zend_string_release(encoding);
    return convert(&mail->subject, "mb_encode_mimeheader", 5, arguments, err);
}

static enum mq_status convert_text(struct mq_capture *mail, zend_string *charset,
                                   struct mq_error *err)
{
    zval arguments[2];
    ZVAL_STR_COPY(&arguments[0], mail->message);
    ZVAL_STR_COPY(&arguments[1], charset);
    return convert(&mail->message, "mb_convert_encoding", 2, arguments, err);
}

/* Encodes the text in lines of base64 with CRLF between them. */
static void encode_base64(struct mq_capture *mail)
{
    zend_string *text = mail->message;
    zend_string *line = php_base64_encode((const unsigned char *)ZSTR_VAL(text), ZSTR_LEN(text));
    smart_str out = {0};
    for (size_t at = 0; at < ZSTR_LEN(line); at += ENCODED_LINE) {
        size_t left = ZSTR_LEN(line) - at;
        smart_str_appends(&out, at > 0 ? "\r\n" : "");
        smart_str_appendl(&out, ZSTR_VAL(line) + at, left < ENCODED_LINE ? left : ENCODED_LINE);
    }
    zend_string_release(line);
    mq_capture_replace(&mail->message, smart_str_extract(&out));
}

static void add_field(struct mq_capture *mail, const char *name, const char *value)
{
    const char *before = mail->headers ? ZSTR_VAL(mail->headers) : "";
    const char *end = *before ? mq_capture_line_end() : "";
    mq_capture_replace(&mail->headers, zend_strpprintf(0, "%s%s%s%s", before, end, name, value));
}

/* The transfer encoding of mb_language() may not fit the text: 7bit with German letters, or 8bit
 * with UTF-16, which has NULs. */
static bool needs_base64(const zend_string *text, const zend_string *encoding)
{
    struct mq_str view = {ZSTR_VAL(text), ZSTR_LEN(text)};
    return memchr(view.data, '\0', view.len) ||
           (zend_string_equals_literal_ci(encoding, "7bit") && !mq_str_ascii(view));
}

static enum mq_status add_type(struct mq_capture *mail, const zend_string *charset,
                               struct mq_error *err)
{
    struct mq_str value;
    bool has_type = find_field(mail->headers, "Content-Type", &value);
    zend_string *name = has_type ? NULL : ask("mb_preferred_mime_name", ZSTR_VAL(charset), err);
    if (!has_type && name == NULL) {
        return MQ_CONFIG;
    }
    if (!find_field(mail->headers, "MIME-Version", &value)) {
        add_field(mail, "MIME-Version: ", "1.0");
    }
    if (name) {
        add_field(mail, "Content-Type: text/plain; charset=", ZSTR_VAL(name));
        zend_string_release(name);
    }
    return MQ_OK;
}

/* Encodes the text as a Content-Transfer-Encoding in the headers says. If there is none, uses the
 * encoding of mb_language() and adds the field. */
static enum mq_status encode_text(struct mq_capture *mail, struct mq_error *err)
{
    struct mq_str given;
    bool base64;
    if (find_field(mail->headers, "Content-Transfer-Encoding", &given)) {
        base64 = mq_str_equal_nocase(given, MQ_STR("base64"));
    } else {
        zend_string *usual = ask("mb_get_info", "mail_body_encoding", err);
        if (usual == NULL) {
            return MQ_CONFIG;
        }
        base64 =
            zend_string_equals_literal_ci(usual, "BASE64") || needs_base64(mail->message, usual);
        add_field(mail, "Content-Transfer-Encoding: ", base64 ? "BASE64" : ZSTR_VAL(usual));
        zend_string_release(usual);
    }
    if (base64) {
        encode_base64(mail);
    }
    return MQ_OK;
}

enum mq_status mq_capture_mb_convert(struct mq_capture *mail, struct mq_error *err)
{
    struct mq_str type = {"", 0};
    find_field(mail->headers, "Content-Type", &type);
    zend_string *charset = find_charset(type);
    /* A text in a charset that mbstring does not know stays as the application gave it. */
    zend_string *known = charset ? ask("mb_preferred_mime_name", ZSTR_VAL(charset), err) : NULL;
    bool foreign = charset && !known;
    if (!known) {
        mq_capture_replace(&charset, ask("mb_get_info", "mail_charset", err));
    }
    enum mq_status status = charset ? encode_subject(mail, charset, err) : MQ_CONFIG;
    if (status == MQ_OK && !foreign) {
        status = convert_text(mail, charset, err);
    }
    if (status == MQ_OK) {
        status = add_type(mail, charset, err);
    }
    if (status == MQ_OK) {
        status = encode_text(mail, err);
    }
    mq_capture_replace(&known, NULL);
    mq_capture_replace(&charset, NULL);
    return status;
}
