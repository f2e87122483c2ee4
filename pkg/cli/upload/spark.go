package upload

import (
	"net/url"
	"strings"
)

// PathKey is the property with the folder to which spark-submit uploads files.
const PathKey = "spark.kubernetes.file.upload.path"

// FlagsOfSpark returns the flags with the same effect as spark-submit's own property, PathKey. They are empty if the property is not set, or if it
// names a file system that only Hadoop can reach.
func FlagsOfSpark(properties map[string]string) Flags {
	as, err := url.Parse(properties[PathKey])
	if err != nil || as.Host == "" {
		return Flags{}
	}
	to := url.URL{Host: as.Host, Path: as.Path}
	parameters := url.Values{}
	switch as.Scheme {
	case "s3", "s3a", "s3n":
		to.Scheme = "s3"
		const ofHadoop = "spark.hadoop.fs.s3a."
		if endpoint := properties[ofHadoop+"endpoint"]; endpoint != "" {
			if !strings.Contains(endpoint, "://") {
				endpoint = "https://" + endpoint // as Hadoop does
			}
			parameters.Set("endpoint", endpoint)
		}
		if properties[ofHadoop+"path.style.access"] == "true" {
			parameters.Set("use_path_style", "true")
		}
		if region := properties[ofHadoop+"endpoint.region"]; region != "" {
			parameters.Set("region", region)
		}
	case "gs":
		to.Scheme = "gs"
	case "abfs", "abfss", "wasb", "wasbs":
		account, _, _ := strings.Cut(as.Host, ".")
		if as.User.Username() == "" {
			return Flags{}
		}
		to.Scheme, to.Host = "azblob", as.User.Username()
		parameters.Set("storage_account", account)
	default:
		return Flags{}
	}
	to.RawQuery = parameters.Encode()
	return Flags{to: to.String(), as: properties[PathKey]}
}
