/* Splits HTML as browsers do (WHATWG HTML, 13.2.5), without building a tree: of broken HTML too
 * every byte is read once. */
#include "mime/text/token.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"

#define BLANKS         " \t\n\v\f\r"
#define REFERENCE_SIZE 32 /* of "&name;" and "&#x1F389;", and more than these have */

static struct mq_str take(struct mq_str *text, size_t len)
{
    struct mq_str taken = {text->data, len};
    *text = mq_str_skip(*text, len);
    return taken;
}

/* Takes what comes before the first of `stops`, from the character `from` on, or all. */
static struct mq_str take_until(struct mq_str *text, const char *stops, size_t from)
{
    size_t n = from < text->len ? from : text->len;
    while (n < text->len && (text->data[n] == '\0' || strchr(stops, text->data[n]) == NULL)) {
        n++;
    }
    return take(text, n);
}

static void skip_any(struct mq_str *text, const char *characters)
{
    size_t n = 0;
    while (n < text->len && text->data[n] != '\0' && strchr(characters, text->data[n]) != NULL) {
        n++;
    }
    *text = mq_str_skip(*text, n);
}

/* Skips all up to the end of `mark`, which is looked for from the character `from` on. */
static void skip_behind(struct mq_str *text, const char *mark, size_t from)
{
    const char *at = memmem(text->data + from, text->len - from, mark, strlen(mark));
    *text = mq_str_skip(*text, at ? (size_t)(at - text->data) + strlen(mark) : text->len);
}

static bool begins_with(struct mq_str text, char c)
{
    return text.len > 0 && text.data[0] == c;
}

/* ---- tags ---- */

/* Takes an attribute off the rest of a tag; false where the tag ends. */
static bool take_attribute(struct mq_str *rest, struct mq_str *name, struct mq_str *value)
{
    *value = MQ_STR("");
    skip_any(rest, BLANKS "/");
    if (rest->len == 0 || rest->data[0] == '>') {
        return false;
    }
    *name = take_until(rest, BLANKS "/>=", 1);
    skip_any(rest, BLANKS);
    if (!begins_with(*rest, '=')) {
        return true;
    }
    take(rest, 1);
    skip_any(rest, BLANKS);
    if (begins_with(*rest, '"') || begins_with(*rest, '\'')) {
        const char quote[] = {rest->data[0], '\0'};
        take(rest, 1);
        *value = take_until(rest, quote, 0);
        take(rest, rest->len > 0);
    } else {
        *value = take_until(rest, BLANKS ">", 0);
    }
    return true;
}

/* False: the tag has no end. */
static bool take_tag(struct mq_str *html, struct mq_html_token *token)
{
    struct mq_str name, value;
    token->kind = html->data[1] == '/' ? MQ_HTML_CLOSE : MQ_HTML_OPEN;
    take(html, token->kind == MQ_HTML_CLOSE ? 2 : 1);
    token->name = take_until(html, BLANKS "/>", 0);
    token->body = *html;
    while (take_attribute(html, &name, &value)) {
    }
    token->body.len -= html->len;
    return take(html, html->len > 0).len > 0;
}

bool mq_html_take(struct mq_str *html, struct mq_html_token *token)
{
    while (html->len > 0) {
        char next = html->len > 1 && html->data[0] == '<' ? html->data[1] : ' ';
        bool close = next == '/' && html->len > 2;
        if (mq_is_alpha(close ? html->data[2] : next)) {
            return take_tag(html, token);
        }
        if (memchr("!?/", next, 3) == NULL) {
            token->kind = MQ_HTML_TEXT;
            token->body = take_until(html, "<", 1);
            return true;
        }
        bool comment = mq_str_begins(*html, "<!--");
        skip_behind(html, comment ? "-->" : ">", 2); /* "<!-->" is a whole comment */
    }
    return false;
}

void mq_html_skip_raw(struct mq_str *html, struct mq_str name)
{
    while (html->len > 0) {
        struct mq_str rest = *html;
        if (mq_str_begins(rest, "</")) {
            take(&rest, 2);
            if (mq_str_equal_nocase(take_until(&rest, BLANKS "/>", 0), name)) {
                return;
            }
        }
        take_until(html, "<", 1);
    }
}

bool mq_html_attribute(const struct mq_html_token *tag, const char *name, struct mq_buffer *value)
{
    struct mq_str rest = tag->body;
    struct mq_str found, raw;
    while (take_attribute(&rest, &found, &raw)) {
        if (mq_str_equal_nocase(found, mq_str_of(name))) {
            value->len = 0; /* not reset: a failure is to be seen */
            mq_html_decode(value, raw);
            return true;
        }
    }
    return false;
}

/* ---- character references ---- */

/* "name=character": those of HTML 4, but for Greek and mathematics. */
static const char names[] =
    " amp=& lt=< gt=> apos=' quot=\" euro=€ ndash=– mdash=— hellip=… bull=• lsquo=‘ rsquo=’ "
    "sbquo=‚ ldquo=“ rdquo=” bdquo=„ lsaquo=‹ rsaquo=› dagger=† Dagger=‡ permil=‰ trade=™ larr=← "
    "uarr=↑ rarr=→ darr=↓ harr=↔ minus=− asymp=≈ ne=≠ le=≤ ge=≥ infin=∞ hearts=♥ spades=♠ clubs=♣ "
    "diams=♦ loz=◊ OElig=Œ oelig=œ Scaron=Š scaron=š Yuml=Ÿ fnof=ƒ circ=ˆ tilde=˜ prime=′ Prime=″ "
    "ensp=\u2002 emsp=\u2003 thinsp=\u2009 zwnj=\u200C zwj=\u200D lrm=\u200E rlm=\u200F "
    "nbsp=\302\240 iexcl=¡ cent=¢ pound=£ curren=¤ yen=¥ brvbar=¦ sect=§ uml=¨ copy=© ordf=ª "
    "laquo=« not=¬ shy=\302\255 reg=® macr=¯ deg=° plusmn=± sup2=² sup3=³ acute=´ micro=µ para=¶ "
    "middot=· cedil=¸ sup1=¹ ordm=º raquo=» frac14=¼ frac12=½ frac34=¾ iquest=¿ Agrave=À Aacute=Á "
    "Acirc=Â Atilde=Ã Auml=Ä Aring=Å AElig=Æ Ccedil=Ç Egrave=È Eacute=É Ecirc=Ê Euml=Ë Igrave=Ì "
    "Iacute=Í Icirc=Î Iuml=Ï ETH=Ð Ntilde=Ñ Ograve=Ò Oacute=Ó Ocirc=Ô Otilde=Õ Ouml=Ö times=× "
    "Oslash=Ø Ugrave=Ù Uacute=Ú Ucirc=Û Uuml=Ü Yacute=Ý THORN=Þ szlig=ß agrave=à aacute=á acirc=â "
    "atilde=ã auml=ä aring=å aelig=æ ccedil=ç egrave=è eacute=é ecirc=ê euml=ë igrave=ì iacute=í "
    "icirc=î iuml=ï eth=ð ntilde=ñ ograve=ò oacute=ó ocirc=ô otilde=õ ouml=ö divide=÷ oslash=ø "
    "ugrave=ù uacute=ú ucirc=û uuml=ü yacute=ý thorn=þ yuml=ÿ ";

static bool put_named(struct mq_buffer *out, const char *name)
{
    char key[REFERENCE_SIZE + 2];
    snprintf(key, sizeof key, " %s=", name);
    const char *found = strstr(names, key);
    if (found != NULL) {
        found += strlen(key);
        mq_buffer_append(out, found, strcspn(found, " "));
    }
    return found != NULL;
}

static bool put_number(struct mq_buffer *out, const char *digits)
{
    bool hex = *digits == 'x' || *digits == 'X';
    char *end;
    unsigned long code = strtoul(digits + hex, &end, hex ? 16 : 10);
    bool valid = *end == '\0' && mq_hex_value(digits[hex]) >= 0 && code > 0 && code < 0x110000 &&
                 (code < 0xD800 || code > 0xDFFF);
    if (valid) {
        mq_buffer_utf8(out, (uint32_t)code);
    }
    return valid;
}

/* Takes a reference off the text, which begins with "&", and appends what it is; false: none. */
static bool take_reference(struct mq_str *text, struct mq_buffer *out)
{
    char name[REFERENCE_SIZE];
    size_t most = text->len < sizeof name ? text->len : sizeof name;
    const char *end = memchr(text->data, ';', most);
    size_t len = end != NULL ? (size_t)(end - text->data) - 1 : 0;
    memcpy(name, text->data + 1, len);
    name[len] = '\0';
    bool known = len > 0 && (name[0] == '#' ? put_number(out, name + 1) : put_named(out, name));
    take(text, known ? len + 2 : 0);
    return known;
}

void mq_html_decode(struct mq_buffer *out, struct mq_str text)
{
    while (text.len > 0) {
        if (!begins_with(text, '&') || !take_reference(&text, out)) {
            mq_buffer_str(out, take_until(&text, "&", 1));
        }
    }
}
