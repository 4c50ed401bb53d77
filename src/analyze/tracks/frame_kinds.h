/* Whose code a frame of a stack is: the program's, a library's, or Spark's and that of its language. */
#ifndef PYRO_ANALYZE_TRACKS_FRAME_KINDS_H
#define PYRO_ANALYZE_TRACKS_FRAME_KINDS_H

#include "base/memory/arena.h"
#include "model/tracks/tracks.h"

enum pyro_frame_kind {
    PYRO_FRAME_PROGRAM,    /* of the program, or of a library that it brings */
    PYRO_FRAME_LANGUAGE,   /* of the JDK, Scala or Python */
    PYRO_FRAME_SPARK,      /* of Spark, and of what it is made with */
    PYRO_FRAME_EXPRESSION, /* of Spark: it evaluates a function of a query */
    PYRO_FRAME_REFLECTION  /* only calls something else */
};
enum pyro_frame_kind pyro_frame_kind_of(const struct pyro_frame_row *frame);
/* Its name says that it prepares something which can be used again: a model, a connection, a compiled pattern. */
bool pyro_frame_prepares(const struct pyro_frame_row *frame);
/* A Python worker in it waits for its executor to send data. */
bool pyro_frame_waits_for_input(const struct pyro_frame_row *frame);

/* It takes a lock of java.util.concurrent: a thread that waits in it waits for the lock's holder. */
bool pyro_frame_takes_lock(const struct pyro_frame_row *frame);

/* Who turns objects into bytes, or back. */
enum pyro_serializer {
    PYRO_SERIALIZER_NONE,
    PYRO_SERIALIZER_SPARK, /* Spark's own code: rows, and what calls one of the others */
    PYRO_SERIALIZER_JAVA,  /* serialization of Java objects */
    PYRO_SERIALIZER_KRYO,
    PYRO_SERIALIZERS
};
/* Not of what runs the program to get the objects. */
enum pyro_serializer pyro_frame_serializer(const struct pyro_frame_row *frame);

/* What a stack of a task says; frames are rows of `frames`, -1: none. */
struct pyro_stack_facts {
    int32_t method;   /* innermost frame of the program; without one, what Spark or a query's function called */
    int32_t callee;   /* what the method called, where that is not code of the program */
    int32_t prepares; /* outermost frame that prepares, of the program or called by it */
    bool program;     /* `method` is the program's */
    bool expression;  /* without a frame of the program: called by a function of a query */
    bool in_task;     /* Executor$TaskRunner.run() is in it */
    bool locks;       /* waits for a lock of java.util.concurrent, if it waits */
    bool python;
    bool input;    /* a Python worker that waits for input */
    bool transfer; /* a Python worker at work outside of the program: it reads, writes, converts rows */
    int32_t entry; /* where Spark called the program */
};

/* One for each row of `stacks`; NULL: no memory left in the arena. */
const struct pyro_stack_facts *pyro_stack_facts_of(const struct pyro_tracks *tracks, struct pyro_arena *arena);

#endif
