/* PHP in threads of one process: each gets a request of its own and evaluates CODE there with
 * $thread set. All begin at once, or, in turn, each when the one before has printed something.
 * Prints what each printed, in their order. For a thread-safe PHP with the embed SAPI. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sapi/embed/php_embed.h"

ZEND_TSRMLS_CACHE_DEFINE()

#define THREADS_MAX 16

struct thread {
    pthread_t id;
    long number;
    FILE *output;
    atomic_bool printed; /* or ended */
};

static const char *code;
static struct thread threads[THREADS_MAX];
static _Thread_local struct thread *own;

static size_t write_output(const char *text, size_t len)
{
    size_t written = fwrite(text, 1, len, own ? own->output : stdout);
    if (own) {
        atomic_store(&own->printed, true);
    }
    return written;
}

static void evaluate(void)
{
    char prelude[64];
    snprintf(prelude, sizeof prelude, "$thread = %ld;", own->number);
    if (php_request_startup() != SUCCESS) {
        fprintf(own->output, "no request\n");
        return;
    }
    zend_try
    {
        zend_eval_string(prelude, NULL, "thread");
        zend_eval_string_ex(code, NULL, "thread", 1);
    }
    zend_end_try();
    php_request_shutdown(NULL);
}

static void *run(void *context)
{
    own = context;
    ts_resource(0);
    ZEND_TSRMLS_CACHE_UPDATE();
    evaluate();
    ts_free_thread();
    atomic_store(&own->printed, true);
    return NULL;
}

static void start(struct thread *thread, long number, bool in_turn)
{
    thread->number = number;
    thread->output = tmpfile();
    pthread_create(&thread->id, NULL, run, thread);
    while (in_turn && !atomic_load(&thread->printed)) {
        usleep(1000);
    }
}

static void print(FILE *output)
{
    int c;
    rewind(output);
    while ((c = fgetc(output)) != EOF) {
        putchar(c);
    }
    fclose(output);
}

int main(int argc, char **argv)
{
    struct sigaction before, after;
    long count = argc < 4 ? 0 : atol(argv[3]);
    if (count < 1 || count > THREADS_MAX) {
        fprintf(stderr, "usage: threads INI-FILE CODE COUNT [\"in turn\"]\n");
        return 64;
    }
    code = argv[2];
    php_embed_module.name = (char *)"cli"; /* runWorker() asks for it */
    php_embed_module.ub_write = write_output;
    php_embed_module.php_ini_ignore = 1;
    php_embed_module.php_ini_path_override = argv[1];
    if (php_embed_init(argc, argv) != SUCCESS) {
        return 70;
    }
    sigaction(SIGTERM, NULL, &before);
    for (long i = 0; i < count; i++) {
        start(&threads[i], i, argc > 4);
    }
    for (long i = 0; i < count; i++) {
        pthread_join(threads[i].id, NULL);
        print(threads[i].output);
    }
    sigaction(SIGTERM, NULL, &after);
    printf("SIGTERM is %s\n", after.sa_handler == before.sa_handler ? "as before" : "changed");
    php_embed_shutdown();
    return 0;
}
