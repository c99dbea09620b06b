import com.hivemq.embedded.EmbeddedExtension;
import com.hivemq.embedded.EmbeddedHiveMQ;
import com.hivemq.extension.sdk.api.ExtensionMain;
import com.hivemq.extension.sdk.api.auth.SimpleAuthenticator;
import com.hivemq.extension.sdk.api.auth.parameter.SimpleAuthInput;
import com.hivemq.extension.sdk.api.auth.parameter.SimpleAuthOutput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStartInput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStartOutput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStopInput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStopOutput;
import com.hivemq.extension.sdk.api.services.Services;
import java.nio.file.Path;

/**
 * A HiveMQ that lets in anybody, which it does not do without an extension: java -cp 'JARS/*' OpenBroker.java FOLDER, which
 * has conf/config.xml and gets its data.
 */
public class OpenBroker {
  public static void main(String[] args) {
    Path folder = Path.of(args[0]);
    EmbeddedExtension open =
        EmbeddedExtension.builder()
            .withId("open")
            .withName("open")
            .withVersion("1")
            .withAuthor("test")
            .withPriority(0)
            .withStartPriority(1000)
            .withExtensionMain(new LetsInAnybody())
            .build();
    EmbeddedHiveMQ broker =
        EmbeddedHiveMQ.builder()
            .withConfigurationFolder(folder.resolve("conf"))
            .withDataFolder(folder.resolve("data"))
            .withExtensionsFolder(folder.resolve("extensions"))
            .withEmbeddedExtension(open)
            .build();
    broker.start().join();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> broker.stop().join()));
  }

  static class LetsInAnybody implements ExtensionMain, SimpleAuthenticator {
    public void extensionStart(ExtensionStartInput input, ExtensionStartOutput output) {
      Services.securityRegistry().setAuthenticatorProvider(each -> this);
    }

    public void extensionStop(ExtensionStopInput input, ExtensionStopOutput output) {}

    public void onConnect(SimpleAuthInput input, SimpleAuthOutput output) {
      output.authenticateSuccessfully();
    }
  }
}
