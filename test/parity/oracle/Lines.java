import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.fabric8.kubernetes.client.utils.Serialization;
import org.apache.spark.SparkConf;
import org.apache.spark.deploy.SparkSubmit;
import org.apache.spark.deploy.SparkSubmitArguments;
import scala.Option;
import scala.Tuple2;
import scala.Tuple4;

/**
 * Reads command lines of spark-submit as it does, up to where it passes them to its client of Kubernetes.
 *
 * <p>Each folder of the one that is named holds the file arguments, each ended by a zero byte, and the file
 * environment with names and values in turn. It gets read.json.
 */
public final class Lines {
  public static void main(String[] arguments) throws IOException {
    try (DirectoryStream<Path> folders = Files.newDirectoryStream(Path.of(arguments[0]))) {
      for (Path folder : folders) {
        Files.writeString(folder.resolve("read.json"), Serialization.asJson(read(folder)));
      }
    }
    Runtime.getRuntime().halt(0);
  }

  private static Map<String, Object> read(Path folder) throws IOException {
    Map<String, Object> result = new LinkedHashMap<>();
    try {
      Object parsed = SparkSubmitArguments.class.getConstructors()[0]
          .newInstance(sequence(parts(folder.resolve("arguments"))), environment(parts(folder.resolve("environment"))));
      Tuple4<?, ?, ?, ?> prepared = new SparkSubmit().prepareSubmitEnvironment((SparkSubmitArguments) parsed, Option.empty());
      scala.collection.Seq<?> given = (scala.collection.Seq<?>) prepared._1();
      List<String> all = new ArrayList<>();
      for (int i = 0; i < given.length(); i++) {
        all.add((String) given.apply(i));
      }
      Map<String, String> properties = new TreeMap<>();
      for (Tuple2<String, String> property : ((SparkConf) prepared._3()).getAll()) {
        properties.put(property._1(), property._2());
      }
      result.put("arguments", all);
      result.put("properties", properties);
    } catch (ReflectiveOperationException | RuntimeException | Error thrown) {
      Throwable cause = thrown.getCause() == null ? thrown : thrown.getCause();
      result.put("refused", String.valueOf(cause.getMessage()));
    } catch (Exception thrown) { // Scala declares none
      result.put("refused", String.valueOf(thrown.getMessage()));
    }
    return result;
  }

  private static List<String> parts(Path file) throws IOException {
    List<String> parts = new ArrayList<>(List.of(Files.readString(file).split("\0", -1)));
    parts.remove(parts.size() - 1);
    return parts;
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static scala.collection.immutable.List<String> sequence(List<String> items) {
    scala.collection.immutable.List list = scala.collection.immutable.Nil$.MODULE$;
    for (int i = items.size() - 1; i >= 0; i--) {
      list = new scala.collection.immutable.$colon$colon(items.get(i), list);
    }
    return list;
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static Object environment(List<String> parts) {
    scala.collection.immutable.Map map = scala.collection.immutable.Map$.MODULE$.empty();
    for (int i = 0; i < parts.size(); i += 2) {
      map = (scala.collection.immutable.Map) (Object) map.$plus(new Tuple2(parts.get(i), parts.get(i + 1)));
    }
    return map;
  }
}
