"""Counts words: word_count.py FROM TO, which are folders of an object storage, such as s3a://BUCKET/FOLDER."""

import sys

from pyspark.sql import SparkSession
from pyspark.sql.functions import explode, lower, split

spark = SparkSession.builder.getOrCreate()
words = spark.read.text(sys.argv[1]).select(explode(split(lower("value"), r"\W+")).alias("word"))
words.where("word != ''").groupBy("word").count().orderBy("word").write.mode("overwrite").csv(sys.argv[2])
spark.stop()
