package org.apache.spark.examples;

/** Prints what the driver sees and stays alive. Usage: DriverSubmissionTest SECONDS. */
public final class DriverSubmissionTest {
  private DriverSubmissionTest() {}

  public static void main(String[] args) throws InterruptedException {
    if (args.length < 1) {
      System.out.println("Usage: DriverSubmissionTest <seconds-to-sleep>");
      System.exit(0);
    }
    System.out.println("Environment variables containing SPARK_TEST:");
    print(System.getenv());
    System.out.println("System properties containing spark.test:");
    print(System.getProperties());

    int seconds = Integer.parseInt(args[0]);
    for (int i = 1; i < seconds; i++) {
      System.out.printf("Alive for %d out of %d seconds%n", i, seconds);
      Thread.sleep(1000);
    }
  }

  private static void print(java.util.Map<?, ?> settings) {
    settings.forEach((key, value) -> {
      if (key.toString().contains("SPARK_TEST") || key.toString().contains("spark.test")) {
        System.out.println(key + "=" + value);
      }
    });
  }
}
