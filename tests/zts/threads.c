/* PHP in threads of one process: each gets a request of its own and evaluates argv[1] there with
 * $thread set, so many threads as argv[2] says. Prints what each printed, in their order. For a
 * thread-safe PHP with the embed SAPI. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "sapi/embed/php_embed.h"

ZEND_TSRMLS_CACHE_DEFINE()

#define THREADS_MAX 16

static const char *code;
static FILE *outputs[THREADS_MAX];
static _Thread_local FILE *output;

static size_t write_output(const char *text, size_t len)
{
    return fwrite(text, 1, len, output ? output : stdout);
}

static void *run(void *context)
{
    char prelude[64];
    long number = (long)(size_t)context;
    ts_resource(0);
    ZEND_TSRMLS_CACHE_UPDATE();
    output = outputs[number];
    if (php_request_startup() != SUCCESS) {
        fprintf(output, "no request\n");
        ts_free_thread();
        return NULL;
    }
    snprintf(prelude, sizeof prelude, "$thread = %ld;", number);
    zend_try
    {
        zend_eval_string(prelude, NULL, "thread");
        zend_eval_string_ex(code, NULL, "thread", 1);
    }
    zend_end_try();
    php_request_shutdown(NULL);
    ts_free_thread();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX];
    if (argc < 4 || atoi(argv[2]) > THREADS_MAX) {
        fprintf(stderr, "usage: threads CODE COUNT INI-FILE\n");
        return 64;
    }
    size_t count = (size_t)atoi(argv[2]);
    code = argv[1];
    php_embed_module.name = (char *)"cli"; /* runWorker() asks for it */
    php_embed_module.ub_write = write_output;
    php_embed_module.php_ini_ignore = 1;
    php_embed_module.php_ini_path_override = argv[3];
    if (php_embed_init(argc, argv) != SUCCESS) {
        return 70;
    }
    struct sigaction before, after;
    sigaction(SIGTERM, NULL, &before);
    for (size_t i = 0; i < count; i++) {
        outputs[i] = tmpfile();
        pthread_create(&threads[i], NULL, run, (void *)i);
    }
    for (size_t i = 0; i < count; i++) {
        int c;
        pthread_join(threads[i], NULL);
        rewind(outputs[i]);
        while ((c = fgetc(outputs[i])) != EOF) {
            putchar(c);
        }
        fclose(outputs[i]);
    }
    sigaction(SIGTERM, NULL, &after);
    printf("SIGTERM is %s\n", after.sa_handler == before.sa_handler ? "as before" : "changed");
    php_embed_shutdown();
    return 0;
}
