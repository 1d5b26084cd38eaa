/* Intent files of other runs: a damaged one proves nothing, and results that are found are those in
 * the file. The first byte: 1 gives the file this host's and this boot's header, 2 as many slots as
 * it has room for. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "send/intent/format.h"
#include "send/transport.h"

#define TOKEN     "0123456789abcdef0123456789abcdef"
#define SLOTS_MAX 16

struct file {
    struct mq_intent_header header;
    struct mq_intent_entry slots[SLOTS_MAX];
};

static char directory[1000];
static char path[1100];
static struct mq_intent_header here;

static void remove_directory(void)
{
    unlink(path);
    rmdir(directory);
}

static void prepare(void)
{
    if (path[0] != '\0') {
        return;
    }
    /* If the fuzzer is killed, the directory stays: a runner gives it one that it removes. */
    const char *base = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%s/record-XXXXXX", base != NULL ? base : "/tmp");
    REQUIRE(mkdtemp(directory) != NULL);
    snprintf(path, sizeof path, "%s/%s%s", directory, TOKEN, MQ_INTENT_SUFFIX);
    mq_intent_describe_host(&here);
    memcpy(here.magic, MQ_INTENT_MAGIC, sizeof here.magic);
    here.version = MQ_INTENT_VERSION;
    atexit(remove_directory);
}

static void write_file(const void *data, size_t size)
{
    FILE *out = fopen(path, "wb");
    REQUIRE(out != NULL && fchmod(fileno(out), 0600) == 0);
    REQUIRE(size == 0 || fwrite(data, size, 1, out) == 1);
    fclose(out);
}

/* Reads it in the simplest way: the number of slots that count, 0 if the file proves nothing. */
static size_t slots_of(const struct file *file, size_t size)
{
    const struct mq_intent_header *header = &file->header;
    size_t count = header->slot_count;
    bool ours = memcmp(header->magic, here.magic, sizeof here.magic) == 0 &&
                header->version == here.version && header->host == here.host &&
                memcmp(header->boot, here.boot, sizeof here.boot) == 0;
    if (!ours || count < 1 || count > SLOTS_MAX ||
        size != sizeof here + count * sizeof file->slots[0]) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        bool sound = file->slots[i].phase <= MQ_INTENT_REFUSED;
        for (size_t k = 0; k < MQ_RECIPIENTS_MAX; k++) {
            sound = sound && file->slots[i].results[k] <= MQ_OUTCOME_UNEXPLAINED;
        }
        if (!sound) {
            return 0;
        }
    }
    return count;
}

/* Of several slots for a job, one of those that got furthest. */
static void require_entry(const struct mq_intent_record *record, const struct file *file,
                          size_t count, int64_t job_id)
{
    struct mq_intent_entry entry;
    unsigned furthest = MQ_INTENT_FREE;
    bool same = false;
    bool found = mq_intent_find(record, job_id, &entry);
    for (size_t i = 0; i < count; i++) {
        const struct mq_intent_entry *slot = &file->slots[i];
        if (slot->job_id != job_id || slot->phase == MQ_INTENT_FREE) {
            continue;
        }
        furthest = slot->phase > furthest ? slot->phase : furthest;
        same = same || (found && slot->phase == entry.phase && slot->code == entry.code &&
                        slot->at_s == entry.at_s && slot->handed_over == entry.handed_over &&
                        memcmp(slot->results, entry.results, sizeof entry.results) == 0);
    }
    REQUIRE(found == (furthest != MQ_INTENT_FREE));
    REQUIRE(!found || (same && entry.phase == furthest && entry.job_id == job_id));
}

static const struct file *current;
static size_t current_size, seen;

static void check(void *context, struct mq_intent_record *record)
{
    size_t count = slots_of(current, current_size);
    (void)context;
    seen++;
    REQUIRE(strcmp(record->token, TOKEN) == 0);
    REQUIRE(record->owner == (count > 0 ? MQ_INTENT_DEAD : MQ_INTENT_OTHER));
    for (size_t i = 0; i < count; i++) {
        require_entry(record, current, count, current->slots[i].job_id);
    }
    require_entry(record, current, count, 7);
    mq_intent_record_close(record, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct file file;
    struct mq_intent_record *record = NULL;
    struct mq_error err = {0};
    unsigned how = size > 0 ? data[0] : 0;
    prepare();
    memset(&file, 0, sizeof file);
    size -= size > 0;
    size = size < sizeof file ? size : sizeof file;
    if (size > 0) {
        memcpy(&file, data + 1, size);
    }
    if ((how & 1) != 0) {
        uint32_t count = file.header.slot_count;
        file.header = here;
        file.header.slot_count = count;
    }
    if ((how & 2) != 0 && size >= sizeof here) {
        file.header.slot_count = (uint32_t)((size - sizeof here) / sizeof file.slots[0]);
        size = sizeof here + file.header.slot_count * sizeof file.slots[0];
    }
    write_file(&file, size);
    current = &file;
    current_size = size;
    seen = 0;
    REQUIRE(mq_intent_scan(directory, NULL, check, NULL, &err) == MQ_OK && seen == 1);
    REQUIRE(mq_intent_scan(directory, TOKEN, check, NULL, &err) == MQ_OK && seen == 1);
    REQUIRE(mq_intent_open(directory, TOKEN, &record, &err) == MQ_OK);
    check(NULL, record);
    return 0;
}
