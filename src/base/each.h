/* PYRO_EACH(DO, (a, b), (c, d), ...) becomes DO(a, b) DO(c, d) ...: one list that makes both a table and its enum.
 * Lists have at most 24 rows; a longer one does not compile. */
#ifndef PYRO_BASE_EACH_H
#define PYRO_BASE_EACH_H

#define PYRO_EACH_1(DO, row)       DO row
#define PYRO_EACH_2(DO, row, ...)  DO row PYRO_EACH_1(DO, __VA_ARGS__)
#define PYRO_EACH_3(DO, row, ...)  DO row PYRO_EACH_2(DO, __VA_ARGS__)
#define PYRO_EACH_4(DO, row, ...)  DO row PYRO_EACH_3(DO, __VA_ARGS__)
#define PYRO_EACH_5(DO, row, ...)  DO row PYRO_EACH_4(DO, __VA_ARGS__)
#define PYRO_EACH_6(DO, row, ...)  DO row PYRO_EACH_5(DO, __VA_ARGS__)
#define PYRO_EACH_7(DO, row, ...)  DO row PYRO_EACH_6(DO, __VA_ARGS__)
#define PYRO_EACH_8(DO, row, ...)  DO row PYRO_EACH_7(DO, __VA_ARGS__)
#define PYRO_EACH_9(DO, row, ...)  DO row PYRO_EACH_8(DO, __VA_ARGS__)
#define PYRO_EACH_10(DO, row, ...) DO row PYRO_EACH_9(DO, __VA_ARGS__)
#define PYRO_EACH_11(DO, row, ...) DO row PYRO_EACH_10(DO, __VA_ARGS__)
#define PYRO_EACH_12(DO, row, ...) DO row PYRO_EACH_11(DO, __VA_ARGS__)
#define PYRO_EACH_13(DO, row, ...) DO row PYRO_EACH_12(DO, __VA_ARGS__)
#define PYRO_EACH_14(DO, row, ...) DO row PYRO_EACH_13(DO, __VA_ARGS__)
#define PYRO_EACH_15(DO, row, ...) DO row PYRO_EACH_14(DO, __VA_ARGS__)
#define PYRO_EACH_16(DO, row, ...) DO row PYRO_EACH_15(DO, __VA_ARGS__)
#define PYRO_EACH_17(DO, row, ...) DO row PYRO_EACH_16(DO, __VA_ARGS__)
#define PYRO_EACH_18(DO, row, ...) DO row PYRO_EACH_17(DO, __VA_ARGS__)
#define PYRO_EACH_19(DO, row, ...) DO row PYRO_EACH_18(DO, __VA_ARGS__)
#define PYRO_EACH_20(DO, row, ...) DO row PYRO_EACH_19(DO, __VA_ARGS__)
#define PYRO_EACH_21(DO, row, ...) DO row PYRO_EACH_20(DO, __VA_ARGS__)
#define PYRO_EACH_22(DO, row, ...) DO row PYRO_EACH_21(DO, __VA_ARGS__)
#define PYRO_EACH_23(DO, row, ...) DO row PYRO_EACH_22(DO, __VA_ARGS__)
#define PYRO_EACH_24(DO, row, ...) DO row PYRO_EACH_23(DO, __VA_ARGS__)
#define PYRO_EACH_PICK(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, \
                       _22, _23, _24, name, ...)                                                                       \
    name
#define PYRO_EACH(DO, ...)                                                                                             \
    PYRO_EACH_PICK(__VA_ARGS__, PYRO_EACH_24, PYRO_EACH_23, PYRO_EACH_22, PYRO_EACH_21, PYRO_EACH_20, PYRO_EACH_19,    \
                   PYRO_EACH_18, PYRO_EACH_17, PYRO_EACH_16, PYRO_EACH_15, PYRO_EACH_14, PYRO_EACH_13, PYRO_EACH_12,   \
                   PYRO_EACH_11, PYRO_EACH_10, PYRO_EACH_9, PYRO_EACH_8, PYRO_EACH_7, PYRO_EACH_6, PYRO_EACH_5,        \
                   PYRO_EACH_4, PYRO_EACH_3, PYRO_EACH_2, PYRO_EACH_1, 0)                                              \
    (DO, __VA_ARGS__)

#endif
