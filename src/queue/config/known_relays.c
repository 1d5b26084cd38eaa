/* The value is a JSON object from a job table to the names of relays, or with a map of relays to
 * another such object, from a key of the map. An unreadable value counts as empty. */
#include "queue/config/known_relays.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "queue/config/relays.h"
#include "queue/queue.h"

static void append_routes(struct mq_buffer *out, const struct mq_strings *routes)
{
    if (routes->count == 2) { /* no map */
        mq_buffer_cstr(out, routes->items[1]);
        return;
    }
    for (size_t i = 0; i < routes->count; i++) {
        mq_buffer_char(out, i == 0 ? '{' : i % 2 ? ':' : ',');
        mq_json_string(out, mq_str_of(routes->items[i]));
    }
    mq_buffer_cstr(out, routes->count > 0 ? "}" : "");
}

enum mq_status mq_queue_note_routes(struct mq_queue *queue, const struct mq_strings *routes,
                                    struct mq_error *err)
{
    struct mq_buffer text = {0};
    const char *table = mq_queue_table(queue);
    char *stored = NULL;
    append_routes(&text, routes);
    enum mq_status status = text.failed
                                ? mq_error_nomem(err)
                                : mq_relay_text(queue, MQ_KEY_RELAY_ROUTES, table, &stored, err);
    if (status == MQ_OK && !mq_str_equal(mq_str_of(stored), mq_buffer_view(&text))) {
        status = mq_relay_text_store(queue, MQ_KEY_RELAY_ROUTES, table, text.data, err);
    }
    free(stored);
    mq_buffer_clear(&text);
    return status;
}

enum mq_status mq_routes_load(struct mq_queue *queue, struct mq_strings *out, struct mq_error *err)
{
    char *text = NULL;
    MQ_TRY(mq_relay_text(queue, MQ_KEY_RELAY_ROUTES, mq_queue_table(queue), &text, err));
    bool read = true;
    if (text && text[0] != '{') {
        read = mq_strings_add(out, MQ_STR("")) && mq_strings_add(out, mq_str_of(text));
    } else if (text) {
        read = mq_json_read(mq_str_of(text), '{', out) != MQ_NOMEM;
    }
    free(text);
    return read ? MQ_OK : mq_error_nomem(err);
}

static const char *find(const struct mq_strings *routes, const char *key)
{
    for (size_t i = 0; i < routes->count; i += 2) {
        if (mq_str_equal_nocase(mq_str_of(routes->items[i]), mq_str_of(key))) {
            return routes->items[i + 1];
        }
    }
    return NULL;
}

/* As mq_relays_find() and mq_relays_of_sender(). */
static const char *route_of(const struct mq_strings *routes, const char *named, const char *from)
{
    const char *at = from ? strrchr(from, '@') : NULL;
    if (named) {
        return find(routes, named);
    }
    const char *route = at ? find(routes, from) : NULL;
    route = at && !route ? find(routes, at) : route;
    return route ? route : find(routes, "");
}

int64_t mq_routes_pause_s(const struct mq_strings *routes, const char *pauses, int64_t now_s,
                          const char *named, const char *from)
{
    const char *names = route_of(routes, named, from);
    int64_t first_s = 0;
    for (size_t len; names && *names; names += len + (names[len] == ' ')) {
        struct mq_pause pause = {0};
        bool found = false;
        len = strcspn(names, " ");
        char *name = mq_str_dup((struct mq_str){names, len});
        enum mq_status status = name ? mq_pause_find(pauses, name, &pause, &found, NULL) : MQ_NOMEM;
        free(name);
        if (status != MQ_OK || !found || !mq_pause_lasts(&pause, now_s)) {
            return 0;
        }
        first_s = first_s == 0 || pause.until_s < first_s ? pause.until_s : first_s;
    }
    return first_s;
}
