/* Which multiparts a message needs: alternative, related, mixed, and no more than that. */
#include "mime/compose/part_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"

/* Headers of the texts and multiparts, boundaries, and what is reserved ahead for a line. */
#define FRAME_SIZE 2048

enum multipart { MIXED = 1, ALTERNATIVE, RELATED };

/* ---- what is to be written ---- */

static void prepare_text(struct mq_text_part *part, const char *type, struct mq_str text,
                         size_t *total)
{
    if (text.data != NULL) {
        size_t size = 0;
        *part = (struct mq_text_part){.given = true, .type = type, .text = text};
        part->encoding = mq_encode_text_choose(text, &size);
        *total += size;
    }
}

static enum mq_status prepare_parts(const struct mq_compose_fields *fields,
                                    struct mq_part_tree *tree, struct mq_error *err)
{
    if (fields->part_count == 0) {
        return MQ_OK;
    }
    tree->parts = calloc(fields->part_count, sizeof *tree->parts);
    if (tree->parts == NULL) {
        return mq_error_nomem(err);
    }
    for (; tree->count < fields->part_count; tree->count++) {
        struct mq_part *part = &tree->parts[tree->count];
        enum mq_status status = mq_part_prepare(&fields->parts[tree->count], part, err);
        if (status != MQ_OK) {
            mq_part_clear(part);
            return status;
        }
        bool shown = part->source->cid.len > 0;
        bool eight_bit = part->encoding == MQ_ENCODING_8BIT;
        tree->inline_count += shown;
        tree->eight_bit_inline |= eight_bit && shown;
        tree->eight_bit_attached |= eight_bit && !shown;
        tree->size += part->size;
    }
    return MQ_OK;
}

/* Without HTML nothing could show a part; of two with one name one would never be shown. */
static enum mq_status check_inline(const struct mq_part_tree *tree, struct mq_error *err)
{
    for (size_t i = 0; i < tree->count; i++) {
        const struct mq_compose_part *part = tree->parts[i].source;
        if (part->cid.len > 0 && !tree->html.given) {
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

/* FNV-1a, with its bits spread as splitmix64 does. */
static uint64_t hash(struct mq_str text, uint64_t cycle)
{
    uint64_t h = mq_hash(MQ_HASH_BEGIN ^ cycle, text);
    h = (h ^ h >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    h = (h ^ h >> 27) * UINT64_C(0x94D049BB133111EB);
    return h ^ h >> 31;
}

static bool has_stem(enum mq_encoding encoding, struct mq_str content, const char *stem)
{
    /* "=_", which is before the stem, is in nothing that is encoded. */
    return (encoding == MQ_ENCODING_7BIT || encoding == MQ_ENCODING_8BIT) && content.len > 0 &&
           memmem(content.data, content.len, stem, MQ_BOUNDARY_STEM) != NULL;
}

static bool is_stem_used(const struct mq_part_tree *tree)
{
    bool used = has_stem(tree->text.encoding, tree->text.text, tree->stem) ||
                has_stem(tree->html.encoding, tree->html.text, tree->stem);
    for (size_t i = 0; !used && i < tree->count; i++) {
        used = has_stem(tree->parts[i].encoding, tree->parts[i].content, tree->stem);
    }
    return used;
}

static void choose_stem(struct mq_part_tree *tree, struct mq_str message_id)
{
    uint64_t cycle = 0;
    do {
        snprintf(tree->stem, sizeof tree->stem, "%016llx",
                 (unsigned long long)hash(message_id, cycle++));
    } while (is_stem_used(tree));
}

enum mq_status mq_part_tree_prepare(const struct mq_compose_fields *fields, struct mq_str text,
                                    struct mq_part_tree *tree, struct mq_error *err)
{
    tree->size = FRAME_SIZE + 64 * fields->part_count;
    prepare_text(&tree->text, "text/plain", text, &tree->size);
    prepare_text(&tree->html, "text/html", fields->html, &tree->size);
    enum mq_status status = prepare_parts(fields, tree, err);
    if (status == MQ_OK) {
        status = check_inline(tree, err);
    }
    if (status == MQ_OK) {
        choose_stem(tree, mq_str_of(fields->message_id));
    }
    return status;
}

void mq_part_tree_clear(struct mq_part_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        mq_part_clear(&tree->parts[i]);
    }
    free(tree->parts);
    *tree = (struct mq_part_tree){.count = 0};
}

/* ---- writing ---- */

/* Kinds differ in the begin, so that no boundary begins with another one. */
static void put_boundary(const struct mq_part_tree *tree, struct mq_buffer *out,
                         enum multipart kind)
{
    static const char *const begins[] = {"", "=_1_", "=_2_", "=_3_"};
    mq_buffer_append(out, begins[kind], 4);
    mq_buffer_append(out, tree->stem, MQ_BOUNDARY_STEM);
}

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
    mq_buffer_append(out, "\r\n", 2);
}

/* Before the first part of a multipart, or between two. */
static void put_delimiter(const struct mq_part_tree *tree, struct mq_buffer *out,
                          enum multipart kind, bool first)
{
    mq_buffer_cstr(out, first ? "--" : "\r\n--");
    put_boundary(tree, out, kind);
    mq_buffer_append(out, "\r\n", 2);
}

static void close_multipart(const struct mq_part_tree *tree, struct mq_buffer *out,
                            enum multipart kind)
{
    mq_buffer_cstr(out, "\r\n--");
    put_boundary(tree, out, kind);
    mq_buffer_cstr(out, "--");
}

static void put_text(struct mq_buffer *out, const struct mq_text_part *part, bool is_whole)
{
    mq_buffer_cstr(out, "Content-Type: ");
    mq_buffer_cstr(out, part->type);
    mq_buffer_cstr(out, "; charset=utf-8\r\nContent-Transfer-Encoding: ");
    mq_buffer_cstr(out, mq_encoding_name(part->encoding));
    mq_buffer_cstr(out, "\r\n\r\n");
    mq_encode_text(out, part->text, part->encoding);
    if (part->encoding == MQ_ENCODING_BASE64 && !is_whole && !out->failed) {
        out->len -= 2; /* the last line end */
    }
}

/* The parts that the HTML shows, or the others. */
static enum mq_status put_parts(const struct mq_part_tree *tree, struct mq_buffer *out,
                                enum multipart kind, struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    for (size_t i = 0; i < tree->count && status == MQ_OK; i++) {
        bool shown = tree->parts[i].source->cid.len > 0;
        if (shown == (kind == RELATED)) {
            put_delimiter(tree, out, kind, false);
            status = mq_part_write(&tree->parts[i], out, err);
        }
    }
    close_multipart(tree, out, kind);
    return status;
}

static enum mq_status put_html(const struct mq_part_tree *tree, struct mq_buffer *out,
                               bool is_whole, struct mq_error *err)
{
    if (tree->inline_count == 0) {
        put_text(out, &tree->html, is_whole);
        return MQ_OK;
    }
    open_multipart(tree, out, RELATED);
    put_delimiter(tree, out, RELATED, true);
    put_text(out, &tree->html, false);
    return put_parts(tree, out, RELATED, err);
}

static enum mq_status put_texts(const struct mq_part_tree *tree, struct mq_buffer *out,
                                bool is_whole, struct mq_error *err)
{
    if (!tree->html.given) {
        put_text(out, &tree->text, is_whole);
        return MQ_OK;
    }
    if (!tree->text.given) {
        return put_html(tree, out, is_whole, err);
    }
    open_multipart(tree, out, ALTERNATIVE);
    put_delimiter(tree, out, ALTERNATIVE, true);
    put_text(out, &tree->text, false);
    put_delimiter(tree, out, ALTERNATIVE, false);
    enum mq_status status = put_html(tree, out, false, err);
    close_multipart(tree, out, ALTERNATIVE);
    return status;
}

enum mq_status mq_part_tree_write(const struct mq_part_tree *tree, struct mq_buffer *out,
                                  struct mq_error *err)
{
    bool mixed = tree->count > tree->inline_count;
    bool single = !mixed && tree->inline_count == 0 && !(tree->text.given && tree->html.given);
    if (!mixed) {
        enum mq_status status = put_texts(tree, out, true, err);
        if (status == MQ_OK && !single) {
            mq_buffer_append(out, "\r\n", 2);
        }
        return status;
    }
    open_multipart(tree, out, MIXED);
    put_delimiter(tree, out, MIXED, true);
    enum mq_status status = put_texts(tree, out, false, err);
    if (status == MQ_OK) {
        status = put_parts(tree, out, MIXED, err);
    }
    mq_buffer_append(out, "\r\n", 2);
    return status;
}
