package org.apache.spark.examples;

import java.util.Arrays;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/** Counts the words of a file. Usage: JavaWordCount FILE. */
public final class JavaWordCount {
  private JavaWordCount() {}

  public static void main(String[] args) {
    if (args.length < 1) {
      System.err.println("Usage: JavaWordCount <file>");
      System.exit(1);
    }
    SparkSession session = SparkSession.builder().appName("JavaWordCount").getOrCreate();
    session.read().textFile(args[0]).javaRDD()
        .flatMap(line -> Arrays.asList(line.split(" ")).iterator())
        .mapToPair(word -> new Tuple2<>(word, 1))
        .reduceByKey(Integer::sum)
        .collect()
        .forEach(count -> System.out.println(count._1() + ": " + count._2()));
    session.stop();
  }
}
