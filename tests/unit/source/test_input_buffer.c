#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "source/codecs/input_buffer.h"

struct counter {
    size_t given, total, piece;
};

/* Byte i is i modulo 251. */
static enum pyro_status read_counting(void *context, void *buffer, size_t capacity, size_t *ret_len,
                                      struct pyro_error *error)
{
    struct counter *counter = context;
    (void)error;
    size_t len = counter->total - counter->given;
    if (len > counter->piece)
        len = counter->piece;
    if (len > capacity)
        len = capacity;
    for (size_t i = 0; i < len; i++)
        ((unsigned char *)buffer)[i] = (unsigned char)((counter->given + i) % 251);
    counter->given += len;
    *ret_len = len;
    return PYRO_OK;
}

static void test_contiguous_runs(void **state)
{
    (void)state;
    struct counter counter = {0, 3000000, 1000};
    struct pyro_input_buffer intake;
    struct pyro_error error = {.size = sizeof(error)};
    assert_int_equal(pyro_input_buffer_open(&intake, NULL, (struct pyro_byte_input){read_counting, &counter}, &error),
                     PYRO_OK);
    size_t position = 0;
    for (size_t want = 1; position < counter.total; want = want * 3 + 1) {
        assert_int_equal(pyro_input_buffer_want(&intake, want, &error), PYRO_OK);
        size_t left = pyro_input_buffer_left(&intake);
        assert_true(left >= want || position + left == counter.total);
        for (size_t i = 0; i < left; i++)
            assert_int_equal(pyro_input_buffer_at(&intake)[i], (position + i) % 251);
        size_t skip = want < left ? want : left;
        pyro_input_buffer_skip(&intake, skip);
        position += skip;
    }
    pyro_input_buffer_close(&intake);
}

static void test_false_length_costs_nothing(void **state)
{
    (void)state;
    struct counter counter = {0, 100, 100};
    struct pyro_input_buffer intake;
    struct pyro_error error = {.size = sizeof(error)};
    assert_int_equal(pyro_input_buffer_open(&intake, NULL, (struct pyro_byte_input){read_counting, &counter}, &error),
                     PYRO_OK);
    assert_int_equal(pyro_input_buffer_want(&intake, SIZE_MAX, &error), PYRO_OK);
    assert_int_equal(pyro_input_buffer_left(&intake), 100);
    assert_true(intake.ended);
    assert_int_equal(intake.capacity, PYRO_INPUT_BUFFER_BYTES);
    pyro_input_buffer_close(&intake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contiguous_runs),
        cmocka_unit_test(test_false_length_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
