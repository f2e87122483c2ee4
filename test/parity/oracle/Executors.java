import java.io.IOException;
import java.io.Reader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import org.apache.spark.SecurityManager;
import org.apache.spark.SparkConf;
import org.apache.spark.deploy.k8s.KubernetesConf;
import org.apache.spark.deploy.k8s.KubernetesExecutorConf;
import org.apache.spark.deploy.k8s.SparkPod;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.resource.ResourceProfile$;
import org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBuilder;
import scala.Option;

/**
 * Makes the Pods of executors as drivers do, of what those find mounted.
 *
 * <p>Each folder of the one that is named holds spark.properties, and template.yaml where there is a template of the
 * executors. It gets pod.json, as the driver sends it but for the owner.
 */
public final class Executors {
  private static final String TEMPLATE = "spark.kubernetes.executor.podTemplateFile";

  public static void main(String[] arguments) throws IOException {
    KubernetesClient client = new KubernetesClientBuilder()
        .withConfig(new ConfigBuilder(io.fabric8.kubernetes.client.Config.empty()).build()).build();
    try (DirectoryStream<Path> folders = Files.newDirectoryStream(Path.of(arguments[0]))) {
      for (Path folder : folders) {
        Files.writeString(folder.resolve("pod.json"), Serialization.asJson(executor(client, folder)));
      }
    }
    Runtime.getRuntime().halt(0); // threads of the Kubernetes client would go on
  }

  private static Pod executor(KubernetesClient client, Path folder) throws IOException {
    SparkConf conf = new SparkConf(false);
    Properties properties = new Properties();
    try (Reader text = Files.newBufferedReader(folder.resolve("spark.properties"))) {
      properties.load(text);
    }
    properties.stringPropertyNames().forEach(key -> conf.set(key, properties.getProperty(key)));
    if (conf.contains(TEMPLATE)) {
      conf.set(TEMPLATE, folder.resolve("template.yaml").toString());
    }
    ResourceProfile$.MODULE$.clearDefaultProfile();
    ResourceProfile profile = ResourceProfile$.MODULE$.getOrCreateDefaultProfile(conf);
    KubernetesExecutorConf executor =
        KubernetesConf.createExecutorConf(conf, "1", conf.getAppId(), Option.empty(), profile.id());
    SecurityManager security =
        new SecurityManager(conf, Option.empty(), SecurityManager.$lessinit$greater$default$3());
    SparkPod pod = new KubernetesExecutorBuilder().buildFromFeatures(executor, security, client, profile).pod();
    return new PodBuilder(pod.pod()).editOrNewSpec().addToContainers(pod.container()).endSpec().build();
  }
}
