/* Shared libraries that are loaded on demand: src/libraries/on_demand.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libraries/on_demand.h"

struct functions {
    double (*cosine)(double);
    double (*sine)(double);
};

static void test_functions_are_found(void **state)
{
    (void)state;
    static const char *const names[] = {"cos", "sin"};
    struct functions functions = {0};
    struct pyro_on_demand library = {
        .file = "libm.so.6", .purpose = "waves", .names = names, .functions = &functions, .count = 2};
    assert_int_equal(pyro_on_demand_load(&library, NULL), PYRO_OK);
    assert_true(functions.cosine(0) == 1 && functions.sine(0) == 0);
    functions.sine = NULL;
    assert_int_equal(pyro_on_demand_load(&library, NULL), PYRO_OK); /* once only */
    assert_null(functions.sine);
}

static void test_an_error_names_the_library(void **state)
{
    (void)state;
    static const char *const names[] = {"cos"};
    struct functions functions = {0};
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_on_demand library = {
        .file = "libdoesnotexist.so.7", .purpose = "waves", .names = names, .functions = &functions, .count = 1};
    assert_int_equal(pyro_on_demand_load(&library, &error), PYRO_ERROR_INPUT);
    assert_non_null(strstr(error.message, "cannot load libdoesnotexist.so.7, which is needed for waves: "));
    assert_null(functions.cosine);
}

static void test_an_error_names_the_function(void **state)
{
    (void)state;
    static const char *const names[] = {"cos", "does_not_exist"};
    struct functions functions = {0};
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_on_demand library = {
        .file = "libm.so.6", .purpose = "waves", .names = names, .functions = &functions, .count = 2};
    assert_int_equal(pyro_on_demand_load(&library, &error), PYRO_ERROR_INPUT);
    assert_non_null(strstr(error.message, "libm.so.6, which is needed for waves, has no does_not_exist()"));
    assert_int_equal(pyro_on_demand_load(&library, &error), PYRO_ERROR_INPUT); /* not taken for loaded */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_are_found),
        cmocka_unit_test(test_an_error_names_the_library),
        cmocka_unit_test(test_an_error_names_the_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
