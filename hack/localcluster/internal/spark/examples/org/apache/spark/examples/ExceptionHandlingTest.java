package org.apache.spark.examples;

import org.apache.spark.sql.SparkSession;

/** Fails in about every fourth task. */
public final class ExceptionHandlingTest {
  private ExceptionHandlingTest() {}

  public static void main(String[] args) {
    SparkSession session = SparkSession.builder().appName("ExceptionHandlingTest").getOrCreate();
    int tasks = session.sparkContext().defaultParallelism();
    session.sparkContext().range(0, tasks, 1, tasks).toJavaRDD().foreach(task -> {
      if (Math.random() > 0.75) {
        throw new Exception("Testing exception handling");
      }
    });
    session.stop();
  }
}
