/*
 * A PHP extension of deliberate faults: tools/test asan loads it the way it loads mailqueue.so and
 * demands a report for each. Without it a run whose sanitizers had silently gone would be green.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "php.h"
#include <limits.h>
#include <stdlib.h>

/* All through volatile, so that no compiler proves the fault and removes it. */
static volatile size_t probe_size = 16;
static void *volatile probe_last;

static void write_behind(volatile char *block)
{
    block[probe_size] = 1;
}

ZEND_BEGIN_ARG_INFO_EX(arginfo_probe, 0, 0, 0)
ZEND_END_ARG_INFO()

PHP_FUNCTION(probe_heap_overflow)
{
    char *block = malloc(probe_size);
    ZEND_PARSE_PARAMETERS_NONE();
    write_behind(block);
    free(block);
}

PHP_FUNCTION(probe_request_overflow)
{
    char *block = emalloc(probe_size);
    ZEND_PARSE_PARAMETERS_NONE();
    write_behind(block);
    efree(block);
}

PHP_FUNCTION(probe_leak)
{
    ZEND_PARSE_PARAMETERS_NONE();
    probe_last = malloc(probe_size);
    probe_last = NULL;
}

PHP_FUNCTION(probe_request_leak)
{
    ZEND_PARSE_PARAMETERS_NONE();
    probe_last = emalloc(probe_size);
    probe_last = NULL;
}

PHP_FUNCTION(probe_signed_overflow)
{
    volatile int large = INT_MAX;
    ZEND_PARSE_PARAMETERS_NONE();
    large = large + 1;
}

PHP_FUNCTION(probe_nothing)
{
    ZEND_PARSE_PARAMETERS_NONE();
}

/* The macros bring their own commas. */
/* clang-format off */
static const zend_function_entry probe_functions[] = {
    PHP_FE(probe_heap_overflow, arginfo_probe)
    PHP_FE(probe_request_overflow, arginfo_probe)
    PHP_FE(probe_leak, arginfo_probe)
    PHP_FE(probe_request_leak, arginfo_probe)
    PHP_FE(probe_signed_overflow, arginfo_probe)
    PHP_FE(probe_nothing, arginfo_probe)
    PHP_FE_END
};

static zend_module_entry probe_module_entry = {
    STANDARD_MODULE_HEADER,
    "sanitizer_probe",
    probe_functions,
    NULL, NULL, NULL, NULL, NULL,
    "1",
    STANDARD_MODULE_PROPERTIES
};
/* clang-format on */

ZEND_GET_MODULE(probe)
