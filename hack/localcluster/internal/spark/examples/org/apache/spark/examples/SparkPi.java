package org.apache.spark.examples;

import java.util.concurrent.ThreadLocalRandom;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.SparkSession;

/** Estimates Pi by throwing points at a square. Usage: SparkPi [partitions]. */
public final class SparkPi {
  private SparkPi() {}

  public static void main(String[] args) {
    SparkSession session = SparkSession.builder().appName("Spark Pi").getOrCreate();
    estimate(session, args);
    session.stop();
  }

  static void estimate(SparkSession session, String[] args) {
    int slices = args.length > 0 ? Integer.parseInt(args[0]) : 2;
    long n = Math.min(100000L * slices, Integer.MAX_VALUE); // as Spark's own, which avoids overflow
    JavaRDD<Object> points = session.sparkContext().range(1, n, 1, slices).toJavaRDD();
    int hits = points.map(point -> hit()).reduce(Integer::sum);
    System.out.println("Pi is roughly " + 4.0 * hits / (n - 1));
  }

  private static int hit() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    double x = random.nextDouble() * 2 - 1;
    double y = random.nextDouble() * 2 - 1;
    return x * x + y * y <= 1 ? 1 : 0;
  }
}
