#include "php/nearest.h"

#include <ctype.h>
#include <string.h>

#define WORD_MAX 24

/* Lower case without what separates words. */
static size_t squeeze(struct mq_str word, char out[WORD_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < word.len && n < WORD_MAX; i++) {
        char c = (char)tolower((unsigned char)word.data[i]);
        if (c != '-' && c != '_' && c != ' ') {
            out[n++] = c;
        }
    }
    return n;
}

static size_t least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* How many characters have to be added, left out or changed (Levenshtein). */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t row[WORD_MAX + 1];
    for (size_t j = 0; j <= b_len; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= a_len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t changed = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(row[j] + 1, row[j - 1] + 1, changed);
        }
    }
    return row[b_len];
}

const char *mq_php_nearest(struct mq_str word, const char *const *words, size_t count)
{
    char a[WORD_MAX], b[WORD_MAX];
    size_t a_len = squeeze(word, a);
    size_t best = 1 + a_len / 5; /* farther is another word */
    const char *found = NULL;
    if (word.len > WORD_MAX) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        size_t b_len = squeeze(mq_str_of(words[i]), b);
        size_t d = distance(a, a_len, b, b_len);
        if (d < best || (d == best && found == NULL && d < b_len)) {
            best = d;
            found = words[i];
        }
    }
    return found;
}
