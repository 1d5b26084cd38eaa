/* Composes the messages that it reads on standard input, and writes them to standard output.
 *
 * A message is read as records, each a letter, the length of its data in four bytes (little
 * endian), and the data:
 *   F T C B R  a mailbox of From, To, Cc, Bcc, Reply-To: one text, or a name, NUL and the address
 *   S X H K    subject, text, HTML, calendar
 *   h          a header field: name, NUL, value
 *   P          an attachment or inline part: name, NUL, type, NUL, cid; after it
 *   D or O     its content, or a path that it is read from
 *   U I d      a URI for unsubscribing, the Message-ID, the date as a decimal number
 *   E          the end: compose it
 * Written is a status byte (enum mq_status), and twice a length in four bytes and that much: the
 * message or the error, and the envelope, one address a line. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mime/compose/composer.h"
#include "mime/wire/envelope.h"

#define ADDRESSES_MAX 400
#define ITEMS_MAX     64
#define RECORDS_MAX   1000

/* A message while it is read; what it points to is in `records`. */
struct message {
    char *records[RECORDS_MAX];
    size_t record_count;
    struct mq_compose_address addresses[5][ADDRESSES_MAX];
    size_t address_count[5];
    struct mq_compose_header headers[ITEMS_MAX];
    struct mq_compose_part parts[ITEMS_MAX];
    struct mq_str unsubscribe[ITEMS_MAX];
    struct mq_compose_fields fields;
};

static void die(const char *what)
{
    fprintf(stderr, "roundtrip: %s\n", what);
    exit(1);
}

static struct mq_str behind_nul(struct mq_str *text)
{
    const char *nul = memchr(text->data, '\0', text->len);
    if (nul == NULL) {
        return (struct mq_str){NULL, 0};
    }
    size_t n = (size_t)(nul - text->data);
    struct mq_str rest = {nul + 1, text->len - n - 1};
    text->len = n;
    return rest;
}

static void take_address(struct message *message, int list, struct mq_str data)
{
    static const char *const names[] = {"from", "to", "cc", "bcc", "reply_to"};
    size_t n = message->address_count[list]++;
    if (n == ADDRESSES_MAX) {
        die("too many addresses");
    }
    struct mq_compose_address *item = &message->addresses[list][n];
    *item = (struct mq_compose_address){.address = data, .field = names[list]};
    struct mq_str address = behind_nul(&data);
    if (address.data != NULL) {
        item->name = data;
        item->address = address;
    }
}

static void take_part(struct message *message, struct mq_str data)
{
    struct mq_compose_part *part = &message->parts[message->fields.part_count++];
    struct mq_str type = behind_nul(&data);
    struct mq_str cid = behind_nul(&type);
    *part = (struct mq_compose_part){
        .name = data, .type = type, .cid = cid, .fd = -1, .field = "parts"};
}

static void take_content(struct message *message, char kind, struct mq_str data)
{
    struct mq_compose_part *part = &message->parts[message->fields.part_count - 1];
    struct stat st;
    if (kind == 'D') {
        part->data = data;
        return;
    }
    part->fd = open(data.data, O_RDONLY | O_CLOEXEC);
    if (part->fd < 0 || fstat(part->fd, &st) != 0) {
        die("a file cannot be opened");
    }
    part->data.len = (size_t)st.st_size;
}

static void take_record(struct message *message, char kind, struct mq_str data)
{
    struct mq_compose_fields *fields = &message->fields;
    static const char lists[] = "FTCBR";
    const char *list = strchr(lists, kind);
    struct mq_str *texts[] = {&fields->subject, &fields->text, &fields->html, &fields->calendar};
    static const char names[] = "SXHK";
    const char *text = strchr(names, kind);
    if (fields->part_count == ITEMS_MAX || fields->header_count == ITEMS_MAX ||
        fields->unsubscribe_count == ITEMS_MAX) {
        die("too many items");
    }
    if (list != NULL) {
        take_address(message, (int)(list - lists), data);
        return;
    }
    if (text != NULL) {
        *texts[text - names] = data;
        return;
    }
    switch (kind) {
    case 'I':
        fields->message_id = data.data;
        break;
    case 'd':
        fields->date_s = strtoll(data.data, NULL, 10);
        break;
    case 'U':
        message->unsubscribe[fields->unsubscribe_count++] = data;
        break;
    case 'h': {
        struct mq_compose_header *header = &message->headers[fields->header_count++];
        header->value = behind_nul(&data);
        header->name = data;
        break;
    }
    case 'P':
        take_part(message, data);
        break;
    case 'D':
    case 'O':
        take_content(message, kind, data);
        break;
    default:
        die("unknown record");
    }
}

/* False at the end of the input. */
static bool read_message(struct message *message)
{
    for (;;) {
        unsigned char head[5];
        size_t got = fread(head, 1, sizeof head, stdin);
        if (got == 0 && message->record_count == 0) {
            return false;
        }
        if (got != sizeof head || message->record_count == RECORDS_MAX) {
            die("a record is cut, or there are too many");
        }
        if (head[0] == 'E') {
            return true;
        }
        size_t len =
            (size_t)head[1] | (size_t)head[2] << 8 | (size_t)head[3] << 16 | (size_t)head[4] << 24;
        char *data = malloc(len + 1);
        if (data == NULL || fread(data, 1, len, stdin) != len) {
            die("a record is cut");
        }
        data[len] = '\0';
        message->records[message->record_count++] = data;
        take_record(message, (char)head[0], (struct mq_str){data, len});
    }
}

static void clear_message(struct message *message)
{
    for (size_t i = 0; i < message->record_count; i++) {
        free(message->records[i]);
    }
    for (size_t i = 0; i < message->fields.part_count; i++) {
        if (message->parts[i].fd >= 0) {
            close(message->parts[i].fd);
        }
    }
    memset(message, 0, sizeof *message);
}

static void put(struct mq_str data)
{
    unsigned char len[4] = {(unsigned char)data.len, (unsigned char)(data.len >> 8),
                            (unsigned char)(data.len >> 16), (unsigned char)(data.len >> 24)};
    fwrite(len, 1, sizeof len, stdout);
    fwrite(data.data, 1, data.len, stdout);
}

static void answer(struct message *message)
{
    struct mq_compose_fields *fields = &message->fields;
    struct mq_compose_addresses *lists[] = {&fields->from, &fields->to, &fields->cc, &fields->bcc,
                                            &fields->reply_to};
    struct mq_envelope envelope = {0};
    struct mq_buffer out;
    struct mq_buffer lines;
    struct mq_error err;
    for (size_t i = 0; i < 5; i++) {
        *lists[i] = (struct mq_compose_addresses){message->addresses[i], message->address_count[i]};
    }
    fields->headers = message->headers;
    fields->parts = message->parts;
    fields->unsubscribe = message->unsubscribe;
    out = (struct mq_buffer){0};
    lines = (struct mq_buffer){0};
    enum mq_status status = mq_compose(fields, &out, &envelope, &err);
    if (status == MQ_OK) {
        mq_buffer_cstr(&lines, envelope.from);
        for (size_t i = 0; i < envelope.recipients.count; i++) {
            mq_buffer_char(&lines, '\n');
            mq_buffer_cstr(&lines, envelope.recipients.items[i]);
        }
    }
    putchar((int)status);
    put(status == MQ_OK ? mq_buffer_view(&out) : mq_str_of(err.text));
    put(mq_buffer_view(&lines));
    fflush(stdout);
    mq_envelope_clear(&envelope);
    mq_buffer_clear(&lines);
    mq_buffer_clear(&out);
}

int main(void)
{
    static struct message message;
    while (read_message(&message)) {
        answer(&message);
        clear_message(&message);
    }
    return ferror(stdout) ? 1 : 0;
}
