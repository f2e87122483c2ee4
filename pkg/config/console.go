package config

import (
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/pkg/policy"
)

// Console holds the settings of config-console.
type Console struct {
	// URL is the address by which users reach the console; empty if they reach it by the API server alone.
	URL string
	// Audiences are those of users' tokens. Without any, tokens are for the API server.
	Audiences []string
	// TeamLabel and UserLabel are the labels, or else the annotations, that name the team and the user of an application.
	TeamLabel, UserLabel string
	// Actions reports whether users may act from its pages.
	Actions bool
}

// The default labels.
const defaultTeamLabel, defaultUserLabel = "team", "user"

// maxAudiences bounds the audiences of a token review.
const maxAudiences = 8

// NewConsole reads config-console.
func NewConsole(configMap *corev1.ConfigMap) (*Console, error) {
	console := Console{TeamLabel: defaultTeamLabel, UserLabel: defaultUserLabel}
	err := Keys{
		"url": func(key, value string) error {
			console.URL = strings.TrimSuffix(strings.TrimSpace(value), "/")
			if console.URL == "" {
				return nil
			}
			address, err := url.Parse(console.URL)
			// The command line sends users' tokens there.
			if err != nil || len(strings.Fields(console.URL)) != 1 || address.Scheme != "https" || address.Host == "" || address.User != nil || address.RawQuery != "" || address.Fragment != "" {
				return InvalidValue(key, value, "write an address such as https://firesteel.example.com, without user and parameters")
			}
			return nil
		},
		"audiences": func(key, value string) error {
			console.Audiences = policy.SplitList(value)
			if len(console.Audiences) > maxAudiences {
				return InvalidValue(key, value, "write up to 8 audiences, separated by commas")
			}
			return nil
		},
		"team-label": labelKey(&console.TeamLabel),
		"user-label": labelKey(&console.UserLabel),
		"actions": func(key, value string) error {
			switch value {
			case "", "none":
			case "allowed":
				console.Actions = true
			default:
				return InvalidValue(key, value, "write one of none, allowed")
			}
			return nil
		},
	}.Read(ConsoleName, configMap)
	if err != nil {
		return nil, err
	}
	return &console, nil
}

// labelKey reads the key of a label; empty for none.
func labelKey(into *string) func(key, value string) error {
	return func(key, value string) error {
		*into = strings.TrimSpace(value)
		if *into != "" && len(validation.IsQualifiedName(*into)) > 0 {
			return InvalidValue(key, value, "write the key of a label, such as example.com/team")
		}
		return nil
	}
}
