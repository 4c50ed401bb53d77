package io.pyrometer.spark.driver;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import scala.Option;

/**
 * What Java cannot link against in one JAR for all versions: methods that return collections have other signatures with Scala 2.12
 * and 2.13, and some classes are only there in some versions. They are called by name.
 */
final class Scala {
    /** Methods without parameters by name, of each class; empty: it has none of that name. */
    private static final ClassValue<Map<String, Optional<Method>>> METHODS = new ClassValue<Map<String, Optional<Method>>>() {
        @Override
        protected Map<String, Optional<Method>> computeValue(Class<?> type) {
            return new ConcurrentHashMap<>();
        }
    };
    private static final ClassValue<Optional<Method>> GETTERS = new ClassValue<Optional<Method>>() {
        @Override
        protected Optional<Method> computeValue(Class<?> type) {
            return find(type, "get", Object.class);
        }
    };

    private Scala() {}

    private static Optional<Method> find(Class<?> type, String name, Class<?>... parameters) {
        try {
            Method method = type.getMethod(name, parameters);
            method.setAccessible(true);
            return Optional.of(method);
        } catch (ReflectiveOperationException | RuntimeException error) {
            return Optional.empty();
        }
    }

    /** The result of a public method without parameters; null where there is none. */
    static Object call(Object target, String name) {
        if (target == null) {
            return null;
        }
        Class<?> type = target.getClass();
        Optional<Method> method = METHODS.get(type).computeIfAbsent(name, key -> find(type, key));
        try {
            return method.isPresent() ? method.get().invoke(target) : null;
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
            Optional<Method> getter = map == null ? Optional.empty() : GETTERS.get(map.getClass());
            Object option = getter.isPresent() ? getter.get().invoke(map, key) : null;
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
