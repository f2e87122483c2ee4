package org.apache.spark.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/** Writes a local file's lines to a file system and reads them back. Usage: DFSReadWriteTest FILE DIR. */
public final class DFSReadWriteTest {
  private DFSReadWriteTest() {}

  public static void main(String[] args) throws IOException {
    if (args.length != 2) {
      System.err.println("DFS Read-Write Test\n\nUsage: <localFile> <dfsDir>");
      System.exit(1);
    }
    System.out.println("Performing local word count");
    List<String> lines = Files.readAllLines(Path.of(args[0]));
    long local = lines.stream().flatMap(line -> words(line).stream()).count();

    SparkSession session = SparkSession.builder().appName("DFS Read Write Test").getOrCreate();
    JavaSparkContext context = JavaSparkContext.fromSparkContext(session.sparkContext());
    String output = args[1] + "/dfs_read_write_test";

    System.out.println("Writing local file to DFS");
    context.parallelize(lines).saveAsTextFile(output);

    System.out.println("Reading file from DFS and running Word Count");
    JavaRDD<String> read = context.textFile(output);
    long remote = read.flatMap(line -> words(line).iterator())
        .mapToPair(word -> new Tuple2<>(word, 1L))
        .reduceByKey(Long::sum)
        .values()
        .fold(0L, Long::sum);
    session.stop();

    if (local != remote) {
      System.out.printf("Failure! Local Word Count %d and DFS Word Count %d disagree.%n", local, remote);
      System.exit(1);
    }
    System.out.printf("Success! Local Word Count %d and DFS Word Count %d agree.%n", local, remote);
  }

  private static List<String> words(String line) {
    return Arrays.stream(line.split("[ \t]")).filter(word -> !word.isEmpty()).toList();
  }
}
