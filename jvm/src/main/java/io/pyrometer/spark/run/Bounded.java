package io.pyrometer.spark.run;

import java.util.LinkedHashMap;
import java.util.Map;

/** A map that forgets its oldest entries beyond a number: of what is kept until an event comes that may never do so. */
public final class Bounded<K, V> extends LinkedHashMap<K, V> {
    private static final long serialVersionUID = 1L;

    private final int most;

    public Bounded(int most) {
        this.most = most;
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
        return size() > most;
    }
}
