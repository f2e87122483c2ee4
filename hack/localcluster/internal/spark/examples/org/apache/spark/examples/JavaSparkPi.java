package org.apache.spark.examples;

import org.apache.spark.sql.SparkSession;

/** SparkPi under the name of its Java twin. Usage: JavaSparkPi [partitions]. */
public final class JavaSparkPi {
  private JavaSparkPi() {}

  public static void main(String[] args) {
    SparkSession session = SparkSession.builder().appName("JavaSparkPi").getOrCreate();
    SparkPi.estimate(session, args);
    session.stop();
  }
}
