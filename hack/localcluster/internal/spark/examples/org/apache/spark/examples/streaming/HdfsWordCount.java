package org.apache.spark.examples.streaming;

import java.util.Arrays;
import org.apache.spark.SparkConf;
import org.apache.spark.streaming.Durations;
import org.apache.spark.streaming.api.java.JavaStreamingContext;
import scala.Tuple2;

/** Counts the words of files that appear in a folder. Usage: HdfsWordCount DIR. */
public final class HdfsWordCount {
  private HdfsWordCount() {}

  public static void main(String[] args) throws InterruptedException {
    if (args.length < 1) {
      System.err.println("Usage: HdfsWordCount <directory>");
      System.exit(1);
    }
    SparkConf conf = new SparkConf().setAppName("HdfsWordCount");
    JavaStreamingContext context = new JavaStreamingContext(conf, Durations.seconds(2));
    context.textFileStream(args[0])
        .flatMap(line -> Arrays.asList(line.split(" ")).iterator())
        .mapToPair(word -> new Tuple2<>(word, 1))
        .reduceByKey(Integer::sum)
        .print();
    context.start();
    context.awaitTermination();
  }
}
