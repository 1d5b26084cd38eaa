/* The records that tests read: accepted mails, violations of the protocol, the dialogue, the
 * counters. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "conn.h"

static void add_text(struct buffer *line, const char *text)
{
    buffer_add(line, text, strlen(text));
}

__attribute__((format(printf, 2, 3))) static void add(struct buffer *line, const char *format, ...)
{
    char text[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    add_text(line, text);
}

static void add_time(struct buffer *line)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    add(line, "%lld.%06ld", (long long)now.tv_sec, now.tv_nsec / 1000);
}

/* Control characters as \xHH: a field never holds a tab or a line end. */
static void add_escaped(struct buffer *line, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte < 0x20 || byte == 0x7f || byte == '\\') {
            add(line, "\\x%02x", byte);
        } else {
            buffer_add(line, text + i, 1);
        }
    }
}

static void add_field(struct buffer *line, const char *text)
{
    buffer_add(line, "\t", 1);
    add_escaped(line, text, strlen(text));
}

/* One write(2) to a file opened with O_APPEND: lines are whole and in order, even if a process is
 * killed. */
static void emit(int fd, struct buffer *line)
{
    if (fd >= 0 && line->length > 0) {
        ssize_t n = write(fd, line->data, line->length);
        if (n != (ssize_t)line->length) {
            fail(74, "the log cannot be written: %s", strerror(errno));
        }
    }
    line->length = 0;
}

static int append_open(const char *path)
{
    if (path == NULL) {
        return -1;
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0) {
        fail(73, "%s: %s", path, strerror(errno));
    }
    return fd;
}

void log_open(struct sink *sink)
{
    sink->log = append_open(sink->options.log);
    sink->transcript = append_open(sink->options.transcript);
}

void log_accepted(const struct conn *c)
{
    static struct buffer line, tail;
    const char *recipient = c->mail.recipients.data;
    if (c->sink->log < 0) {
        return;
    }
    tail.length = 0;
    add_field(&tail, c->mail.from[0] != '\0' ? c->mail.from : "<>");
    add(&tail, "\t%lld\t%016llx\n", (long long)c->message.size,
        (unsigned long long)c->message.hash);
    for (size_t i = 0; i < c->mail.count; i++) {
        add_time(&line);
        add(&line, "\t%llu", (unsigned long long)c->number);
        add_field(&line, c->message.testid[0] != '\0' ? c->message.testid : "-");
        add_field(&line, recipient);
        buffer_add(&line, tail.data, tail.length);
        recipient += strlen(recipient) + 1;
    }
    emit(c->sink->log, &line);
}

void log_violation(struct conn *c, const char *kind, const char *detail)
{
    static struct buffer line;
    c->sink->counters.violations++;
    add_text(&line, "violation\t");
    add_time(&line);
    add(&line, "\t%llu", (unsigned long long)c->number);
    add_field(&line, kind);
    add_field(&line, detail);
    buffer_add(&line, "\n", 1);
    emit(c->sink->log, &line);
}

void log_reload(struct sink *sink, size_t rules, const char *error)
{
    static struct buffer line;
    add_text(&line, "reload\t");
    add_time(&line);
    add(&line, "\t%zu", rules);
    add_field(&line, error != NULL ? error : "ok");
    buffer_add(&line, "\n", 1);
    emit(sink->log, &line);
}

void log_transcript(const struct conn *c, char direction, const char *text, size_t length)
{
    static struct buffer line;
    if (c->sink->transcript < 0) {
        return;
    }
    const char *end = text + length;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *next = newline != NULL ? newline + 1 : end;
        const char *stop = newline != NULL ? newline : end;
        if (newline != NULL && stop > text && stop[-1] == '\r') {
            stop--;
        }
        add_time(&line);
        add(&line, "\t%llu\t%c\t", (unsigned long long)c->number, direction);
        add_escaped(&line, text, (size_t)(stop - text));
        buffer_add(&line, "\n", 1);
        text = next;
    }
    emit(c->sink->transcript, &line);
}

void log_stats(const struct sink *sink)
{
    const struct counters *n = &sink->counters;
    char line[512];
    int length =
        snprintf(line, sizeof line,
                 "connections=%llu open=%llu peak=%llu mails=%llu recipients=%llu bytes=%llu "
                 "refused=%llu violations=%llu reloads=%llu\n",
                 (unsigned long long)n->connections, (unsigned long long)n->open,
                 (unsigned long long)n->peak, (unsigned long long)n->mails,
                 (unsigned long long)n->recipients, (unsigned long long)n->bytes,
                 (unsigned long long)n->refused, (unsigned long long)n->violations,
                 (unsigned long long)n->reloads);
    if (sink->options.stats) {
        fputs(line, stdout);
        fflush(stdout);
    }
    if (sink->options.stats_file != NULL &&
        !file_replace(sink->options.stats_file, line, (size_t)length)) {
        fail(73, "%s: cannot be written", sink->options.stats_file);
    }
}

void message_save(struct conn *c)
{
    struct sink *sink = c->sink;
    static struct buffer envelope;
    char path[4096];
    int length = snprintf(path, sizeof path - 4, "%s/%08llu", sink->options.save_dir,
                          (unsigned long long)++sink->saved);
    if (length < 0 || (size_t)length >= sizeof path - 4) {
        fail(73, "--save: the path is too long");
    }
    add_text(&envelope, "time\t");
    add_time(&envelope);
    add(&envelope, "\nconnection\t%llu\nfrom", (unsigned long long)c->number);
    add_field(&envelope, c->mail.from);
    const char *recipient = c->mail.recipients.data;
    for (size_t i = 0; i < c->mail.count; i++) {
        add_text(&envelope, "\nto");
        add_field(&envelope, recipient);
        recipient += strlen(recipient) + 1;
    }
    add(&envelope, "\nauthenticated\t%d\ntls\t%d\n", c->authenticated, c->ssl != NULL);
    memcpy(path + length, ".env", 5);
    bool saved = file_replace(path, envelope.data, envelope.length);
    memcpy(path + length, ".eml", 5);
    saved = saved && file_replace(path, c->message.text.data, c->message.text.length);
    envelope.length = 0;
    if (!saved) {
        fail(73, "%s: cannot be written", path);
    }
}
