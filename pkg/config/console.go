package config

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/policy"
)

// Console holds the settings of config-console.
type Console struct {
	// URL is the address by which users reach the console; empty if they reach it by the API server alone.
	URL string
	// Audiences are those of users' tokens. Without any, tokens are for the API server.
	Audiences []string
	// ImpersonationGroups are the groups for whose users a proxy's word is taken; empty for none.
	ImpersonationGroups []string
	// SparkUIs is the origin of the drivers' UIs; empty if the console serves none. Its host begins with *., which stands for a name of each application.
	SparkUIs string
	// HistoryServer is the address at which the console reaches Spark's History Server; empty if there is none.
	HistoryServer string
	// Actions reports whether users may act from its pages.
	Actions bool
	// TeamLabel and UserLabel are the labels, or else the annotations, that name the team and the user of an application.
	TeamLabel, UserLabel string
	// Prices are what the use of the cluster costs.
	Prices Prices
}

// Prices are what an hour of a core, of a GiB of memory and of a GPU costs. Without a currency there are none.
type Prices struct {
	CoreHour, GiBHour, GPUHour float64
	Currency                   string
}

// The default labels.
const defaultTeamLabel, defaultUserLabel = "team", "user"

// maxAudiences bounds the audiences of a token review.
const maxAudiences = 8

// maxGroups bounds the groups that a proxy is trusted for.
const maxGroups = 64

// maxPrice bounds a price, and maxCurrency the characters of its currency.
const maxPrice, maxCurrency = 1_000_000, 16

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
		"impersonation-groups": groups(&console.ImpersonationGroups),
		"spark-uis": func(key, value string) error {
			console.SparkUIs = strings.TrimSuffix(strings.TrimSpace(value), "/")
			if console.SparkUIs != "" && !isOriginOfEach(console.SparkUIs) {
				return InvalidValue(key, value, "write an address such as https://*.spark-ui.example.com, without a path: each application's UI has a host of its own")
			}
			return nil
		},
		"history-server": func(key, value string) error {
			console.HistoryServer = strings.TrimSuffix(strings.TrimSpace(value), "/")
			if console.HistoryServer != "" && !isServer(console.HistoryServer) {
				return InvalidValue(key, value, "write an address without a path, such as http://history")
			}
			return nil
		},
		"actions": func(key, value string) error {
			console.Actions = value == "allowed"
			return OneOf("none", "allowed")(key, value)
		},
		"team-label": labelKey(&console.TeamLabel),
		"user-label": labelKey(&console.UserLabel),

		"price-core-hour": price(&console.Prices.CoreHour),
		"price-gib-hour":  price(&console.Prices.GiBHour),
		"price-gpu-hour":  price(&console.Prices.GPUHour),
		"price-currency":  currency(&console.Prices.Currency),
	}.Read(ConsoleName, configMap)
	if err != nil {
		return nil, err
	}
	if console.Prices != (Prices{}) && console.Prices.Currency == "" {
		return nil, fmt.Errorf("%s: %w", ConsoleName, InvalidValue("price-currency", "", "write the currency of the prices, such as EUR"))
	}
	return &console, nil
}

// groups reads names of groups of users.
func groups(into *[]string) func(key, value string) error {
	return func(key, value string) error {
		*into = policy.SplitList(value)
		if len(*into) > maxGroups {
			return InvalidValue(key, value, fmt.Sprintf("write up to %d groups, separated by commas", maxGroups))
		}
		for _, group := range *into {
			switch {
			case access.IsSystemName(group):
				return InvalidValue(key, group, "leave it out: groups with system: are Kubernetes' own, and nobody is impersonated in them")
			case !access.IsName(group):
				return InvalidValue(key, group, fmt.Sprintf("write the name of a group, of up to %d printable characters", access.MaxName))
			}
		}
		return nil
	}
}

// amount is a decimal number that is not negative, also as charts write small ones: 1e-07.
var amount = regexp.MustCompile(`^[0-9]{1,7}(\.[0-9]{1,12})?([eE]-[0-9]{1,2})?$`)

// price reads a price; empty for none.
func price(into *float64) func(key, value string) error {
	return func(key, value string) error {
		*into = 0
		text := strings.TrimSpace(value)
		if text == "" {
			return nil
		}
		number, err := strconv.ParseFloat(text, 64)
		if err != nil || !amount.MatchString(text) || number > maxPrice {
			return InvalidValue(key, value, fmt.Sprintf("write an amount from 0 to %d, such as 0.04", maxPrice))
		}
		*into = number
		return nil
	}
}

// currency reads the word or the sign of a currency.
func currency(into *string) func(key, value string) error {
	return func(key, value string) error {
		*into = strings.TrimSpace(value)
		if utf8.RuneCountInString(*into) > maxCurrency || strings.ContainsFunc(*into, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }) {
			return InvalidValue(key, value, fmt.Sprintf("write a currency such as EUR, of up to %d characters without blanks", maxCurrency))
		}
		return nil
	}
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

// isServer reports whether an address is that of a server, without a path.
func isServer(address string) bool {
	parsed, err := url.Parse(address)
	return err == nil && (parsed.Scheme == "http" || parsed.Scheme == "https") && parsed.Host != "" && parsed.Path == "" && parsed.User == nil && parsed.RawQuery == "" &&
		parsed.Fragment == "" && !strings.Contains(parsed.Host, "*")
}

// isOriginOfEach reports whether an address is an origin of each application: by HTTPS, or of this machine.
func isOriginOfEach(address string) bool {
	one := strings.Replace(address, "://*.", "://", 1)
	parsed, err := url.Parse(one)
	if err != nil || one == address || !isServer(one) {
		return false
	}
	return parsed.Scheme == "https" || parsed.Hostname() == "localhost"
}
