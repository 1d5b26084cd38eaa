#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php/capture/mb_send_mail.h"

#include <string.h>
#include <strings.h>

#include "ext/standard/base64.h"
#include "zend_exceptions.h"
#include "zend_smart_str.h"

#include "core/buffer.h"
#include "php/class/exceptions.h"

#define ENCODED_LINE 76 /* characters of base64 in a line */

enum transfer { TRANSFER_BASE64, TRANSFER_7BIT, TRANSFER_8BIT };

static const char *const transfer_names[] = {"BASE64", "7bit", "8bit"};

/* What mb_send_mail() finds out before it converts; strings in request memory. */
struct plan {
    zend_string *charset; /* of the message on its way */
    zend_string *internal_encoding;
    enum transfer transfer;
    bool quoted_subject; /* else base64 */
    bool has_type, has_transfer, has_version;
};

static void release(zend_string **s)
{
    if (*s) {
        zend_string_release(*s);
        *s = NULL;
    }
}

/* ---- calling mbstring ---- */

/* `result` is the caller's; undefined on an error. Frees the arguments. */
static enum mq_status call(const char *name, uint32_t count, zval *arguments, zval *result,
                           struct mq_error *err)
{
    zend_function *function = zend_hash_str_find_ptr(EG(function_table), name, strlen(name));
    enum mq_status status = MQ_OK;
    ZVAL_UNDEF(result);
    if (function) {
        zend_call_known_function(function, NULL, NULL, result, count, arguments, NULL);
    } else {
        status = mq_error_set(err, MQ_CONFIG, "disable_functions",
                              "mb_send_mail() cannot be captured without %s(): take it out of "
                              "disable_functions",
                              name);
    }
    for (uint32_t i = 0; i < count; i++) {
        zval_ptr_dtor(&arguments[i]);
    }
    if (EG(exception)) {
        char text[MQ_ERROR_TEXT_MAX / 2];
        mq_php_exception_text(text, sizeof text);
        zend_clear_exception();
        zval_ptr_dtor(result);
        ZVAL_UNDEF(result);
        status = mq_error_set(err, MQ_CONFIG, "mbstring", "%s", text);
    }
    return status;
}

/* The same for functions that return a string. */
static enum mq_status call_for_string(const char *name, uint32_t count, zval *arguments,
                                      zend_string **out, struct mq_error *err)
{
    zval result;
    enum mq_status status = call(name, count, arguments, &result, err);
    if (status != MQ_OK) {
        return status;
    }
    if (Z_TYPE(result) != IS_STRING) {
        zval_ptr_dtor(&result);
        return mq_error_set(err, MQ_CONFIG, "mbstring",
                            "%s() returned no string; correct mbstring's settings", name);
    }
    *out = Z_STR(result);
    return MQ_OK;
}

static enum mq_status get_info(const char *what, zend_string **out, struct mq_error *err)
{
    zval argument;
    ZVAL_STRING(&argument, what);
    return call_for_string("mb_get_info", 1, &argument, out, err);
}

/* ---- the headers that were given ---- */

/* mb_send_mail()'s own reading of headers: CR alone is no line end, a folded value loses some of
 * its last characters, after a line that it does not understand it sees no more fields. */
struct fields {
    enum { BEFORE_NAME, NAME, BEFORE_VALUE, VALUE, FOLD, LOST } state;
    bool line_begins;
    bool cr; /* just read, not counted yet */
    struct mq_str name;
    struct mq_str token; /* name or value, as far as it was read */
};

/* The value is the last one's of its name. */
static void keep_field(const struct fields *in, struct mq_str wanted, zend_string **value)
{
    if (in->token.len == 0 || in->name.len == 0 || !mq_str_equal_nocase(in->name, wanted)) {
        return;
    }
    release(value);
    *value = zend_string_init(in->token.data, in->token.len, 0);
}

static void begin_token(struct fields *in, const char *p)
{
    in->token = (struct mq_str){p, 0};
}

static void take_colon(struct fields *in)
{
    if (in->state == BEFORE_NAME || in->state == NAME) {
        in->name = in->token;
        in->state = BEFORE_VALUE;
    } else {
        in->token.len++;
    }
}

static void take_space(struct fields *in, bool begins)
{
    if (begins) {
        in->state = in->state == VALUE ? FOLD : LOST;
    } else if (in->state == NAME || in->state == VALUE) {
        in->token.len++;
    }
}

/* True when the field before is complete. */
static bool ends_field(const struct fields *in, bool begins)
{
    return begins && (in->state == BEFORE_VALUE || in->state == VALUE);
}

static void take_character(struct fields *in, const char *p, bool begins)
{
    if (ends_field(in, begins)) {
        in->name.len = 0;
        in->state = NAME;
        begin_token(in, p);
    } else if (in->state == BEFORE_NAME || in->state == BEFORE_VALUE) {
        in->state = in->state == BEFORE_NAME ? NAME : VALUE;
        begin_token(in, p);
    } else if (in->state == FOLD) {
        in->state = VALUE;
        in->token.len++;
    }
    in->token.len++;
}

/* NULL where there is no such field. */
static zend_string *find_field(const zend_string *headers, const char *name)
{
    struct fields in = {.state = BEFORE_NAME, .line_begins = true};
    struct mq_str wanted = mq_str_of(name);
    zend_string *value = NULL;
    for (const char *p = headers ? ZSTR_VAL(headers) : ""; *p; p++) {
        bool begins = in.line_begins;
        if (*p == '\n' && begins) {
            break;
        }
        in.line_begins = *p == '\n';
        in.token.len += in.cr && *p != '\n';
        in.cr = *p == '\r';
        if (*p == '\r' || *p == '\n') {
            continue;
        }
        if (*p == ':') {
            take_colon(&in);
        } else if (*p == ' ' || *p == '\t') {
            take_space(&in, begins);
        } else {
            if (ends_field(&in, begins)) {
                keep_field(&in, wanted, &value);
            }
            take_character(&in, p, begins);
        }
    }
    if (in.state == VALUE) {
        keep_field(&in, wanted, &value);
    }
    return value;
}

/* ---- the plan ---- */

static void add_warning(struct mq_capture *mail, const char *format, const char *what)
{
    if (mail->warning_count < MQ_CAPTURE_WARNINGS) {
        mail->warnings[mail->warning_count++] = zend_strpprintf(0, format, what);
    }
}

static bool is_encoding(const char *name)
{
    struct mq_error err;
    zval argument, aliases;
    ZVAL_STRING(&argument, name);
    bool known = call("mb_encoding_aliases", 1, &argument, &aliases, &err) == MQ_OK;
    zval_ptr_dtor(&aliases);
    return known;
}

/* The charset of a Content-Type, when that is the first parameter; NULL otherwise. */
static const char *charset_of(char *type)
{
    char *state = NULL;
    char *parameters = strchr(type, ';');
    if (parameters == NULL) {
        return NULL;
    }
    parameters += 1 + strspn(parameters + 1, " \t");
    char *name = strtok_r(parameters, "= ", &state);
    bool is_charset = name && strcasecmp(name, "charset") == 0;
    return is_charset ? strtok_r(NULL, "= \"", &state) : NULL;
}

static void plan_type(struct mq_capture *mail, struct plan *plan)
{
    zend_string *type = find_field(mail->headers, "content-type");
    if (type == NULL) {
        return;
    }
    plan->has_type = true;
    const char *charset = charset_of(ZSTR_VAL(type));
    if (charset) {
        bool known = is_encoding(charset);
        if (!known) {
            add_warning(mail, "Unsupported charset \"%s\" - will be regarded as ascii", charset);
            charset = "ASCII";
        }
        release(&plan->charset);
        plan->charset = zend_string_init(charset, strlen(charset), 0);
    }
    zend_string_release(type);
}

static enum transfer transfer_of(const char *name, bool *known)
{
    *known = true;
    for (size_t i = 0; i < sizeof transfer_names / sizeof *transfer_names; i++) {
        if (strcasecmp(name, transfer_names[i]) == 0) {
            return (enum transfer)i;
        }
    }
    *known = strcasecmp(name, "binary") == 0;
    return TRANSFER_8BIT;
}

static void plan_transfer(struct mq_capture *mail, struct plan *plan)
{
    bool known;
    zend_string *value = find_field(mail->headers, "content-transfer-encoding");
    if (value == NULL) {
        return;
    }
    plan->has_transfer = true;
    plan->transfer = transfer_of(ZSTR_VAL(value), &known);
    if (!known) {
        add_warning(mail, "Unsupported transfer encoding \"%s\" - will be regarded as 8bit",
                    ZSTR_VAL(value));
    }
    zend_string_release(value);
}

static enum mq_status make_plan(struct mq_capture *mail, struct plan *plan, struct mq_error *err)
{
    zend_string *header = NULL, *body = NULL;
    bool known;
    enum mq_status status = get_info("mail_charset", &plan->charset, err);
    if (status == MQ_OK) {
        status = get_info("mail_header_encoding", &header, err);
    }
    if (status == MQ_OK) {
        status = get_info("mail_body_encoding", &body, err);
    }
    if (status == MQ_OK) {
        status = get_info("internal_encoding", &plan->internal_encoding, err);
    }
    if (status == MQ_OK) {
        plan->quoted_subject = strcasecmp(ZSTR_VAL(header), "BASE64") != 0;
        plan->transfer = transfer_of(ZSTR_VAL(body), &known);
        plan_type(mail, plan);
        plan_transfer(mail, plan);
        zend_string *version = find_field(mail->headers, "mime-version");
        plan->has_version = version != NULL;
        release(&version);
    }
    release(&header);
    release(&body);
    return status;
}

/* ---- carrying it out ---- */

/* What PHP writes ends at the first NUL, which UTF-16 has. */
static void cut_at_nul(zend_string **text)
{
    size_t len = strlen(ZSTR_VAL(*text));
    if (len < ZSTR_LEN(*text)) {
        zend_string *cut = zend_string_init(ZSTR_VAL(*text), len, 0);
        zend_string_release(*text);
        *text = cut;
    }
}

static enum mq_status encode_subject(struct mq_capture *mail, const struct plan *plan,
                                     struct mq_error *err)
{
    const char *line_end = mq_capture_line_end();
    zend_string *encoded = NULL;
    zval arguments[5];
    ZVAL_STR_COPY(&arguments[0], mail->subject);
    ZVAL_STR_COPY(&arguments[1], plan->charset);
    ZVAL_STRING(&arguments[2], plan->quoted_subject ? "Q" : "B");
    ZVAL_STRING(&arguments[3], line_end);
    /* mb_send_mail() leaves room for a mailing list's number. */
    ZVAL_LONG(&arguments[4], (zend_long)(strlen("Subject: [PHP-jp nnnnnnnn]") + strlen(line_end)));
    enum mq_status status = call_for_string("mb_encode_mimeheader", 5, arguments, &encoded, err);
    if (status == MQ_OK) {
        release(&mail->subject);
        mail->subject = encoded;
        cut_at_nul(&mail->subject);
    }
    return status;
}

/* Returns what was set before; undefined on an error. */
static enum mq_status set_substitute(zval *character, zval *before, struct mq_error *err)
{
    zval ignored;
    enum mq_status status = call("mb_substitute_character", 0, NULL, before, err);
    if (status == MQ_OK) {
        status = call("mb_substitute_character", 1, character, &ignored, err);
        zval_ptr_dtor(&ignored);
    }
    return status;
}

/* The application's substitute character is not for mail: that has always been "?". */
static enum mq_status convert_charset(struct mq_capture *mail, const struct plan *plan,
                                      struct mq_error *err)
{
    struct mq_error ignored;
    zend_string *converted = NULL;
    zval arguments[3], character, before, unused;
    ZVAL_LONG(&character, '?');
    enum mq_status status = set_substitute(&character, &before, err);
    if (status != MQ_OK) {
        zval_ptr_dtor(&before);
        return status;
    }
    ZVAL_STR_COPY(&arguments[0], mail->message);
    ZVAL_STR_COPY(&arguments[1], plan->charset);
    ZVAL_STR_COPY(&arguments[2], plan->internal_encoding);
    status = call_for_string("mb_convert_encoding", 3, arguments, &converted, err);
    call("mb_substitute_character", 1, &before, &unused, &ignored);
    zval_ptr_dtor(&unused);
    if (status == MQ_OK) {
        release(&mail->message);
        mail->message = converted;
    }
    return status;
}

/* Lines of base64 with CRLF between them. */
static zend_string *encode_base64(const zend_string *text)
{
    zend_string *line = php_base64_encode((const unsigned char *)ZSTR_VAL(text), ZSTR_LEN(text));
    smart_str out = {0};
    smart_str_alloc(&out, ZSTR_LEN(line) + ZSTR_LEN(line) / ENCODED_LINE * 2 + 1, 0);
    for (size_t at = 0; at < ZSTR_LEN(line); at += ENCODED_LINE) {
        size_t left = ZSTR_LEN(line) - at;
        if (at > 0) {
            smart_str_appendl(&out, "\r\n", 2);
        }
        smart_str_appendl(&out, ZSTR_VAL(line) + at, left < ENCODED_LINE ? left : ENCODED_LINE);
    }
    zend_string_release(line);
    return smart_str_extract(&out);
}

static void encode_message(struct mq_capture *mail, enum transfer transfer)
{
    if (transfer == TRANSFER_BASE64) {
        zend_string *encoded = encode_base64(mail->message);
        release(&mail->message);
        mail->message = encoded;
    } else if (transfer == TRANSFER_7BIT) {
        mail->message = zend_string_separate(mail->message, 0);
        for (size_t i = 0; i < ZSTR_LEN(mail->message); i++) {
            char *c = &ZSTR_VAL(mail->message)[i];
            *c = (unsigned char)*c < 0x80 ? *c : '?';
        }
    }
    cut_at_nul(&mail->message);
}

static void add_line(smart_str *headers, const char *name, const char *value)
{
    if (headers->s && ZSTR_LEN(headers->s) > 0) {
        smart_str_appends(headers, mq_capture_line_end());
    }
    smart_str_appends(headers, name);
    smart_str_appends(headers, value);
}

static enum mq_status add_headers(struct mq_capture *mail, const struct plan *plan,
                                  struct mq_error *err)
{
    smart_str headers = {0};
    zend_string *charset = NULL;
    if (!plan->has_type) {
        zval argument;
        ZVAL_STR_COPY(&argument, plan->charset);
        enum mq_status status =
            call_for_string("mb_preferred_mime_name", 1, &argument, &charset, err);
        if (status != MQ_OK) {
            return status;
        }
    }
    if (mail->headers) {
        add_line(&headers, "", ZSTR_VAL(mail->headers));
    }
    if (!plan->has_version) {
        add_line(&headers, "MIME-Version: ", "1.0");
    }
    if (charset) {
        add_line(&headers, "Content-Type: text/plain; charset=", ZSTR_VAL(charset));
    }
    if (!plan->has_transfer) {
        add_line(&headers, "Content-Transfer-Encoding: ", transfer_names[plan->transfer]);
    }
    release(&charset);
    release(&mail->headers);
    mail->headers = smart_str_extract(&headers);
    return MQ_OK;
}

enum mq_status mq_capture_mb_convert(struct mq_capture *mail, struct mq_error *err)
{
    struct plan plan = {0};
    enum mq_status status = make_plan(mail, &plan, err);
    if (status == MQ_OK) {
        status = encode_subject(mail, &plan, err);
    }
    if (status == MQ_OK) {
        status = convert_charset(mail, &plan, err);
    }
    if (status == MQ_OK) {
        status = add_headers(mail, &plan, err);
    }
    if (status == MQ_OK) {
        encode_message(mail, plan.transfer);
    }
    release(&plan.charset);
    release(&plan.internal_encoding);
    return status;
}
