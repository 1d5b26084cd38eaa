/* Writes the texts and parts of a message, and the multiparts around them. */
#include "mime/compose/part_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "mime/compose/calendar.h"
#include "mime/compose/part.h"

#define FRAME_SIZE 2048 /* headers of texts and multiparts, boundaries, a line in reserve */

enum multipart { MIXED = 1, ALTERNATIVE, RELATED };

/* ---- what is to be written ---- */

static void prepare_text(struct mq_text_part *part, const char *type, struct mq_str text,
                         size_t *total)
{
    if (text.data != NULL) {
        size_t size = 0;
        *part = (struct mq_text_part){type, text, mq_encode_text_choose(text, &size)};
        *total += size;
    }
}

static enum mq_status prepare_parts(const struct mq_compose_fields *fields,
                                    struct mq_part_tree *tree, struct mq_error *err)
{
    tree->parts = fields->part_count > 0 ? calloc(fields->part_count, sizeof *tree->parts) : NULL;
    if (fields->part_count > 0 && tree->parts == NULL) {
        return mq_error_nomem(err);
    }
    for (size_t i = 0; i < fields->part_count; i++) {
        struct mq_part *part = &tree->parts[tree->count++];
        MQ_TRY(mq_part_prepare(&fields->parts[i], part, &tree->size, err));
        bool shown = part->source->cid.len > 0;
        bool eight_bit = part->encoding == MQ_ENCODING_8BIT;
        tree->inline_count += shown;
        tree->eight_bit_inline |= eight_bit && shown;
        tree->eight_bit_attached |= eight_bit && !shown;
    }
    return MQ_OK;
}

/* Checks the cids. Without HTML nothing refers to them. Of two parts with the same cid only one
 * would be shown. */
static enum mq_status check_inline(const struct mq_part_tree *tree, struct mq_error *err)
{
    for (size_t i = 0; i < tree->count; i++) {
        const struct mq_compose_part *part = tree->parts[i].source;
        if (part->cid.len > 0 && tree->html.text.data == NULL) {
            return mq_error_set(err, MQ_MESSAGE, part->field,
                                "%s: it has a cid, but there is no HTML to show it; give html, or "
                                "attach it",
                                part->field);
        }
        for (size_t other = 0; part->cid.len > 0 && other < i; other++) {
            if (mq_str_equal(tree->parts[other].source->cid, part->cid)) {
                return mq_error_set(err, MQ_MESSAGE, part->field,
                                    "%s: another part has the same cid; give each its own",
                                    part->field);
            }
        }
    }
    return MQ_OK;
}

/* ---- boundaries ---- */

static bool has_stem(enum mq_encoding encoding, struct mq_str content, const char *stem)
{
    /* Each boundary has "=_" before the stem, and encoded content cannot contain "=_". */
    return (encoding == MQ_ENCODING_7BIT || encoding == MQ_ENCODING_8BIT) && content.len > 0 &&
           memmem(content.data, content.len, stem, MQ_BOUNDARY_STEM) != NULL;
}

static bool is_stem_used(const struct mq_part_tree *tree)
{
    bool used = has_stem(tree->text.encoding, tree->text.text, tree->stem) ||
                has_stem(tree->html.encoding, tree->html.text, tree->stem) ||
                has_stem(tree->calendar.encoding, tree->calendar.text, tree->stem);
    for (size_t i = 0; !used && i < tree->count; i++) {
        used = has_stem(tree->parts[i].encoding, tree->parts[i].content, tree->stem);
    }
    return used;
}

static void choose_stem(struct mq_part_tree *tree, struct mq_str message_id)
{
    uint64_t cycle = 0;
    do {
        uint64_t hash = mq_hash(MQ_HASH_BEGIN ^ cycle++, message_id);
        snprintf(tree->stem, sizeof tree->stem, "%016llx",
                 (unsigned long long)mq_hash_spread(hash));
    } while (is_stem_used(tree));
}

enum mq_status mq_part_tree_prepare(const struct mq_compose_fields *fields, struct mq_str text,
                                    struct mq_part_tree *tree, struct mq_error *err)
{
    const char *type = NULL;
    tree->size = FRAME_SIZE + 64 * fields->part_count;
    if (fields->calendar.data != NULL) {
        MQ_TRY(mq_calendar_type(fields->calendar, &type, err));
    }
    prepare_text(&tree->text, "text/plain", text, &tree->size);
    prepare_text(&tree->html, "text/html", fields->html, &tree->size);
    prepare_text(&tree->calendar, type, fields->calendar, &tree->size);
    MQ_TRY(prepare_parts(fields, tree, err));
    MQ_TRY(check_inline(tree, err));
    choose_stem(tree, mq_str_of(fields->message_id));
    return MQ_OK;
}

void mq_part_tree_clear(struct mq_part_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        mq_part_clear(&tree->parts[i]);
    }
    free(tree->parts);
    *tree = (struct mq_part_tree){.count = 0};
}

/* ---- writing: the line end after a part belongs to the delimiter that follows ---- */

static void put_text(struct mq_buffer *out, const struct mq_text_part *part)
{
    if (part->text.data == NULL) {
        return;
    }
    mq_buffer_printf(out,
                     "Content-Type: %s; charset=utf-8\r\nContent-Transfer-Encoding: %s\r\n\r\n",
                     part->type, mq_encoding_name(part->encoding));
    mq_encode_text(out, part->text, part->encoding);
    if (part->encoding == MQ_ENCODING_BASE64 && !out->failed) {
        out->len -= 2;
    }
}

/* Writes a boundary. Each kind begins differently: no boundary is the beginning of another. */
static void put_boundary(const struct mq_part_tree *tree, struct mq_buffer *out,
                         enum multipart kind)
{
    static const char *const begins[] = {"", "=_1_", "=_2_", "=_3_"};
    mq_buffer_append(out, begins[kind], 4);
    mq_buffer_append(out, tree->stem, MQ_BOUNDARY_STEM);
}

/* Writes the delimiter before a part. Its first line end, after a header, is the empty line. */
static void put_delimiter(const struct mq_part_tree *tree, struct mq_buffer *out,
                          enum multipart kind)
{
    mq_buffer_cstr(out, "\r\n--");
    put_boundary(tree, out, kind);
    mq_buffer_cstr(out, "\r\n");
}

/* Writes the header of a multipart and the first delimiter. */
static void open_multipart(const struct mq_part_tree *tree, struct mq_buffer *out,
                           enum multipart kind)
{
    static const char *const types[] = {"", "multipart/mixed; boundary=\"",
                                        "multipart/alternative; boundary=\"",
                                        "multipart/related; type=\"text/html\";\r\n boundary=\""};
    mq_buffer_cstr(out, "Content-Type: ");
    mq_buffer_cstr(out, types[kind]);
    put_boundary(tree, out, kind);
    mq_buffer_cstr(out, "\"\r\n");
    if (tree->eight_bit_inline || (kind == MIXED && tree->eight_bit_attached)) {
        mq_buffer_cstr(out, "Content-Transfer-Encoding: 8bit\r\n");
    }
    put_delimiter(tree, out, kind);
}

static void close_multipart(const struct mq_part_tree *tree, struct mq_buffer *out,
                            enum multipart kind)
{
    mq_buffer_cstr(out, "\r\n--");
    put_boundary(tree, out, kind);
    mq_buffer_cstr(out, "--");
}

/* Writes the parts that the HTML shows (RELATED), or the others (MIXED), and ends the multipart. */
static enum mq_status put_parts(const struct mq_part_tree *tree, struct mq_buffer *out,
                                enum multipart kind, struct mq_error *err)
{
    for (size_t i = 0; i < tree->count; i++) {
        bool shown = tree->parts[i].source->cid.len > 0;
        if (shown == (kind == RELATED)) {
            put_delimiter(tree, out, kind);
            MQ_TRY(mq_part_write(&tree->parts[i], out, err));
        }
    }
    close_multipart(tree, out, kind);
    return MQ_OK;
}

enum mq_status mq_part_tree_write(const struct mq_part_tree *tree, struct mq_buffer *out,
                                  struct mq_error *err)
{
    bool mixed = tree->count > tree->inline_count;
    bool both = tree->text.text.data != NULL && tree->html.text.data != NULL;
    bool alternative = both || tree->calendar.text.data != NULL;
    bool related = tree->inline_count > 0;
    if (mixed) {
        open_multipart(tree, out, MIXED);
    }
    if (alternative) {
        open_multipart(tree, out, ALTERNATIVE);
    }
    put_text(out, &tree->text);
    if (both) {
        put_delimiter(tree, out, ALTERNATIVE);
    }
    if (related) {
        open_multipart(tree, out, RELATED);
    }
    put_text(out, &tree->html);
    if (related) {
        MQ_TRY(put_parts(tree, out, RELATED, err));
    }
    if (tree->calendar.text.data != NULL) { /* the last one, which mail programs prefer */
        put_delimiter(tree, out, ALTERNATIVE);
        put_text(out, &tree->calendar);
    }
    if (alternative) {
        close_multipart(tree, out, ALTERNATIVE);
    }
    if (mixed) {
        MQ_TRY(put_parts(tree, out, MIXED, err));
    }
    if (out->len >= 2 && memcmp(out->data + out->len - 2, "\r\n", 2) != 0) {
        mq_buffer_cstr(out, "\r\n");
    }
    return MQ_OK;
}
