/* The media type of an attachment: by the name's extension, else by ext/fileinfo. */
#include "php/message/media_type.h"

#include <string.h>

#include "core/ascii.h"

#define FILEINFO_MIME_TYPE 16 /* ext/fileinfo's constant */
#define OCTETS             "application/octet-stream"

/* By extension, because libmagic is wrong or vague about many of these (office formats are "zip",
 * tables are "plain"), and slow: 2 to 15 ms for a text. `begin` is how such a file begins, where
 * that is certain. */
static const struct media {
    const char *extension;
    const char *type;
    const char *begin;
} table[] = {
    {"7z", "application/x-7z-compressed", "7z\xBC\xAF\x27\x1C"},
    {"avif", "image/avif", NULL},
    {"bmp", "image/bmp", "BM"},
    {"css", "text/css", NULL},
    {"csv", "text/csv", NULL},
    {"doc", "application/msword", "\xD0\xCF\x11\xE0"},
    {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "PK"},
    {"epub", "application/epub+zip", "PK"},
    {"gif", "image/gif", "GIF8"},
    {"gpx", "application/gpx+xml", NULL},
    {"gz", "application/gzip", "\x1F\x8B"},
    {"heic", "image/heic", NULL},
    {"htm", "text/html", NULL},
    {"html", "text/html", NULL},
    {"ico", "image/vnd.microsoft.icon", NULL},
    {"ics", "text/calendar", "BEGIN:VCALENDAR"},
    {"jpeg", "image/jpeg", "\xFF\xD8\xFF"},
    {"jpg", "image/jpeg", "\xFF\xD8\xFF"},
    {"js", "text/javascript", NULL},
    {"json", "application/json", NULL},
    {"log", "text/plain", NULL},
    {"m4a", "audio/mp4", NULL},
    {"md", "text/markdown", NULL},
    {"mov", "video/quicktime", NULL},
    {"mp3", "audio/mpeg", NULL},
    {"mp4", "video/mp4", NULL},
    {"odp", "application/vnd.oasis.opendocument.presentation", "PK"},
    {"ods", "application/vnd.oasis.opendocument.spreadsheet", "PK"},
    {"odt", "application/vnd.oasis.opendocument.text", "PK"},
    {"ogg", "audio/ogg", "OggS"},
    {"p7s", "application/pkcs7-signature", NULL},
    {"pdf", "application/pdf", "%PDF-"},
    {"pkpass", "application/vnd.apple.pkpass", "PK"},
    {"png", "image/png", "\x89PNG"},
    {"ppt", "application/vnd.ms-powerpoint", "\xD0\xCF\x11\xE0"},
    {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation", "PK"},
    {"rar", "application/vnd.rar", "Rar!"},
    {"rtf", "application/rtf", "{\\rtf"},
    {"svg", "image/svg+xml", NULL},
    {"tar", "application/x-tar", NULL},
    {"tif", "image/tiff", NULL},
    {"tiff", "image/tiff", NULL},
    {"tsv", "text/tab-separated-values", NULL},
    {"txt", "text/plain", NULL},
    {"vcf", "text/vcard", "BEGIN:VCARD"},
    {"wav", "audio/wav", "RIFF"},
    {"webm", "video/webm", NULL},
    {"webp", "image/webp", "RIFF"},
    {"xls", "application/vnd.ms-excel", "\xD0\xCF\x11\xE0"},
    {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "PK"},
    {"xml", "application/xml", NULL},
    {"yaml", "application/yaml", NULL},
    {"yml", "application/yaml", NULL},
    {"zip", "application/zip", "PK"},
};

static const struct media *find(struct mq_str name)
{
    const char *dot = name.len ? memrchr(name.data, '.', name.len) : NULL;
    if (dot == NULL) {
        return NULL;
    }
    struct mq_str extension = {dot + 1, name.len - (size_t)(dot + 1 - name.data)};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (mq_str_equal_nocase(extension, mq_str_of(table[i].extension))) {
            return &table[i];
        }
    }
    return NULL;
}

static void call(const char *function, uint32_t count, zval *arguments, zval *result)
{
    zval name;
    ZVAL_UNDEF(result);
    ZVAL_STRING(&name, function);
    call_user_function(NULL, NULL, &name, result, count, arguments);
    zval_ptr_dtor(&name);
}

/* disable_functions takes them away from fileinfo, and a script may then declare its own. */
static bool has_function(const char *name)
{
    const zend_function *found = zend_hash_str_find_ptr(EG(function_table), name, strlen(name));
    return found != NULL && found->type == ZEND_INTERNAL_FUNCTION;
}

/* *type stays NULL where fileinfo is not there or does not know. */
static enum mq_status ask_fileinfo(struct mq_str head, zval *finfo, zend_string **type)
{
    zval arguments[2], result;
    if (head.len == 0 || !has_function("finfo_open") || !has_function("finfo_buffer")) {
        return MQ_OK;
    }
    if (Z_ISUNDEF_P(finfo)) {
        ZVAL_LONG(&arguments[0], FILEINFO_MIME_TYPE);
        call("finfo_open", 1, arguments, finfo);
    }
    if (EG(exception) || Z_TYPE_P(finfo) != IS_OBJECT) {
        return EG(exception) ? MQ_THROWN : MQ_OK;
    }
    ZVAL_COPY_VALUE(&arguments[0], finfo);
    ZVAL_STRINGL(&arguments[1], head.data, head.len);
    call("finfo_buffer", 2, arguments, &result);
    zval_ptr_dtor(&arguments[1]);
    if (Z_TYPE(result) == IS_STRING) {
        *type = zend_string_copy(Z_STR(result));
    }
    zval_ptr_dtor(&result);
    return EG(exception) ? MQ_THROWN : MQ_OK;
}

/* What may stand for an attachment's type: no "message/…" or "multipart/…", which would be parts of
 * this very mail (and may not be base64); nothing that is no type. */
static bool is_useful(struct mq_str type)
{
    static const char *const families[] = {"application/", "audio/", "font/", "image/",
                                           "model/",       "text/",  "video/"};
    bool known = false;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        known = known || mq_str_begins(type, families[i]);
    }
    return known && !mq_str_equal(type, MQ_STR(OCTETS)) &&
           !mq_str_equal(type, MQ_STR("application/x-empty")) &&
           memchr(type.data, ' ', type.len) == NULL;
}

/* A beginning says so only with a character that is not ASCII: what follows may be of any charset.
 */
static bool is_utf8(const struct mq_php_media_content *content)
{
    struct mq_str text = content->text;
    if (content->whole) {
        return mq_utf8_valid(text);
    }
    for (int cut = 0; cut < 3 && text.len > 0 && !mq_utf8_valid(text); cut++) {
        text.len--; /* it may end within a character */
    }
    return mq_utf8_valid(text) && !mq_str_ascii(text);
}

/* Without a charset, a text is ASCII by definition (RFC 2046, section 4.1.2). */
static zend_string *with_charset(struct mq_str type, const struct mq_php_media_content *content)
{
    const char *charset = mq_str_begins(type, "text/") && is_utf8(content) ? "; charset=utf-8" : "";
    return strpprintf(0, "%.*s%s", (int)type.len, type.data, charset);
}

enum mq_status mq_php_media_type(struct mq_str name, const struct mq_php_media_content *content,
                                 zval *finfo, zend_string **type)
{
    struct mq_str head = content->text;
    head.len = head.len < MQ_PHP_MEDIA_HEAD ? head.len : MQ_PHP_MEDIA_HEAD;
    const struct media *media = find(name);
    struct mq_str found = mq_str_of(media ? media->type : OCTETS);
    zend_string *asked = NULL;
    if (media == NULL || (media->begin && !mq_str_begins(head, media->begin))) {
        enum mq_status status = ask_fileinfo(head, finfo, &asked);
        if (status != MQ_OK) {
            return status;
        }
    }
    if (asked && is_useful((struct mq_str){ZSTR_VAL(asked), ZSTR_LEN(asked)})) {
        found = (struct mq_str){ZSTR_VAL(asked), ZSTR_LEN(asked)};
    }
    *type = with_charset(found, content);
    if (asked) {
        zend_string_release(asked);
    }
    return MQ_OK;
}
