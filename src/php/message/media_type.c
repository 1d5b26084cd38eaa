/* The media type of an attachment for which none was given: by the name's extension, else by how
 * the content begins. */
#include <string.h>

#include "core/ascii.h"
#include "php/message/fields.h"

#define OCTETS "application/octet-stream"

struct media {
    const char *mark, *type;
};

static const struct media extensions[] = {
    {"7z", "application/x-7z-compressed"},
    {"avif", "image/avif"},
    {"bmp", "image/bmp"},
    {"css", "text/css"},
    {"csv", "text/csv"},
    {"doc", "application/msword"},
    {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {"epub", "application/epub+zip"},
    {"gif", "image/gif"},
    {"gpx", "application/gpx+xml"},
    {"gz", "application/gzip"},
    {"heic", "image/heic"},
    {"htm", "text/html"},
    {"html", "text/html"},
    {"ico", "image/vnd.microsoft.icon"},
    {"ics", "text/calendar"},
    {"jpeg", "image/jpeg"},
    {"jpg", "image/jpeg"},
    {"js", "text/javascript"},
    {"json", "application/json"},
    {"log", "text/plain"},
    {"m4a", "audio/mp4"},
    {"md", "text/markdown"},
    {"mov", "video/quicktime"},
    {"mp3", "audio/mpeg"},
    {"mp4", "video/mp4"},
    {"odp", "application/vnd.oasis.opendocument.presentation"},
    {"ods", "application/vnd.oasis.opendocument.spreadsheet"},
    {"odt", "application/vnd.oasis.opendocument.text"},
    {"ogg", "audio/ogg"},
    {"p7s", "application/pkcs7-signature"},
    {"pdf", "application/pdf"},
    {"pkpass", "application/vnd.apple.pkpass"},
    {"png", "image/png"},
    {"ppt", "application/vnd.ms-powerpoint"},
    {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {"rar", "application/vnd.rar"},
    {"rtf", "application/rtf"},
    {"svg", "image/svg+xml"},
    {"tar", "application/x-tar"},
    {"tif", "image/tiff"},
    {"tiff", "image/tiff"},
    {"tsv", "text/tab-separated-values"},
    {"txt", "text/plain"},
    {"vcf", "text/vcard"},
    {"wav", "audio/wav"},
    {"webm", "video/webm"},
    {"webp", "image/webp"},
    {"xls", "application/vnd.ms-excel"},
    {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {"xml", "application/xml"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
    {"zip", "application/zip"},
};

/* What a page or a mail program shows without having a name for it. */
static const struct media beginnings[] = {
    {"\x89PNG", "image/png"},
    {"\xFF\xD8\xFF", "image/jpeg"},
    {"GIF8", "image/gif"},
    {"%PDF-", "application/pdf"},
};

static const char *find(struct mq_str name, struct mq_str head)
{
    const char *dot = name.len ? memrchr(name.data, '.', name.len) : NULL;
    size_t at = dot ? (size_t)(dot + 1 - name.data) : name.len;
    struct mq_str extension = {name.data + at, name.len - at};
    for (size_t i = 0; dot && i < sizeof extensions / sizeof *extensions; i++) {
        if (mq_str_equal_nocase(extension, mq_str_of(extensions[i].mark))) {
            return extensions[i].type;
        }
    }
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        if (mq_str_begins(head, beginnings[i].mark)) {
            return beginnings[i].type;
        }
    }
    return OCTETS;
}

/* The beginning of a text proves UTF-8 only with a character that is not ASCII: what follows may be
 * of any charset. */
static bool is_utf8(struct mq_str text, bool whole)
{
    if (whole) {
        return mq_utf8_valid(text);
    }
    for (int cut = 0; cut < 3 && text.len > 0 && !mq_utf8_valid(text); cut++) {
        text.len--; /* it may end within a character */
    }
    return mq_utf8_valid(text) && !mq_str_ascii(text);
}

/* Without a charset, a text is ASCII by definition (RFC 2046, section 4.1.2). */
zend_string *mq_php_media_type(struct mq_str name, struct mq_str content, bool whole)
{
    const char *type = find(name, content);
    bool utf8 = mq_str_begins(mq_str_of(type), "text/") && is_utf8(content, whole);
    return strpprintf(0, "%s%s", type, utf8 ? "; charset=utf-8" : "");
}
