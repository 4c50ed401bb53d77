#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/tracks/frame_kinds.h"
#include "model/column.h"

/* A stack of frames, outermost first: "function" of Java, or "file:function" of Python; its facts and frames. */
struct scene {
    struct pyro_tracks *tracks;
    struct pyro_arena arena;
    const struct pyro_stack_facts *facts;
    int32_t stack;
};

static void build(struct scene *scene, const char *const *frames)
{
    scene->tracks = pyro_tracks_new(NULL);
    scene->stack = -1;
    pyro_arena_init(&scene->arena, NULL);
    for (; *frames; frames++) {
        const char *colon = strchr(*frames, ':');
        const struct pyro_frame_row row = {
            .function = pyro_slice_from(colon ? colon + 1 : *frames),
            .file = colon ? (struct pyro_slice){*frames, (size_t)(colon - *frames)} : PYRO_SLICE_NULL,
            .line = PYRO_NONE,
            .language = colon ? PYRO_SLICE_LITERAL("python") : PYRO_SLICE_LITERAL("java")};
        scene->stack = pyro_tracks_add_stack(scene->tracks, scene->stack, pyro_tracks_add_frame(scene->tracks, &row));
        assert_true(scene->stack >= 0);
    }
    assert_true(pyro_tracks_seal(scene->tracks));
    scene->facts = pyro_stack_facts_of(scene->tracks, &scene->arena);
    assert_non_null(scene->facts);
    scene->facts += scene->stack;
}

static void done(struct scene *scene)
{
    pyro_tracks_free(scene->tracks);
    pyro_arena_done(&scene->arena);
}

static void assert_frame(const struct scene *scene, int32_t frame, const char *expected)
{
    if (!expected) {
        assert_int_equal(frame, -1);
        return;
    }
    assert_true(frame >= 0);
    struct pyro_slice function = pyro_tracks_frame(scene->tracks, (size_t)frame)->function;
    assert_int_equal(function.len, strlen(expected));
    assert_memory_equal(function.ptr, expected, function.len);
}

#define SPARK_ZIP "/opt/spark/python/lib/pyspark.zip/pyspark/"

static void test_a_python_function_that_brings_a_library(void **unused)
{
    static const char *const frames[] = {"<frozen runpy>:_run_code",
                                         SPARK_ZIP "worker.py:main",
                                         SPARK_ZIP "serializers.py:dump_stream",
                                         "/opt/spark/pyspark/work/app-1/0/pipelines.py:words",
                                         "/opt/spark/pyspark/work/app-1/0/pipelines.py:load",
                                         "/opt/packages/spacy/__init__.py:blank",
                                         "/opt/packages/spacy/language.py:tokenizer",
                                         NULL};
    struct scene scene;
    (void)unused;
    build(&scene, frames);
    assert_frame(&scene, scene.facts->method, "load");
    assert_frame(&scene, scene.facts->callee, "blank");
    assert_frame(&scene, scene.facts->prepares, "load");
    assert_frame(&scene, scene.facts->entry, "words");
    assert_true(scene.facts->program && scene.facts->python && !scene.facts->transfer && !scene.facts->input);
    done(&scene);
}

static void test_a_python_worker_without_the_program(void **unused)
{
    static const char *const writes[] = {SPARK_ZIP "worker.py:main", SPARK_ZIP "serializers.py:dumps", NULL};
    static const char *const reads[] = {SPARK_ZIP "worker.py:main", SPARK_ZIP "serializers.py:read_int", NULL};
    struct scene scene;
    (void)unused;
    build(&scene, writes);
    assert_true(scene.facts->transfer && !scene.facts->input && !scene.facts->program);
    done(&scene);
    build(&scene, reads);
    assert_true(!scene.facts->transfer && scene.facts->input && !scene.facts->program);
    done(&scene);
}

static void test_a_method_of_the_program_in_a_task(void **unused)
{
    static const char *const frames[] = {"java.lang.Thread.run",
                                         "org.apache.spark.executor.Executor$TaskRunner.run",
                                         "scala.collection.Iterator$$anon$10.next",
                                         "org.acme.Prices$.ask",
                                         "java.net.Socket.connect",
                                         "sun.nio.ch.Net.poll",
                                         NULL};
    struct scene scene;
    (void)unused;
    build(&scene, frames);
    assert_frame(&scene, scene.facts->method, "org.acme.Prices$.ask");
    assert_frame(&scene, scene.facts->callee, "java.net.Socket.connect");
    assert_frame(&scene, scene.facts->prepares, "java.net.Socket.connect");
    assert_true(scene.facts->in_task && scene.facts->program && !scene.facts->expression && !scene.facts->python);
    done(&scene);
}

static void test_a_function_of_a_query(void **unused)
{
    static const char *const frames[] = {"org.apache.spark.executor.Executor$TaskRunner.run",
                                         "org.apache.spark.sql.catalyst.expressions.CallMethodViaReflection.eval",
                                         "java.lang.reflect.Method.invoke",
                                         "jdk.internal.reflect.GeneratedMethodAccessor15.invoke",
                                         "java.lang.Thread.sleep",
                                         NULL};
    struct scene scene;
    (void)unused;
    build(&scene, frames);
    assert_frame(&scene, scene.facts->method, frames[1]);
    assert_frame(&scene, scene.facts->callee, "java.lang.Thread.sleep");
    assert_true(scene.facts->in_task && !scene.facts->program && scene.facts->expression);
    done(&scene);
}

static void test_spark_alone(void **unused)
{
    static const char *const frames[] = {"java.lang.Thread.run", "io.netty.channel.nio.NioEventLoop.run",
                                         "sun.nio.ch.EPoll.wait", NULL};
    struct scene scene;
    (void)unused;
    build(&scene, frames);
    assert_frame(&scene, scene.facts->entry, NULL);
    assert_frame(&scene, scene.facts->prepares, NULL);
    assert_true(!scene.facts->in_task && !scene.facts->program && !scene.facts->expression);
    done(&scene);
}

static void test_locks_are_those_of_the_library_and_not_conditions(void **unused)
{
    struct scene scene;
    (void)unused;
    build(&scene, (const char *const[]){"org.apache.spark.executor.Executor$TaskRunner.run", "com.acme.Keys.sign",
                                        "java.util.concurrent.locks.ReentrantLock.lock",
                                        "java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire",
                                        "jdk.internal.misc.Unsafe.park", NULL});
    assert_true(scene.facts->locks);
    assert_frame(&scene, scene.facts->method, "com.acme.Keys.sign");
    done(&scene);
    build(&scene, (const char *const[]){"com.acme.Keys.next", "java.util.concurrent.LinkedBlockingQueue.take",
                                        "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await",
                                        "jdk.internal.misc.Unsafe.park", NULL});
    assert_false(scene.facts->locks);
    done(&scene);
    build(&scene, (const char *const[]){"com.acme.Keys.lock", NULL});
    assert_false(scene.facts->locks);
    done(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_python_function_that_brings_a_library),
        cmocka_unit_test(test_a_python_worker_without_the_program),
        cmocka_unit_test(test_a_method_of_the_program_in_a_task),
        cmocka_unit_test(test_a_function_of_a_query),
        cmocka_unit_test(test_spark_alone),
        cmocka_unit_test(test_locks_are_those_of_the_library_and_not_conditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
