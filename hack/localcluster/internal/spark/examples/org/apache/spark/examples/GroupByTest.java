package org.apache.spark.examples;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/** Groups random pairs. Usage: GroupByTest [mappers] [pairs] [bytes of a value] [reducers]. */
public final class GroupByTest {
  private GroupByTest() {}

  public static void main(String[] args) {
    SparkSession session = SparkSession.builder().appName("GroupBy Test").getOrCreate();
    int mappers = argument(args, 0, 2);
    int pairs = argument(args, 1, 1000);
    int bytes = argument(args, 2, 1000);
    int reducers = argument(args, 3, mappers);

    JavaPairRDD<Integer, byte[]> generated = session.sparkContext()
        .range(0, mappers, 1, mappers).toJavaRDD()
        .flatMapToPair(mapper -> {
          ThreadLocalRandom random = ThreadLocalRandom.current();
          List<Tuple2<Integer, byte[]>> list = new ArrayList<>(pairs);
          for (int i = 0; i < pairs; i++) {
            byte[] value = new byte[bytes];
            random.nextBytes(value);
            list.add(new Tuple2<>(random.nextInt(Integer.MAX_VALUE), value));
          }
          return list.iterator();
        })
        .cache();
    generated.count(); // everything is made and cached before the grouping begins
    System.out.println(generated.groupByKey(reducers).count());
    session.stop();
  }

  private static int argument(String[] args, int index, int otherwise) {
    return args.length > index ? Integer.parseInt(args[index]) : otherwise;
  }
}
