/* Finds the METHOD of calendar data. Mail programs show an invitation only if the type of its part
 * names the same method (RFC 6047, 2.4), so the type is made from the data. */
#include "mime/compose/calendar.h"

#include <string.h>

#include "core/ascii.h"

#define SEEN 64 /* octets of a line that are looked at; a METHOD has fewer */

static const struct {
    const char *name, *type;
} methods[] = {
    {"PUBLISH", "text/calendar; method=PUBLISH"},
    {"REQUEST", "text/calendar; method=REQUEST"},
    {"REPLY", "text/calendar; method=REPLY"},
    {"ADD", "text/calendar; method=ADD"},
    {"CANCEL", "text/calendar; method=CANCEL"},
    {"REFRESH", "text/calendar; method=REFRESH"},
    {"COUNTER", "text/calendar; method=COUNTER"},
    {"DECLINECOUNTER", "text/calendar; method=DECLINECOUNTER"},
};

static enum mq_status fault(const char *text, struct mq_error *err)
{
    return mq_error_set(err, MQ_MESSAGE, "calendar", "calendar: %s", text);
}

/* Takes a content line, unfolded (RFC 5545, 3.1); returns its beginning, which is in `seen`. */
static struct mq_str take_line(struct mq_str *rest, char seen[SEEN])
{
    struct mq_str line = {seen, 0};
    do {
        struct mq_str part = mq_str_cut_at(rest, '\n');
        part = mq_str_skip(part, line.len > 0);
        part.len -= part.len > 0 && part.data[part.len - 1] == '\r';
        part.len = part.len < SEEN - line.len ? part.len : SEEN - line.len;
        if (part.len > 0) {
            memcpy(seen + line.len, part.data, part.len);
        }
        line.len += part.len;
    } while (line.len > 0 && rest->len > 0 && mq_is_blank(rest->data[0]));
    return line;
}

/* The type for the value of a METHOD, and that of an earlier one (NULL: none). */
static enum mq_status take_method(struct mq_str value, const char **type, struct mq_error *err)
{
    char shown[2 * SEEN];
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (!mq_str_equal_nocase(value, mq_str_of(methods[i].name))) {
            continue;
        }
        if (*type && *type != methods[i].type) {
            return fault("it has different METHODs; make a mail of each", err);
        }
        *type = methods[i].type;
        return MQ_OK;
    }
    mq_str_printable(shown, sizeof shown, 0, value);
    return mq_error_set(
        err, MQ_MESSAGE, "calendar",
        "calendar: METHOD \"%s\" is none of RFC 5546; give PUBLISH, REQUEST, REPLY, "
        "ADD, CANCEL, REFRESH, COUNTER or DECLINECOUNTER",
        shown);
}

/* Whether the line is a METHOD; *value is what it says. */
static bool is_method(struct mq_str line, struct mq_str *value)
{
    if (!mq_str_begins_nocase(line, "METHOD:") && !mq_str_begins_nocase(line, "METHOD;")) {
        return false;
    }
    mq_str_cut_at(&line, ':');
    *value = mq_str_trim(line);
    return true;
}

struct reader {
    size_t depth; /* of components */
    bool has_method;
    const char *type; /* NULL: no METHOD was found yet */
};

static enum mq_status begin(struct reader *reader, struct mq_str line, struct mq_error *err)
{
    if (!mq_str_equal_nocase(mq_str_trim(line), MQ_STR("BEGIN:VCALENDAR"))) {
        return fault(reader->type ? "text follows END:VCALENDAR; remove it"
                                  : "it does not begin with BEGIN:VCALENDAR; give the contents of "
                                    "an .ics file",
                     err);
    }
    reader->depth = 1;
    reader->has_method = false;
    return MQ_OK;
}

static enum mq_status end(struct reader *reader, struct mq_error *err)
{
    reader->depth--;
    return reader->depth > 0 || reader->has_method
               ? MQ_OK
               : fault("it has no METHOD, so nobody would be invited; add METHOD:REQUEST (or "
                       "METHOD:PUBLISH for an event to be noted), or attach it",
                       err);
}

static enum mq_status read_line(struct reader *reader, struct mq_str line, struct mq_error *err)
{
    struct mq_str value;
    if (reader->depth == 0) {
        return begin(reader, line, err);
    }
    if (mq_str_begins_nocase(line, "END:")) {
        return end(reader, err);
    }
    reader->depth += mq_str_begins_nocase(line, "BEGIN:");
    if (reader->depth > 1 || !is_method(line, &value)) {
        return MQ_OK;
    }
    if (reader->has_method) {
        return fault("it has two METHODs; keep one", err);
    }
    reader->has_method = true;
    return take_method(value, &reader->type, err);
}

enum mq_status mq_calendar_type(struct mq_str ics, const char **type, struct mq_error *err)
{
    char seen[SEEN];
    struct reader reader = {0};
    while (ics.len > 0) {
        struct mq_str line = take_line(&ics, seen);
        if (line.len > 0) {
            MQ_TRY(read_line(&reader, line, err));
        }
    }
    *type = reader.type;
    return reader.depth > 0 ? fault("END:VCALENDAR is missing; give all of the data", err)
           : reader.type    ? MQ_OK
                            : fault("it is empty; leave it out", err);
}
