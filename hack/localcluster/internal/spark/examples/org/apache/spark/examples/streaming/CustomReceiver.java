package org.apache.spark.examples.streaming;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.spark.SparkConf;
import org.apache.spark.storage.StorageLevel;
import org.apache.spark.streaming.Durations;
import org.apache.spark.streaming.api.java.JavaStreamingContext;
import org.apache.spark.streaming.receiver.Receiver;
import scala.Tuple2;

/** Counts the words of lines that a server sends. Usage: CustomReceiver HOST PORT. */
public final class CustomReceiver extends Receiver<String> {
  private final String host;
  private final int port;

  private CustomReceiver(String host, int port) {
    super(StorageLevel.MEMORY_AND_DISK_2());
    this.host = host;
    this.port = port;
  }

  public static void main(String[] args) throws InterruptedException {
    if (args.length < 2) {
      System.err.println("Usage: CustomReceiver <hostname> <port>");
      System.exit(1);
    }
    JavaStreamingContext context = new JavaStreamingContext(new SparkConf().setAppName("CustomReceiver"), Durations.seconds(1));
    context.receiverStream(new CustomReceiver(args[0], Integer.parseInt(args[1])))
        .flatMap(line -> Arrays.asList(line.split(" ")).iterator())
        .mapToPair(word -> new Tuple2<>(word, 1))
        .reduceByKey(Integer::sum)
        .print();
    context.start();
    context.awaitTermination();
  }

  @Override
  public void onStart() {
    new Thread(this::receive, "Socket Receiver").start();
  }

  @Override
  public void onStop() {} // the thread sees it

  private void receive() {
    try (Socket socket = new Socket(host, port);
        BufferedReader lines = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); !isStopped() && line != null; line = lines.readLine()) {
        store(line);
      }
      restart("The server closed the connection");
    } catch (IOException failure) {
      restart("No lines from " + host + ":" + port, failure);
    }
  }
}
