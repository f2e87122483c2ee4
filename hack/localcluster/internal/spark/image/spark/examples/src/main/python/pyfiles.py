"""Uses a module that comes by --py-files, on the driver and on executors."""

import sys

from pyspark.sql import SparkSession

if __name__ == "__main__":
    from py_container_checks import version_check

    session = SparkSession.builder.appName("PyFilesTest").getOrCreate()

    asked = sys.argv[1] if len(sys.argv) > 1 else "python3"
    version = 2 if asked.startswith("python2") or asked == "python" else 3
    version_check(asked, version)

    def on_executor(_):
        import py_container_checks

        return py_container_checks.__name__

    names = session.sparkContext.parallelize(range(2), 2).map(on_executor).distinct().collect()
    print("Imported on executors: %s" % names)
    session.stop()
