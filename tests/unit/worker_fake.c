/* The worker's surroundings in a test: clock, relay, hooks, and the queue with its mails. */
#include "worker_fake.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/sqlite/sqlite.h"
#include "queue/body.h"

/* ---- the clock ---- */

static struct scene_worker *scene_of(void *context)
{
    return context;
}

static int64_t fake_now_us(void *context)
{
    const struct scene_worker *scene = scene_of(context);
    return (START + scene->wall_ahead_s) * 1000000 + scene->boot_ms * 1000;
}

static int64_t fake_boot_ms(void *context)
{
    return scene_of(context)->boot_ms;
}

/* ---- the relay ---- */

static char relay_name[] = "smtp://relay.example:25";
static char other_name[] = "smtp://other.example:25";
static char third_name[] = "smtp://third.example:25";

static struct fake_relay *relay_of(struct mq_transport *transport)
{
    return (struct fake_relay *)transport;
}

static size_t fake_capacity(const struct mq_transport *transport, bool just_in_time)
{
    const struct fake_relay *relay = (const struct fake_relay *)transport;
    size_t room = just_in_time ? relay->sessions : 2 * relay->sessions;
    size_t taken = relay->under_way_count + transport->pending.count;
    return taken < room ? room - taken : 0;
}

void fake_trouble(struct fake_relay *relay)
{
    mq_transport_in_trouble(&relay->transport, "connection refused", relay->retry_after_s);
}

static void finish(struct fake_relay *relay, struct mq_transfer *transfer, enum mq_transfer_end end)
{
    mq_transport_give_back(&relay->transport, transfer, end);
}

static void take_out(struct fake_relay *relay, size_t i)
{
    size_t after = --relay->under_way_count - i;
    memmove(&relay->under_way[i], &relay->under_way[i + 1], after * sizeof(relay->under_way[0]));
    memmove(&relay->submitted_ms[i], &relay->submitted_ms[i + 1],
            after * sizeof(relay->submitted_ms[0]));
    memmove(&relay->body_out[i], &relay->body_out[i + 1], after * sizeof(relay->body_out[0]));
}

static void begin(struct fake_relay *relay, struct mq_transfer *transfer)
{
    transfer->ms = -1;
    relay->submits++;
    if (relay->down || relay->transport.troubled) {
        fake_trouble(relay);
        finish(relay, transfer, MQ_TRANSFER_UNTOUCHED);
        return;
    }
    if (!transfer->enter(transfer, MQ_PHASE_ENVELOPE)) {
        finish(relay, transfer, MQ_TRANSFER_LEASE_OVER);
        return;
    }
    size_t i = relay->under_way_count++;
    assert_true(i < 64);
    relay->under_way[i] = transfer;
    relay->submitted_ms[i] = relay->scene->boot_ms;
    relay->body_out[i] = false;
    if (relay->under_way_count > relay->most_under_way) {
        relay->most_under_way = relay->under_way_count;
    }
}

static void answer(struct fake_relay *relay, struct mq_transfer *transfer)
{
    bool accepted = false;
    for (size_t i = 0; i < transfer->target_count; i++) {
        struct mq_target *target = &transfer->targets[i];
        if (relay->answer) {
            relay->answer(relay, transfer, target);
        } else {
            set_result(target, MQ_OUTCOME_DELIVERED, "250 2.0.0 Ok");
        }
        accepted = accepted || target->result == MQ_OUTCOME_DELIVERED;
    }
    if (accepted) {
        relay->accepted =
            realloc(relay->accepted, (relay->accepted_count + 1) * sizeof(*relay->accepted));
        relay->accepted[relay->accepted_count++] = transfer->job_id;
    }
    const struct mq_clock *clock = mq_queue_clock(relay->scene->fx.queue);
    transfer->at_s = mq_clock_now_s(clock);
    transfer->ms = relay->latency_ms;
    transfer->enter(transfer, accepted ? MQ_PHASE_ACCEPTED : MQ_PHASE_REFUSED);
    finish(relay, transfer, MQ_TRANSFER_DONE);
}

static int64_t body_after_ms(const struct fake_relay *relay)
{
    return relay->body_ms ? relay->body_ms : relay->latency_ms / 2;
}

/* Advances one delivery that is due now; false if none is. */
static bool move_one(struct fake_relay *relay)
{
    for (size_t i = 0; i < relay->under_way_count; i++) {
        struct mq_transfer *transfer = relay->under_way[i];
        int64_t age_ms = relay->scene->boot_ms - relay->submitted_ms[i];
        if (!relay->body_out[i] && age_ms >= body_after_ms(relay)) {
            if (relay->on_body) {
                relay->on_body(relay, transfer);
            }
            bool drew_trouble = relay->turns_away && relay->turns_away(transfer);
            bool ends = relay->bounces || drew_trouble;
            relay->body_out[i] = !ends && transfer->enter(transfer, MQ_PHASE_BODY);
            if (!relay->body_out[i]) {
                take_out(relay, i);
                transfer->drew_trouble = drew_trouble;
                snprintf(transfer->error, sizeof(transfer->error), "%s",
                         drew_trouble ? "421 4.7.0 try later" : "");
                finish(relay, transfer, ends ? MQ_TRANSFER_UNTOUCHED : MQ_TRANSFER_LEASE_OVER);
            } else {
                relay->bodies++;
            }
            return true;
        }
        if (relay->body_out[i] && age_ms >= relay->latency_ms) {
            take_out(relay, i);
            answer(relay, transfer);
            return true;
        }
    }
    return false;
}

static int64_t next_ms(const struct fake_relay *relay, int64_t until_ms)
{
    for (size_t i = 0; i < relay->under_way_count; i++) {
        int64_t due = relay->submitted_ms[i] +
                      (relay->body_out[i] ? relay->latency_ms : body_after_ms(relay));
        if (due < until_ms) {
            until_ms = due;
        }
    }
    return until_ms;
}

static enum mq_status fake_step(struct mq_transport *transport, int64_t timeout_ms,
                                struct mq_error *err)
{
    struct fake_relay *relay = relay_of(transport);
    int64_t until_ms = relay->scene->boot_ms + timeout_ms;
    struct mq_transfer *transfer;

    relay->steps++;
    while ((transfer = mq_transfer_take(&transport->pending, NULL))) {
        begin(relay, transfer);
    }
    if (relay->on_step) {
        enum mq_status status = relay->on_step(relay, err);
        if (status != MQ_OK) {
            return status;
        }
    }
    while (transport->done.count == 0) {
        if (move_one(relay)) {
            continue;
        }
        int64_t at_ms = next_ms(relay, until_ms);
        if (at_ms >= until_ms) {
            if (until_ms > relay->scene->boot_ms) {
                relay->scene->boot_ms = until_ms;
            }
            break;
        }
        relay->scene->boot_ms = at_ms;
    }
    return MQ_OK;
}

static void fake_recall(struct mq_transport *transport)
{
    struct fake_relay *relay = relay_of(transport);
    relay->recalls++;
    for (size_t i = relay->under_way_count; i-- > 0;) {
        struct mq_transfer *transfer = relay->under_way[i];
        if (relay->body_out[i]) {
            continue;
        }
        take_out(relay, i);
        finish(relay, transfer, MQ_TRANSFER_UNTOUCHED);
    }
}

static void fake_wind_down(struct mq_transport *transport)
{
    relay_of(transport)->wind_downs++;
}

static void fake_abort(struct mq_transport *transport)
{
    struct fake_relay *relay = relay_of(transport);
    relay->aborts++;
    while (relay->under_way_count > 0) {
        struct mq_transfer *transfer = relay->under_way[0];
        bool out = relay->body_out[0];
        take_out(relay, 0);
        for (size_t i = 0; out && i < transfer->target_count; i++) {
            set_result(&transfer->targets[i], MQ_OUTCOME_UNCERTAIN, "connection lost");
        }
        finish(relay, transfer, out ? MQ_TRANSFER_DONE : MQ_TRANSFER_UNTOUCHED);
    }
}

static void fake_quit(struct mq_transport *transport, int64_t timeout_ms)
{
    struct fake_relay *relay = relay_of(transport);
    assert_int_equal(relay->under_way_count, 0);
    relay->quits++;
    relay->quit_ms = timeout_ms;
    if (relay->silent) {
        usleep((useconds_t)timeout_ms * 1000);
    }
}

static const struct mq_transport_ops fake_ops = {
    .capacity = fake_capacity,
    .step = fake_step,
    .recall = fake_recall,
    .wind_down = fake_wind_down,
    .quit = fake_quit,
    .abort = fake_abort,
};

void set_result(struct mq_target *target, enum mq_outcome result, const char *reply)
{
    target->result = result;
    target->code = atoi(reply);
    snprintf(target->reply, sizeof(target->reply), "%s", reply);
}

void deny_all(struct fake_relay *relay, struct mq_transfer *transfer, struct mq_target *target)
{
    (void)relay;
    (void)transfer;
    set_result(target, MQ_OUTCOME_DENIED, "554 5.7.1 Message denied");
}

/* ---- hooks ---- */

static enum mq_compose_end hook_compose(void *context, const struct mq_job *job,
                                        struct mq_composed *out, struct mq_error *err)
{
    struct scene_worker *scene = scene_of(context);
    return scene->on_compose(scene, job, out, err);
}

static enum mq_status hook_event(void *context, const struct mq_event *event, struct mq_error *err)
{
    struct scene_worker *scene = scene_of(context);
    mq_events_add(&scene->events, event);
    return scene->on_event ? scene->on_event(scene, event, err) : MQ_OK;
}

static void hook_wait(void *context, int64_t ms)
{
    struct scene_worker *scene = scene_of(context);
    scene->boot_ms += ms;
    scene->waited_ms += ms;
    if (scene->on_wait) {
        scene->on_wait(scene);
    }
}

/* ---- the scene ---- */

int scene_worker_setup(void **state)
{
    struct scene_worker *scene = calloc(1, sizeof(*scene));
    assert_non_null(scene);
    /* In memory if possible: the simulated weeks have 10,080 runs. */
    snprintf(scene->directory, sizeof(scene->directory), "%s/mq-worker-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(scene->directory));
    snprintf(scene->run_dir, sizeof(scene->run_dir), "%s/run", scene->directory);
    fx_init(&scene->fx);
    scene->boot_ms = 1000000;
    scene->fx.options.clock = (struct mq_clock){fake_now_us, fake_boot_ms, scene};
    fx_open_with(&scene->fx, NULL);
    scene->events = (struct mq_events){0};
    scene->relay = (struct fake_relay){.transport = {.ops = &fake_ops, .name = relay_name},
                                       .scene = scene,
                                       .sessions = 4,
                                       .latency_ms = 10};
    scene->other = scene->relay;
    scene->other.transport.name = other_name;
    scene->third = scene->relay;
    scene->third.transport.name = third_name;
    scene->options = (struct mq_worker_options){
        .connections = 4,
        .batch = 100,
        .lease_s = 900,
        .time_limit_s = -1,
        .message_limit = -1,
        .max_workers = 1,
        .max_bytes = MQ_BODIES_BYTES,
        .grace_s = 30,
        .final_timeout_s = MQ_FINAL_TIMEOUT_S,
        .on_uncertain = MQ_UNCERTAIN_RETRY,
        .run_dir = scene->run_dir,
    };
    scene->hooks =
        (struct mq_worker_hooks){.event = hook_event, .wait = hook_wait, .context = scene};
    *state = scene;
    return 0;
}

void scene_worker_on_file(struct scene_worker *scene)
{
    char path[128];
    struct mq_db *db = NULL;
    snprintf(path, sizeof(path), "%s/db.sqlite", scene->directory);
    struct mq_sqlite_options options = {
        .path = path, .synchronous_normal = true, .worker = true, .busy_timeout_ms = 50};
    mq_queue_close(scene->fx.queue);
    scene->fx.queue = NULL;
    assert_int_equal(mq_sqlite_open(&options, &db, &scene->err), MQ_OK);
    assert_int_equal(mq_queue_open(db, &scene->fx.options, &scene->fx.queue, &scene->err), MQ_OK);
}

static void remove_tree(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        char child[512];
        struct stat st;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        snprintf(child, sizeof(child), "%s/%s", path, entry->d_name);
        if (lstat(child, &st) == 0 && S_ISDIR(st.st_mode)) {
            remove_tree(child);
        } else {
            unlink(child);
        }
    }
    if (dir) {
        closedir(dir);
    }
    rmdir(path);
}

int scene_worker_teardown(void **state)
{
    struct scene_worker *scene = *state;
    fx_close(&scene->fx);
    mq_events_clear(&scene->events);
    free(scene->relay.accepted);
    free(scene->other.accepted);
    free(scene->third.accepted);
    remove_tree(scene->directory);
    free(scene);
    return 0;
}

static void add_fake(struct scene_worker *scene, const char *dsn, struct fake_relay *relay)
{
    relay->transport.stopped = false;
    mq_transport_reopen(&relay->transport);
    assert_int_equal(
        mq_relays_add_transport(&scene->relays, dsn, &relay->transport, 0, &scene->err), MQ_OK);
}

enum mq_status run_worker(struct scene_worker *scene)
{
    mq_events_clear(&scene->events);
    scene->hooks.compose = scene->on_compose ? hook_compose : NULL;
    struct mq_relays *relays = &scene->relays;
    struct mq_route *route;
    add_fake(scene, "a", &scene->relay);
    if (scene->dsn) {
        add_fake(scene, "b", &scene->other);
    }
    if (scene->dsn && strstr(scene->dsn, " c")) {
        add_fake(scene, "c", &scene->third);
    }
    struct mq_str dsn = mq_str_of(scene->dsn ? scene->dsn : "a");
    assert_int_equal(mq_relays_add(relays, dsn, &route, &scene->err), MQ_OK);
    if (scene->on_relays) {
        scene->on_relays(scene);
    }
    scene->worker = (struct mq_worker){scene->fx.queue, relays, &scene->options, &scene->hooks};
    enum mq_status status = mq_worker_run(&scene->worker, &scene->report, &scene->err);
    assert_int_equal(scene->relay.under_way_count + scene->other.under_way_count, 0);
    assert_int_equal(scene->third.under_way_count, 0);
    mq_relays_clear(relays);
    return status;
}

void run_until(struct scene_worker *scene, enum mq_run_end end)
{
    enum mq_status status = run_worker(scene);
    if (status != MQ_OK) {
        fail_msg("run: %s: %s", mq_status_name(status), scene->err.text);
    }
    assert_string_equal(mq_run_end_name(scene->report.end), mq_run_end_name(end));
    assert_int_equal(count_files(scene, ".intent"), 0);
}

void enqueue_mails(struct scene_worker *scene, int count)
{
    for (int i = 0; i < count; i++) {
        fx_mail(&scene->fx, "to@example.org");
    }
}

int count_events(const struct scene_worker *scene, enum mq_event_type type)
{
    int count = 0;
    for (size_t i = 0; i < scene->events.count; i++) {
        count += scene->events.items[i].type == type;
    }
    return count;
}

const struct mq_event *last_event(const struct scene_worker *scene, enum mq_event_type type)
{
    for (size_t i = scene->events.count; i-- > 0;) {
        if (scene->events.items[i].type == type) {
            return &scene->events.items[i];
        }
    }
    fail_msg("no event %s", mq_event_type_name(type));
    return NULL;
}

int count_files(const struct scene_worker *scene, const char *suffix)
{
    int count = 0;
    struct dirent *entry;
    DIR *dir = opendir(scene->run_dir);
    while (dir && (entry = readdir(dir))) {
        size_t n = strlen(entry->d_name), m = strlen(suffix);
        count += n >= m && strcmp(entry->d_name + n - m, suffix) == 0;
    }
    if (dir) {
        closedir(dir);
    }
    return count;
}

void cron_for(struct scene_worker *scene, int64_t seconds)
{
    int64_t end_ms = scene->boot_ms + seconds * 1000;
    while (scene->boot_ms < end_ms) {
        int64_t minute_ms = scene->boot_ms / 60000 * 60000 + 60000;
        if (run_worker(scene) != MQ_OK) {
            fail_msg("run: %s", scene->err.text);
        }
        if (scene->boot_ms < minute_ms) {
            scene->boot_ms = minute_ms;
        }
    }
}

int64_t count_jobs(struct scene_worker *scene, const char *status)
{
    char sql[160];
    snprintf(sql, sizeof(sql), "SELECT count(*) FROM mail_queue WHERE status = '%s'", status);
    return fx_int(&scene->fx, status ? sql : "SELECT count(*) FROM mail_queue");
}
