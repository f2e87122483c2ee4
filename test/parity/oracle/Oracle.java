import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;

import io.fabric8.kubernetes.client.KubernetesClientException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;
import org.apache.spark.deploy.SparkSubmit;

/**
 * Runs spark-submit again and again in one JVM, since starting one takes most of the time of a submission.
 *
 * <p>Standard input holds, for each submission, the number of its arguments and then each argument as the number of its
 * bytes and the bytes, in UTF-8. Standard output gets one line for each: accepted, or who refused it and why.
 */
public final class Oracle {
  public static void main(String[] arguments) throws IOException {
    PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    System.setOut(System.err);
    DataInputStream requests = new DataInputStream(System.in);
    ClassLoader loader = Oracle.class.getClassLoader(); // which knows Store
    for (String[] request = read(requests); request != null; request = read(requests)) {
      Thread.currentThread().setContextClassLoader(loader);
      answers.println(submit(request));
    }
    Runtime.getRuntime().halt(0); // threads of the Kubernetes client would go on
  }

  private static String[] read(DataInputStream requests) throws IOException {
    int count;
    try {
      count = requests.readInt();
    } catch (EOFException end) {
      return null;
    }
    String[] request = new String[count];
    for (int i = 0; i < count; i++) {
      request[i] = new String(requests.readNBytes(requests.readInt()), StandardCharsets.UTF_8);
    }
    return request;
  }

  /** The same code as that of the command, which however ends the JVM where this throws. */
  private static String submit(String[] request) {
    try {
      new SparkSubmit().doSubmit(request);
      return "accepted";
    } catch (Throwable thrown) {
      return refusal(thrown);
    }
  }

  /** Stands for stores whose clients the archives lack, such as s3a. Every folder in it holds two jars. */
  public static final class Store extends FileSystem {
    private URI name;

    @Override
    public void initialize(URI uri, Configuration configuration) throws IOException {
      super.initialize(uri, configuration);
      name = uri;
    }

    @Override
    public URI getUri() {
      return name;
    }

    @Override
    public FileStatus getFileStatus(Path path) {
      return new FileStatus(1, !path.getName().contains("."), 1, 1, 0, path);
    }

    @Override
    public FileStatus[] listStatus(Path folder) {
      return new FileStatus[] {getFileStatus(new Path(folder, "one.jar")), getFileStatus(new Path(folder, "two.jar"))};
    }

    @Override
    public Path getWorkingDirectory() {
      return new Path("/");
    }

    @Override
    public void setWorkingDirectory(Path path) {}

    @Override
    public FSDataInputStream open(Path path, int buffer) {
      throw new UnsupportedOperationException();
    }

    @Override
    public FSDataOutputStream create(
        Path path, FsPermission permission, boolean over, int buffer, short copies, long block, Progressable progress) {
      throw new UnsupportedOperationException();
    }

    @Override
    public FSDataOutputStream append(Path path, int buffer, Progressable progress) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean rename(Path from, Path to) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean delete(Path path, boolean all) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean mkdirs(Path path, FsPermission permission) {
      throw new UnsupportedOperationException();
    }
  }

  private static String refusal(Throwable thrown) {
    for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
      if (cause instanceof KubernetesClientException refused && refused.getCode() >= 400) {
        return "server " + line(cause);
      }
    }
    return "spark " + line(thrown);
  }

  private static String line(Throwable thrown) {
    String message = String.valueOf(thrown.getMessage());
    return thrown.getClass().getSimpleName() + ": " + message.strip().replace('\n', ' ').replace('\r', ' ');
  }
}
