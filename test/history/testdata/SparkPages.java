import java.util.LinkedList;
import java.util.Queue;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.streaming.Durations;
import org.apache.spark.streaming.api.java.JavaStreamingContext;

/** A driver whose UI has something on each page. It prints the address of its UI and the ID of its application, and ends with its input. */
public final class SparkPages {
  private SparkPages() {}

  public static void main(String[] args) throws Exception {
    SparkSession spark = SparkSession.builder().getOrCreate();
    JavaSparkContext context = new JavaSparkContext(spark.sparkContext());
    spark.range(0, 1000, 1, 2).cache().count();
    spark.sql("select id % 7, count(*) from range(1000) group by 1").collectAsList();
    spark.readStream().format("rate").load().writeStream().queryName("rates").format("noop").start();

    JavaStreamingContext streaming = new JavaStreamingContext(context, Durations.seconds(1));
    Queue<JavaRDD<Integer>> batches = new LinkedList<>();
    batches.add(context.emptyRDD());
    streaming.queueStream(batches).foreachRDD(batch -> { batch.count(); });
    streaming.start();

    // A job that runs until it is killed. It needs no processor.
    Thread endless = new Thread(() -> {
      spark.sparkContext().setJobDescription("endless");
      spark.sql("select reflect('java.lang.Thread', 'sleep', 3600000L) from range(0, 1, 1, 1)").collectAsList();
    });
    endless.setDaemon(true);
    endless.start();
    while (context.statusTracker().getActiveJobIds().length == 0) {
      Thread.sleep(50);
    }

    System.out.println(spark.sparkContext().uiWebUrl().get() + " " + spark.sparkContext().applicationId());
    while (System.in.read() >= 0) {}
    spark.stop();
    System.exit(0); // streams have threads that do not end
  }
}
