/* Makes from the arguments of mail() the message that PHP would write to sendmail_path. */
#include "php/capture/internal.h"

#include <ctype.h>
#include <string.h>
#include <syslog.h>
#include <time.h>

#include "core/ascii.h"
#include "ext/date/php_date.h"
#include "ext/standard/basic_functions.h"
#include "ext/standard/pageinfo.h"
#include "ext/standard/php_mail.h"
#include "ext/standard/php_string.h"
#include "php_syslog.h"
#include "zend_smart_str.h"

#include "core/buffer.h"
#include "php/ini.h"

#define ARG_HEADERS 4

void mq_capture_replace(zend_string **s, zend_string *by)
{
    if (*s) {
        zend_string_release(*s);
    }
    *s = by;
}

void mq_capture_clear(struct mq_capture *mail)
{
    mq_capture_replace(&mail->to, NULL);
    mq_capture_replace(&mail->subject, NULL);
    mq_capture_replace(&mail->message, NULL);
    mq_capture_replace(&mail->headers, NULL);
    mq_capture_replace(&mail->script, NULL);
}

/* The length of the fold at the start of `s`; 0 if there is none. */
static size_t fold_length(const char *s)
{
    if (s[0] != '\r' || s[1] != '\n' || (s[2] != ' ' && s[2] != '\t')) {
        return 0;
    }
    return 3 + strspn(s + 3, " \t");
}

zend_string *mq_capture_one_line(zend_string *text)
{
    size_t len = ZSTR_LEN(text);
    while (len > 0 && isspace((unsigned char)ZSTR_VAL(text)[len - 1])) {
        len--;
    }
    zend_string *line = zend_string_init(ZSTR_VAL(text), len, 0);
    char *p = ZSTR_VAL(line);
    while (*p) {
        size_t fold = fold_length(p);
        if (fold == 0 && iscntrl((unsigned char)*p)) {
            *p = ' ';
        }
        p += fold ? fold : 1;
    }
    return line;
}

bool mq_capture_headers(HashTable *array, zend_string *text, zend_string **out)
{
    if (text && strlen(ZSTR_VAL(text)) != ZSTR_LEN(text)) {
        zend_argument_value_error(ARG_HEADERS, "must not contain any null bytes");
        return false;
    }
    *out = text ? php_trim(text, NULL, 0, 2) : array ? php_mail_build_headers(array) : NULL;
    if (*out && (EG(exception) || ZSTR_LEN(*out) == 0)) {
        mq_capture_replace(out, NULL);
    }
    return !EG(exception);
}

/* mail.mixed_lf_and_crlf exists since PHP 8.2, mail.cr_lf_mode since 8.5. */
const char *mq_capture_line_end(void)
{
    const char *mode = MQ_PHP_INI("mail.cr_lf_mode");
    bool lf = zend_ini_long(ZEND_STRL("mail.mixed_lf_and_crlf"), 0) != 0 ||
              (mode && *mode && strcmp(mode, "crlf") != 0);
    return lf ? "\n" : "\r\n";
}

void mq_capture_add_script(struct mq_capture *mail)
{
    if (!PG(mail_x_header)) {
        return;
    }
    const char *path = zend_get_executed_filename();
    zend_string *name = php_basename(path, strlen(path), NULL, 0);
    php_statpage();
    mail->script = zend_strpprintf(0, "X-PHP-Originating-Script: " ZEND_LONG_FMT ":%s",
                                   (zend_long)BG(page_uid), ZSTR_VAL(name));
    zend_string_release(name);
}

/* Whether the line that begins here is empty or missing. */
static bool is_empty_line(const char *line)
{
    return *line == '\0' || *line == '\n' || *line == '\r';
}

static bool begins_field(const char *headers)
{
    unsigned char c = (unsigned char)*headers;
    return c > 32 && c < 127 && c != ':';
}

bool mq_capture_malformed(const struct mq_capture *mail)
{
    if (mail->headers == NULL) {
        return false;
    }
    const char *p = ZSTR_VAL(mail->headers);
    if (mail->script ? is_empty_line(p) : !begins_field(p)) {
        return true;
    }
    while (*(p += strcspn(p, "\r\n"))) {
        p += p[0] == '\r' && p[1] == '\n' ? 2 : 1;
        if (is_empty_line(p)) {
            return true;
        }
    }
    return false;
}

/* ---- mail.log ---- */

static void log_to_file(const char *path, const zend_string *line)
{
    zend_string *date = php_format_date("d-M-Y H:i:s e", 13, time(NULL), true);
    zend_string *text = zend_strpprintf(0, "[%s] %s%s", ZSTR_VAL(date), ZSTR_VAL(line), PHP_EOL);
    php_stream *stream =
        php_stream_open_wrapper(path, "a", REPORT_ERRORS | STREAM_DISABLE_OPEN_BASEDIR, NULL);
    if (stream) {
        php_stream_write(stream, ZSTR_VAL(text), ZSTR_LEN(text));
        php_stream_close(stream);
    }
    zend_string_release(text);
    zend_string_release(date);
}

void mq_capture_log(const struct mq_capture *mail)
{
    const char *path = MQ_PHP_INI("mail.log");
    if (path == NULL || *path == '\0') {
        return;
    }
    zend_string *line = zend_strpprintf(
        0, "mail() on [%s:%d]: To: %s -- Headers: %s -- Subject: %s", zend_get_executed_filename(),
        (int)zend_get_executed_lineno(), ZSTR_VAL(mail->to),
        mail->headers ? ZSTR_VAL(mail->headers) : "", ZSTR_VAL(mail->subject));
    if (mail->headers) {
        for (char *p = ZSTR_VAL(line); *(p += strcspn(p, "\r\n"));) {
            *p = ' ';
        }
    }
    if (strcmp(path, "syslog") == 0) {
        php_syslog(LOG_NOTICE, "%s", ZSTR_VAL(line));
    } else {
        log_to_file(path, line);
    }
    zend_string_release(line);
}

/* ---- the message ---- */

/* The length of the field name that the line begins with; 0 if it does not begin a field. */
static size_t field_name(struct mq_str line)
{
    size_t name = 0;
    while (name < line.len && line.data[name] > 32 && line.data[name] < 127 &&
           line.data[name] != ':') {
        name++;
    }
    size_t colon = name;
    while (colon < line.len && mq_is_blank(line.data[colon])) {
        colon++;
    }
    return colon < line.len && line.data[colon] == ':' ? name : 0;
}

/* Appends the header lines, each with `end` as its line end; CRLF, LF and CR may be mixed in
 * `lines`. Puts an empty line before the first line that is not a field. Removes blanks before a
 * colon, which are old syntax (RFC 5322, 4.5). */
static void append_headers(smart_str *out, const char *lines, const char *end)
{
    bool text = false;
    while (*lines) {
        struct mq_str line = {lines, strcspn(lines, "\r\n")};
        lines += line.len;
        lines += lines[0] == '\r' && lines[1] == '\n' ? 2 : *lines != '\0';
        bool continued = mq_is_blank(line.data[0]);
        size_t name = text || continued ? 0 : field_name(line);
        if (!text && !continued && name == 0) {
            smart_str_appends(out, end);
            text = true;
        }
        size_t blanks = name > 0 ? strspn(line.data + name, " \t") : 0;
        smart_str_appendl(out, line.data, name);
        smart_str_appendl(out, line.data + name + blanks, line.len - name - blanks);
        smart_str_appends(out, end);
    }
}

/* Returns the line end of the body's first line, for the headers. With a DKIM-Signature, a mixture
 * of LF and CRLF is refused; all LF or all CRLF keeps the signature valid. */
static const char *line_end_for(const zend_string *message)
{
    const char *lf = memchr(ZSTR_VAL(message), '\n', ZSTR_LEN(message));
    return lf && (lf == ZSTR_VAL(message) || lf[-1] != '\r') ? "\n" : "\r\n";
}

zend_string *mq_capture_head(const struct mq_capture *mail)
{
    smart_str lines = {0}, head = {0};
    const char *end = line_end_for(mail->message);
    smart_str_append_printf(&lines, "To: %s\nSubject: %s\n", ZSTR_VAL(mail->to),
                            ZSTR_VAL(mail->subject));
    if (mail->script) {
        smart_str_append_printf(&lines, "%s\n", ZSTR_VAL(mail->script));
    }
    smart_str_appends(&lines, mail->headers ? ZSTR_VAL(mail->headers) : "");
    smart_str_0(&lines);
    append_headers(&head, ZSTR_VAL(lines.s), end);
    smart_str_appends(&head, end);
    smart_str_free(&lines);
    return smart_str_extract(&head);
}

zend_string *mq_capture_message(const struct mq_capture *mail, const zend_string *head)
{
    const zend_string *body = mail->message;
    /* After a CR, add what PHP would: an LF completes the CR, but CRLF is a second line end. */
    bool cr = ZSTR_LEN(body) > 0 && ZSTR_VAL(body)[ZSTR_LEN(body) - 1] == '\r';
    const char *end = cr ? mq_capture_line_end() : line_end_for(body);
    return zend_string_concat3(ZSTR_VAL(head), ZSTR_LEN(head), ZSTR_VAL(body), ZSTR_LEN(body), end,
                               strlen(end));
}
