package io.pyrometer.spark.driver;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import scala.Option;

/**
 * What Java cannot link against in one JAR for all versions: methods that return collections have other signatures with Scala 2.12
 * and 2.13, and some classes are only there in some versions. They are called by name.
 */
final class Scala {
    private static final Map<String, Method> METHODS = new ConcurrentHashMap<>();

    private Scala() {}

    /** The result of a public method without parameters; null where there is none. */
    static Object call(Object target, String name) {
        if (target == null) {
            return null;
        }
        String key = target.getClass().getName() + '#' + name;
        try {
            Method method = METHODS.get(key);
            if (method == null) {
                method = target.getClass().getMethod(name);
                method.setAccessible(true);
                METHODS.put(key, method);
            }
            return method.invoke(target);
        } catch (ReflectiveOperationException | RuntimeException error) {
            return null;
        }
    }

    static String text(Object target, String name) {
        Object value = call(target, name);
        return value == null ? null : value.toString();
    }

    static long number(Object target, String name, long otherwise) {
        Object value = call(target, name);
        return value instanceof Number ? ((Number) value).longValue() : otherwise;
    }

    /** Elements of a Scala collection. */
    static List<Object> list(Object collection) {
        List<Object> list = new ArrayList<>();
        Object iterator = call(collection, "iterator");
        while (iterator != null && Boolean.TRUE.equals(call(iterator, "hasNext"))) {
            list.add(call(iterator, "next"));
        }
        return list;
    }

    /** What a Scala map has for a key; null: nothing. */
    static Object get(Object map, Object key) {
        try {
            Object option = map == null ? null : map.getClass().getMethod("get", Object.class).invoke(map, key);
            return Boolean.TRUE.equals(call(option, "isDefined")) ? call(option, "get") : null;
        } catch (ReflectiveOperationException | RuntimeException error) {
            return null;
        }
    }

    static long number(Option<?> option, long otherwise) {
        return option != null && option.isDefined() && option.get() instanceof Number
                ? ((Number) option.get()).longValue()
                : otherwise;
    }

    static String text(Option<?> option) {
        return option != null && option.isDefined() ? String.valueOf(option.get()) : null;
    }
}
