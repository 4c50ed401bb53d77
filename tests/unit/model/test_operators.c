/* Operators by name: exact names before prefixes, longer prefixes before shorter ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/operators.h"

static void assert_class(const char *name, enum pyro_operator_class class, enum pyro_engine engine)
{
    const struct pyro_operator *known = pyro_operator_find(pyro_slice_from(name));
    assert_non_null(known);
    assert_int_equal(known->operator_class, class);
    assert_int_equal(known->engine, engine);
}

static void names(void **state)
{
    (void)state;
    assert_class("Exchange", PYRO_OPERATOR_SHUFFLE, PYRO_ENGINE_SPARK);
    assert_class("Scan parquet default.sales", PYRO_OPERATOR_SCAN, PYRO_ENGINE_SPARK);
    assert_class("Scan ExistingRDD", PYRO_OPERATOR_LOCAL, PYRO_ENGINE_SPARK);
    assert_class("Scan In-memory table sales", PYRO_OPERATOR_CACHE, PYRO_ENGINE_SPARK);
    assert_class("WholeStageCodegen (12)", PYRO_OPERATOR_CODEGEN, PYRO_ENGINE_SPARK);
    assert_class("WholeStageCodegenTransformer (2)", PYRO_OPERATOR_CODEGEN, PYRO_ENGINE_GLUTEN);
    assert_class("SortMergeJoin(skew=true)", PYRO_OPERATOR_SORT_MERGE_JOIN, PYRO_ENGINE_SPARK);
    assert_class("Execute InsertIntoHadoopFsRelationCommand", PYRO_OPERATOR_WRITE, PYRO_ENGINE_SPARK);
    assert_class("Execute OptimizeTableCommand", PYRO_OPERATOR_COMMAND, PYRO_ENGINE_DELTA);
    assert_class("Execute SomethingElseCommand", PYRO_OPERATOR_COMMAND, PYRO_ENGINE_SPARK);
    assert_class("GpuProject", PYRO_OPERATOR_PROJECT, PYRO_ENGINE_RAPIDS);
    assert_class("GpuNewThing", PYRO_OPERATOR_OTHER, PYRO_ENGINE_RAPIDS);
    assert_class("PhotonBroadcastHashJoin", PYRO_OPERATOR_BROADCAST_HASH_JOIN, PYRO_ENGINE_PHOTON);
    assert_class("CometSortMergeJoin", PYRO_OPERATOR_SORT_MERGE_JOIN, PYRO_ENGINE_COMET);
    static const char *const unknown[] = {"", "Exchanger", "exchange", "Exch", "Martian", "Filter2"};
    for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
        assert_null(pyro_operator_find(pyro_slice_from(unknown[i])));
    assert_null(pyro_operator_find(PYRO_SLICE_NULL));
}

/* Each row is found by its own name, so that none hides another. */
static void every_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < pyro_operator_count; i++)
        assert_ptr_equal(pyro_operator_find(pyro_slice_from(pyro_operators[i].name)), &pyro_operators[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(every_row)};
    return cmocka_run_group_tests_name("operators", tests, NULL, NULL);
}
