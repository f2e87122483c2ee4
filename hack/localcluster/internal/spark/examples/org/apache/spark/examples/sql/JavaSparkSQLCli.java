package org.apache.spark.examples.sql;

import org.apache.spark.sql.SparkSession;

/** Runs SQL statements and shows what comes of each. Usage: JavaSparkSQLCli STATEMENT... */
public final class JavaSparkSQLCli {
  private JavaSparkSQLCli() {}

  public static void main(String[] args) {
    SparkSession session = SparkSession.builder().appName("Java Spark SQL CLI").getOrCreate();
    for (String statement : args) {
      session.sql(statement).show(false);
    }
    session.stop();
  }
}
